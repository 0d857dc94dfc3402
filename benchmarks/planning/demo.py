"""The demo's scene without its files, and a hand that points down: what the measurements of the planner share."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.robot import Robot

BOXES = {
    "table": (((1.2, 1.6, 0.04), (0.35, 0.0, -0.02)),),
    "cube": (((0.05, 0.05, 0.05), (0.5, 0.0, 0.025)),),
    "bin": (
        ((0.24, 0.30, 0.01), (0.45, -0.35, 0.005)),
        ((0.01, 0.30, 0.12), (0.565, -0.35, 0.06)),
        ((0.01, 0.30, 0.12), (0.335, -0.35, 0.06)),
        ((0.24, 0.01, 0.12), (0.45, -0.205, 0.06)),
        ((0.24, 0.01, 0.12), (0.45, -0.495, 0.06)),
    ),
}


def demo_world() -> World:
    still, here = np.zeros(3), Pose.identity()
    objects = {
        name: WorldObject(
            name, tuple(Shape(ShapeKind.BOX, np.array(size), Pose.of(place)) for size, place in parts)
        )
        for name, parts in BOXES.items()
    }
    return World(0.0, 1, objects, {name: ObjectState(here, still, still, 0.0) for name in objects})


def down(robot: Robot, x: float, y: float, z: float, yaw: float) -> Pose:
    gripper = robot.arm("").gripper
    return Pose.of((x, y, z + (gripper.tcp_offset_m if gripper else 0.0)), Rotation.from_rpy(np.pi, 0.0, yaw))
