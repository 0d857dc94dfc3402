"""The page about control flow shows the task of config/tasks that the system tests run; its files are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handiwork_cli.cli import main
from support.paths import ROOT

PAGE = (ROOT / "docs/how-to/task-control-flow.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_is_the_file() -> None:
    assert BLOCKS[0] == (ROOT / "config/tasks/sort.yaml").read_text(encoding="utf-8")


def test_the_step_with_a_barrier_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = "\n".join(f"      {line}" for line in BLOCKS[1].splitlines())
    file = tmp_path / "step.yaml"
    file.write_text(f"skills:\n  - lift2:\n{step}\n", encoding="utf-8")
    assert main(["task", "check", str(file), "--robot", "lift2"]) == 0
    assert "runs 4 to 6 skills" in capsys.readouterr().out


def test_the_reference_names_every_key_and_code() -> None:
    from skill_server.task.reading.blocks import CONTROL_KEYS
    from skill_server.task.reading.read import KEYS

    page = (ROOT / "docs/reference/task-files.md").read_text(encoding="utf-8")
    for word in (*CONTROL_KEYS, *KEYS, "LOOP_BOUND", "CONDITION_FALSE", "CONDITION_UNKNOWN"):
        assert f"`{word}" in page, word
