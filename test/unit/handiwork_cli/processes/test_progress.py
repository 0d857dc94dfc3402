"""Long work shows a bar in a terminal, plain lines elsewhere, and nothing while it is short."""

from __future__ import annotations

import io

import pytest

from handiwork_cli.processes import progress as module
from handiwork_cli.processes.progress import Steps, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_short_work_shows_nothing() -> None:
    for stream in (io.StringIO(), Terminal()):
        assert list(progress(range(5), "soak", stream=stream)) == [0, 1, 2, 3, 4]
        assert stream.getvalue() == ""


def test_a_file_gets_plain_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, now_s = io.StringIO(), [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now_s[0])
    for _ in progress(range(40), "soak", unit="episodes", stream=stream):
        now_s[0] += 1.0
    lines = stream.getvalue().splitlines()
    assert lines == [
        "soak: 2 of 40 episodes, 2 s",
        "soak: 17 of 40 episodes, 17 s",
        "soak: 32 of 40 episodes, 32 s",
    ]


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(module, "DELAY_S", 0.0)
    assert len(list(progress(range(3), "soak", stream=stream))) == 3
    assert "soak" in stream.getvalue()
    assert "0/3" in stream.getvalue()


def test_steps_are_named_in_both() -> None:
    for stream in (io.StringIO(), Terminal()):
        with Steps("new-robot", stream=stream) as steps:
            steps.begin("reading shapes")
            steps.begin("judging pairs")
        assert "judging pairs" in stream.getvalue()
