"""The robot and the engine of this folder's tests; makes shared modules importable, which importlib mode does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(Path(__file__).parents[2] / "src/robot_description/robots/fr3")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Iterator[CpuEngine]:
    made = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    yield made
    made.close()
