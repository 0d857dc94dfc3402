"""A robot whose inverse kinematics is closed-form: three rails, three wrist joints, a parallel gripper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Joint, Mimic, Robot, Spheres

RAILS = ("rail_x", "rail_y", "rail_z")
WRIST = ("wrist_yaw", "wrist_pitch", "wrist_roll")
JOINTS = RAILS + WRIST
LINKS = ("base", "x", "y", "z", "yaw", "pitch", "hand")
TCP_M = 0.1
AXES: Mapping[str, tuple[float, float, float]] = {
    "rail_x": (1.0, 0.0, 0.0),
    "rail_y": (0.0, 1.0, 0.0),
    "rail_z": (0.0, 0.0, 1.0),
    "wrist_yaw": (0.0, 0.0, 1.0),
    "wrist_pitch": (0.0, 1.0, 0.0),
    "wrist_roll": (1.0, 0.0, 0.0),
}


@cache
def gantry() -> Robot:
    """Return the robot ``gantry`` with arm ``arm``, hand link ``hand``, and fingers that open 0 to 80 mm."""
    joints = {}
    for i, name in enumerate(JOINTS):
        kind = JointKind.PRISMATIC if name in RAILS else JointKind.REVOLUTE
        bound = 2.0 if name in RAILS else 2.0 * np.pi
        joints[name] = _joint(name, kind, LINKS[i], LINKS[i + 1], AXES[name], bound)
    joints["left_finger_joint"] = _finger("left_finger_joint", "left_finger", 1.0, None)
    joints["right_finger_joint"] = _finger(
        "right_finger_joint", "right_finger", -1.0, Mimic("left_finger_joint", 1.0, 0.0)
    )
    joints["tcp_joint"] = Joint(
        "tcp_joint", JointKind.FIXED, "hand", "tcp", Pose.of((0.0, 0.0, TCP_M)), frozen((0, 0, 1))
    )
    gripper = GripperSpec(
        "gripper",
        "left_finger_joint",
        ("left_finger", "right_finger"),
        0.0,
        0.08,
        2.0,
        30.0,
        0.08,
        2,
        1,
        TCP_M,
        np.eye(3),
    )
    arm = ArmSpec("arm", "base", "hand", "tcp", JOINTS, frozen((0.3, 0.0, 0.6, 0.0, 0.0, np.pi)), gripper)
    spheres = (
        Spheres("hand", frozen([(0.0, 0.0, 0.03)]), frozen([0.03])),
        Spheres("left_finger", frozen([(0.0, 0.005, 0.04)]), frozen([0.008])),
        Spheres("right_finger", frozen([(0.0, -0.005, 0.04)]), frozen([0.008])),
    )
    links = (*LINKS, "tcp", "left_finger", "right_finger")
    return Robot("gantry", "base", links, joints, spheres, frozenset(), {"arm": arm}, "")


def gantry_q(base_T_ee: Pose) -> Array:
    """Return the joint positions that put the hand at a pose.

    Args:
        base_T_ee: Pose of the hand.

    Returns:
        Rails, m, and wrist, rad, (6,); roll is within 0 to 2 pi.
    """
    m = base_T_ee.rotation.matrix()
    pitch = float(np.arcsin(np.clip(-m[2, 0], -1.0, 1.0)))
    yaw, roll = float(np.arctan2(m[1, 0], m[0, 0])), float(np.arctan2(m[2, 1], m[2, 2]))
    return np.array([*base_T_ee.translation_m, yaw, pitch, roll % (2.0 * np.pi)])


def gantry_pose(q: Array) -> Pose:
    """Return base_T_ee of a configuration: the inverse of ``gantry_q``.

    Args:
        q: Rails, m, and wrist, rad, (6,).
    """
    return Pose.of(q[:3], Rotation.from_rpy(float(q[5]), float(q[4]), float(q[3])))


def _joint(
    name: str, kind: JointKind, parent: str, child: str, axis: tuple[float, float, float], bound: float
) -> Joint:
    return Joint(
        name, kind, parent, child, Pose.identity(), frozen(axis), -bound, bound, 1.0, 5.0, 100.0, 100.0
    )


def _finger(name: str, link: str, side: float, mimic: Mimic | None) -> Joint:
    start = Pose.of((0.0, 0.0, 0.06))
    axis = frozen((0.0, side, 0.0))
    return Joint(
        name, JointKind.PRISMATIC, "hand", link, start, axis, 0.0, 0.04, 0.2, 5.0, 100.0, 30.0, mimic
    )
