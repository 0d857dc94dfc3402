"""The example of batch rollouts runs, and its verdicts are right: what was carried in is a success, the rest is not."""

from __future__ import annotations

import runpy
from typing import Any

import numpy as np
import pytest

from support.paths import ROOT

EXAMPLE = ROOT / "examples" / "judge_rollouts.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


def test_what_a_hand_carries_into_the_bin_is_a_success_and_nothing_else(example: dict[str, Any]) -> None:
    kinds, found, events = example["judge"](8, seed=3)
    assert set(kinds) == {0, 1, 2}
    np.testing.assert_array_equal(found.success, kinds == 0)
    np.testing.assert_array_equal(found.peak_success, kinds == 0)
    np.testing.assert_array_equal(found.end_score == 1.0, kinds == 0)
    assert events["TASK_CONFIRMED"] == (kinds == 0).sum()
    assert events["TARGET_OBJECT_DROPPED"] >= (kinds == 1).sum()


def test_the_example_prints_its_table(
    example: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["judge_rollouts.py", "--worlds", "4"])
    example["main"]()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["the", "hand", "worlds", "success", "mean", "score"]
    assert "puts the cube away" in lines[1] and "100%" in lines[1]
    page = (ROOT / "docs" / "how-to" / "judge-many-worlds.md").read_text()
    assert lines[0] in page, "the page shows this table"
