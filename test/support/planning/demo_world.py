"""One engine in the demo world, as fixtures."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import Engine
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine
from support.paths import ROBOTS

WALLS = (
    ((0.24, 0.30, 0.01), (0.0, 0.0, 0.005)),
    ((0.01, 0.30, 0.12), (0.115, 0.0, 0.06)),
    ((0.01, 0.30, 0.12), (-0.115, 0.0, 0.06)),
    ((0.24, 0.01, 0.12), (0.0, 0.145, 0.06)),
    ((0.24, 0.01, 0.12), (0.0, -0.145, 0.06)),
)


def box(size: tuple[float, float, float], place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Shape:
    return Shape(ShapeKind.BOX, np.array(size), Pose.of(place))


def world_of(*items: tuple[str, tuple[Shape, ...], Pose], version: int = 1) -> World:
    still = np.zeros(3)
    return World(
        0.0,
        version,
        {name: WorldObject(name, shapes) for name, shapes, _ in items},
        {name: ObjectState(pose, still, still, 0.0) for name, _, pose in items},
    )


def demo_items() -> list[tuple[str, tuple[Shape, ...], Pose]]:
    return [
        ("table", (box((1.2, 1.6, 0.04)),), Pose.of((0.35, 0.0, -0.02))),
        ("cube", (box((0.05, 0.05, 0.05)),), Pose.of((0.5, 0.0, 0.025))),
        ("bin", tuple(box(s, p) for s, p in WALLS), Pose.of((0.45, -0.35, 0.0))),
    ]


def hand_down(robot: Robot, x: float, y: float, z: float, yaw: float = 0.0) -> Pose:
    """Return an EE pose whose tool centre is at (x, y, z), pointing down."""
    gripper = robot.arm("").gripper
    assert gripper is not None
    return Pose.of((x, y, z + gripper.tcp_offset_m), Rotation.from_rpy(np.pi, 0.0, yaw))


@pytest.fixture(scope="session")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


@pytest.fixture(scope="session")
def bare_engine(robot: Robot) -> Engine:
    return CpuEngine(robot, Pose.identity(), lambda _share, _text: None)


@pytest.fixture
def engine(bare_engine: Engine) -> Engine:
    bare_engine.update_world(world_of(*demo_items()))
    return bare_engine
