"""Poses that a hand reaches at random configurations of its arm: where it may be worth asking the planner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import joint_motion
from handiwork_core.robot.robot import ArmSpec, Joint, Robot


@dataclass(frozen=True, slots=True, eq=False)
class ArmSamples:
    """Random configurations of an arm.

    Attributes:
        q: Configurations, (n, dof), rad or m.
        world_T_ee: Poses of the hand in the world, (n, 4, 4).
        tcp: Positions of the TCP in the world, (n, 3), m.
    """

    q: Array
    world_T_ee: Array
    tcp: Array


def arm_samples(
    robot: Robot, arm: ArmSpec, world_T_base: Pose, count: int, rng: np.random.Generator
) -> ArmSamples:
    """Draw configurations of an arm evenly within the limits of its joints.

    Args:
        robot: The robot.
        arm: An arm with a gripper.
        world_T_base: Pose of the arm's base.
        count: Number of configurations.
        rng: Source of the random choices.
    """
    assert arm.gripper is not None
    joints = [robot.joints[name] for name in arm.joint_names]
    low, high = np.array([one.lower for one in joints]), np.array([one.upper for one in joints])
    q = rng.uniform(low, high, (count, len(joints)))
    poses = _hand_poses(robot, arm, world_T_base, q)
    approach = poses[:, :3, arm.gripper.ee_axis]
    return ArmSamples(q, poses, poses[:, :3, 3] + arm.gripper.tcp_offset_m * approach)


def _hand_poses(robot: Robot, arm: ArmSpec, world_T_base: Pose, q: Array) -> Array:
    """Return world_T_ee (n, 4, 4) of configurations (n, dof)."""
    poses = np.tile(world_T_base.matrix(), (len(q), 1, 1))
    column = {name: i for i, name in enumerate(arm.joint_names)}
    for joint in _chain(robot, arm):
        poses = poses @ joint.parent_T_joint.matrix()
        if joint.name in column:
            poses = poses @ _motions(joint, q[:, column[joint.name]])
        elif joint.type is not JointKind.FIXED:
            poses = poses @ joint_motion(joint, robot.posture.get(joint.name, 0.0)).matrix()
    return poses


def _chain(robot: Robot, arm: ArmSpec) -> list[Joint]:
    """Return the joints from the arm's base to its hand, in order."""
    above = {joint.child: joint for joint in robot.joints.values()}
    found, link = list[Joint](), arm.ee_link
    while link != arm.base_link:
        found.append(above[link])
        link = found[-1].parent
    return found[::-1]


def _motions(joint: Joint, positions: Array) -> Array:
    """Return the motions (n, 4, 4) of a joint at positions (n,), rad or m."""
    made = np.tile(np.eye(4), (len(positions), 1, 1))
    if joint.type is JointKind.PRISMATIC:
        made[:, :3, 3] = positions[:, None] * joint.axis
        return made
    x, y, z = joint.axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sin, cos = np.sin(positions)[:, None, None], np.cos(positions)[:, None, None]
    made[:, :3, :3] = np.eye(3) + sin * cross + (1.0 - cos) * (cross @ cross)
    return made
