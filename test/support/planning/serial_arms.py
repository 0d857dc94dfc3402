"""Random serial arms for tests of inverse kinematics, and their kinematics in plain numpy."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, Joint, Robot, Spheres

QUARTER = 0.5 * np.pi


def serial_arm(rng: np.random.Generator, joints: int, slides: int = 0) -> Robot:
    """Make an arm with the given number of joints, the first ``slides`` of them prismatic.

    Its links are l0 to ln, then ``ee``. Its only collision sphere is the base's, so that no bodies can touch.
    """
    made = {}
    for i in range(joints):
        slide = i < slides
        place = rng.uniform(-0.1, 0.35, 3) * rng.integers(0, 2, 3)
        turn = Rotation.from_rpy(rng.choice([-QUARTER, 0.0, QUARTER]), 0.0, rng.uniform(-1.0, 1.0))
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        made[f"j{i}"] = Joint(
            f"j{i}",
            JointKind.PRISMATIC if slide else JointKind.REVOLUTE,
            f"l{i}",
            f"l{i + 1}",
            Pose.of(place, turn),
            axis,
            -0.3 if slide else -rng.uniform(1.5, 3.0),
            0.5 if slide else rng.uniform(1.5, 3.0),
            1.0,
            10.0,
            100.0,
        )
    tool = Pose.of((0.02, 0.0, 0.1), Rotation.from_rpy(0.1, -0.2, 0.3))
    made["tool"] = Joint("tool", JointKind.FIXED, f"l{joints}", "ee", tool, np.array([0.0, 0.0, 1.0]))
    links = (*(f"l{i}" for i in range(joints + 1)), "ee")
    names = tuple(f"j{i}" for i in range(joints))
    base = Spheres("l0", np.zeros((1, 3)), np.array([0.05]))
    arm = ArmSpec("arm", "l0", "ee", "ee", names, np.zeros(joints), None)
    return Robot("serial", "l0", links, made, (base,), frozenset(), {"arm": arm}, "")


def limits(robot: Robot) -> tuple[Array, Array]:
    joints = [robot.joints[name] for name in robot.arm("").joint_names]
    return np.array([j.lower for j in joints]), np.array([j.upper for j in joints])


def tool_matrix(robot: Robot, q: Array) -> Array:
    """Return the tool's pose (4, 4): products of matrices, axis by axis."""
    m = np.eye(4)
    for joint, x in zip(robot.joints.values(), [*q, 0.0], strict=True):
        m = m @ joint.parent_T_joint.matrix()
        step = np.eye(4)
        if joint.type is JointKind.PRISMATIC:
            step[:3, 3] = x * joint.axis
        elif joint.type is JointKind.REVOLUTE:
            k = np.cross(np.eye(3), joint.axis)
            step[:3, :3] += np.sin(x) * k + (1.0 - np.cos(x)) * (k @ k)
        m = m @ step
    return m


def pose_of(m: Array) -> Pose:
    return Pose.of(m[:3, 3], Rotation.from_matrix(m[:3, :3]))


def gap(robot: Robot, q: Array, goal: Array) -> tuple[float, float]:
    """Return distance [m] and angle [rad] between the tool at ``q`` and ``goal`` (4, 4)."""
    m = tool_matrix(robot, q)
    turn = m[:3, :3].T @ goal[:3, :3]
    sine = 0.5 * np.linalg.norm([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return float(np.linalg.norm(m[:3, 3] - goal[:3, 3])), float(np.arctan2(sine, 0.5 * (np.trace(turn) - 1)))
