"""Commands that send goals say what is missing where no stack runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_bringup.cli import main
from handiwork_bringup.commands import connection


@pytest.mark.parametrize(
    "words", [["pick", "cube"], ["place", "cube", "bin"], ["run", "home"], ["task", "run"]]
)
def test_without_a_stack_the_mend_is_told(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connection, "READY_S", 0.5)
    (tmp_path / "task.yaml").write_text("name: nothing\n", encoding="utf-8")
    extra = [str(tmp_path / "task.yaml")] if words[0] == "task" else []
    assert main([*words, *extra]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"handiwork {words[0]}: skill_server is not active")
    assert "start the stack, or set its ROS_DOMAIN_ID" in told
