"""The tutorial's change of a new skill works, its task file is right, and its commands exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_cli.cli import main
from support.paths import ROOT

PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
WRITTEN = """        return [(SkillStage("go", above),)]
"""
"""The last line of ``stages`` in the template."""

LIMIT_S = 280


def block(language: str, word: str) -> str:
    """Return the only block of a language that contains a word.

    Args:
        language: Language of the block.
        word: The word.
    """
    (text,) = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if word in text]
    return text


@pytest.mark.processes
@pytest.mark.timeout(300)  # a process of its own, on a busy machine
def test_the_changed_skill_keeps_the_contract(tmp_path: Path) -> None:
    assert main(["new-skill", "wave", "--into", str(tmp_path)]) == 0
    package = tmp_path / "skill_wave"
    file = package / "skill_wave" / "wave.py"
    text = file.read_text(encoding="utf-8")
    assert WRITTEN in text
    text = text.replace(WRITTEN, block("python", '"rise"')).replace(
        "    Context,\n", "    Context,\n    Motion,\n"
    )
    file.write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(package)}
    options = ("-q", "-p", "no:launch_testing", "-p", "no:launch_pytest")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test"],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_task_file_is_right_beside_the_new_skill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line for line in block("yaml", "wave_and_tidy").splitlines() if "{name: wave," not in line]
    file = tmp_path / "tidy.yaml"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert main(["task", "check", str(file), "--scene", "tabletop"]) == 0
    assert "good: 1 steps, 2 skills" in capsys.readouterr().out


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^handiwork ([a-z-]+)", PAGE, re.MULTILINE))))
def test_a_command_exists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"handiwork {command}" in capsys.readouterr().out
