"""``handiwork new-skill``: it writes a package whose test passes and whose skill is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_cli.cli import main

LIMIT_S = 100


def python(folder: Path, *words: str) -> str:
    """Run Python in a folder, with the package on its path and no entry of the test run's own.

    Args:
        folder: The folder.
        words: Arguments of Python.

    Returns:
        Its output.
    """
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_written_package_passes_its_tests_and_is_found_by_its_entry_point(tmp_path: Path) -> None:
    assert main(["new-skill", "wave_twice", "--into", str(tmp_path)]) == 0
    folder = tmp_path / "skill_wave_twice"
    tested = python(folder, "-m", "pytest", "-q", "-p", "no:launch_testing", "-p", "no:launch_pytest", "test")
    assert " passed" in tested
    python(folder, "setup.py", "-q", "egg_info")
    task = folder / "task.yaml"
    task.write_text("skills: [{fr3: [{left: [{name: wave_twice, object: cube, height: 0.2}]}]}]\n")
    checked = python(
        folder, "-c", f"from handiwork_cli.cli import main; main(['task', 'check', {str(task)!r}])"
    )
    assert "good: 1 steps, 1 skills" in checked


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["Wave"], "lower case"),
        (["wave__twice"], "single underscores"),
        (["3d"], "a letter first"),
        (["wave", "--package", "wave"], "choose another"),
        (["wave", "--package", "../x"], "--package"),
    ],
)
def test_bad_names_are_refused(
    words: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-skill", *words, "--into", str(tmp_path)]) == 2
    assert expected in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "skill_wave").mkdir()
    assert main(["new-skill", "wave", "--into", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
