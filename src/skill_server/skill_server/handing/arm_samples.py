"""Poses that a hand reaches at random configurations of its arm: where it may be worth asking the planner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.batch_kinematics import BatchChain
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import ArmSpec, Robot


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
    """Return world_T_ee (n, 4, 4) of configurations (n, dof); other joints of the chain are at rest."""
    chain = BatchChain(robot, arm.ee_link, arm.base_link)
    positions: dict[str, Array] = {
        name: np.full(len(q), joint_position(robot, name, {})) for name in chain.drivers
    }
    positions.update((name, q[:, i]) for i, name in enumerate(arm.joint_names))
    return chain.poses(positions, world_T_base.matrix())
