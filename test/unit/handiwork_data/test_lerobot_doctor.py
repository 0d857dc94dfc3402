"""lerobot-doctor finds no fault in exported data sets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_data.export.lerobot import export_lerobot
from handiwork_data.export.name_maps import lerobot_features
from handiwork_data.export.source import source_of
from support.records.episodes import tiny_episode, tiny_folder, tiny_images

NUMBERS = (1, 2, 5)


@pytest.mark.processes
@pytest.mark.parametrize("version", ["lerobot-v3", "lerobot-v2.1"])
def test_the_doctor_finds_no_fault(tmp_path: Path, version: str) -> None:
    found = _examined(_exported(tmp_path, version))
    assert "[FAIL]" not in found and "Summary: " in found, found


@pytest.mark.processes
def test_the_doctor_finds_a_fault_where_there_is_one(tmp_path: Path) -> None:
    folder = _exported(tmp_path, "lerobot-v3")
    for video in folder.rglob("*.mp4"):
        video.unlink()
    assert "[FAIL]" in _examined(folder)


def _exported(path: Path, version: str) -> Path:
    folder = tiny_folder(path / "set", *(tiny_episode(number, samples=8) for number in NUMBERS))
    source = source_of(folder, NUMBERS, tiny_images(folder))
    export_lerobot(source, path / version, version, ("lerobot", lerobot_features))
    return path / version


def _examined(folder: Path) -> str:
    """Return what lerobot-doctor prints on a data set."""
    program = Path(sys.executable).parent / "lerobot-doctor"
    run = subprocess.run([program, folder], capture_output=True, text=True, check=False, timeout=300)
    return run.stdout + run.stderr
