"""The robot and the engine of this folder's tests; makes shared modules importable, which importlib mode does not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from support.paths import ROBOTS


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Iterator[CpuEngine]:
    made = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    yield made
    made.close()
