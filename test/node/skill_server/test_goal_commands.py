"""Commands that send goals report what is missing if no stack runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_cli.cli import main
from handiwork_cli.commands.goals import safety
from handiwork_cli.ros import connection


@pytest.mark.parametrize(
    "words", [["pick", "cube"], ["place", "cube", "bin"], ["run", "home"], ["task", "run"]]
)
def test_without_a_stack_the_remedy_is_printed(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connection, "READY_S", 0.5)
    (tmp_path / "task.yaml").write_text("name: nothing\n", encoding="utf-8")
    extra = [str(tmp_path / "task.yaml")] if words[0] == "task" else []
    assert main([*words, *extra]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith(f"handiwork {words[0]}: skill_server is not active")
    assert "start the stack, or set its ROS_DOMAIN_ID" in errors


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["stop"], "the robot may still move: use the hardware's emergency stop"),
        (["safety", "reset"], "safety/reset does not answer"),
        (["safety"], "no safety/state"),
    ],
)
def test_without_a_safety_layer_a_stop_is_not_reported_as_done(
    words: list[str], text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(safety, "ANSWER_S", 0.5)
    assert main(words) == safety.NO_ANSWER
    out, err = capsys.readouterr()
    assert out == ""
    assert text in err
