"""The suites of tasks that ship: every file can be read, and what it names is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import draw, read_task_file
from support.paths import ROBOTS, ROOT

FILES = sorted((ROOT / "config/suites").glob("*/*.yaml"))


def test_there_are_six_suites() -> None:
    assert len({path.parent for path in FILES}) == 6


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_task_names_a_robot_and_a_scene_that_finds_places(path: Path) -> None:
    settings = read_task_file(path).settings
    assert (ROBOTS / settings.robot / "robot.yaml").exists()
    scene = load_scene(ROOT / f"config/scenes/{settings.scene}.yaml")
    assert draw(settings, scene, 7).scene.objects
    assert len(settings.instructions) >= 2
