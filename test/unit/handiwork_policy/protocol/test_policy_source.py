"""Policies from files and modules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_policy.protocol.errors import PolicyError
from handiwork_policy.protocol.source import load_policy

FILE = """
import numpy as np

class Whole:
    def metadata(self): return {"action_dim": 2}
    def infer(self, observation): return {"actions": np.ones((3, 2))}
    def reset(self): pass

def function(): return lambda observation: observation["a"] * 2
def nothing(): return 4
def broken(): raise RuntimeError("no weights")
"""


@pytest.fixture
def place(tmp_path: Path) -> str:
    path = tmp_path / "some_policy.py"
    path.write_text(FILE)
    return str(path)


def test_a_class_and_a_function_are_policies(place: str) -> None:
    assert load_policy(f"{place}:Whole").metadata() == {"action_dim": 2}
    made = load_policy(f"{place}:function")
    assert made.infer({"a": np.array([3])})["actions"].tolist() == [6]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{0}", "write FILE.py:factory"),
        ("{0}:other", "has no function 'other'"),
        ("{0}:nothing", "returned a int; return a function"),
        ("{0}:broken", "failed (RuntimeError: no weights)"),
        ("{0}x.py:made", "is no file"),
        ("no_such_module_xy:made", "cannot be imported"),
    ],
)
def test_what_is_no_policy_is_refused(place: str, source: str, words: str) -> None:
    with pytest.raises(PolicyError) as refused:
        load_policy(source.format(place))
    assert words in str(refused.value)
