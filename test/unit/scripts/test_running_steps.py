"""Steps of the set-up: a line at begin and end in a file, one line that counts in a terminal."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    spec = importlib.util.spec_from_file_location("steps", SCRIPTS / "steps.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "steps", module)
    spec.loader.exec_module(module)
    return module


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_gets_a_line_at_begin_and_end(steps: ModuleType) -> None:
    stream = io.StringIO()
    running = steps.RunningSteps(stream)
    with running.shown("Making .venv"), running.shown("Building"):
        pass
    assert stream.getvalue().splitlines() == [
        "Making .venv ...",
        "Building ...",
        "Building: 0 s",
        "Making .venv: 0 s",
    ]


def test_a_terminal_gets_one_line_with_all_that_runs(steps: ModuleType) -> None:
    stream = Terminal()
    running = steps.RunningSteps(stream)
    with running.shown("Making .venv"):
        pass
    with pytest.raises(ValueError, match="no"), running.shown("Building"):
        raise ValueError("no")
    lines = stream.getvalue().split("\r")
    assert any("Making .venv: 0 s\n" in line for line in lines)
    assert not any("Building: " in line for line in lines)
