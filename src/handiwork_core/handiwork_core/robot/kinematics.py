"""Forward kinematics in plain numpy, for all uses except the inner loop of a planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.joint_kind import JointKind

from .robot import Joint, Robot


def joint_position(robot: Robot, name: str, joint_positions: Mapping[str, float]) -> float:
    """Return the position of a joint: measured, or computed through its mimic.

    A joint that is not named is at its home or posture, else at zero. Zero outside a joint's limits becomes the nearest
    limit.

    Args:
        robot: The robot.
        name: Name of the joint.
        joint_positions: Known positions by joint name, rad or m.

    Returns:
        Position, rad or m.
    """
    joint = robot.joints[name]
    if joint.mimic is not None:
        return (
            joint.mimic.multiplier * joint_position(robot, joint.mimic.joint, joint_positions)
            + joint.mimic.offset
        )
    if name in joint_positions:
        return float(joint_positions[name])
    for arm in robot.arms.values():
        if name in arm.joint_names:
            return float(arm.home_q[arm.joint_names.index(name)])
        if arm.gripper is not None and arm.gripper.joint == name:
            return arm.gripper.position(arm.gripper.home_width_m)
    if name in robot.posture:
        return float(robot.posture[name])
    return float(np.clip(0.0, joint.lower, joint.upper))


def link_poses(
    robot: Robot, joint_positions: Mapping[str, float], links: Sequence[str] = ()
) -> dict[str, Pose]:
    """Return the pose of each link in the root link's frame. For joints that are not named see ``joint_position``.

    Args:
        robot: The robot.
        joint_positions: Known positions by joint name, rad or m.
        links: Only these and the links that carry them are computed; empty: all. A hand's chain is a fourth of a robot
            with two arms.

    Returns:
        root_T_link by link name.
    """
    poses, wanted = {robot.root_link: Pose.identity()}, _carried_by(robot, links)
    for joint in robot.joints.values():
        if links and joint.child not in wanted:
            continue
        parent_T_child = joint.parent_T_joint @ joint_motion(
            joint, joint_position(robot, joint.name, joint_positions)
        )
        poses[joint.child] = poses[joint.parent] @ parent_T_child
    return poses


def _carried_by(robot: Robot, links: Sequence[str]) -> set[str]:
    """Return these links and all links between them and the root."""
    parents = {joint.child: joint.parent for joint in robot.joints.values()} if links else {}
    found = set[str]()
    for link in links:
        while link in parents and link not in found:
            found.add(link)
            link = parents[link]
    return found


def joint_motion(joint: Joint, position: float) -> Pose:
    """Return the pose of the child link at a position in the child's frame at zero.

    Args:
        joint: The joint.
        position: Its position, rad or m.
    """
    if joint.type is JointKind.REVOLUTE:
        return Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle(joint.axis, position))
    return Pose.of(joint.axis * position if joint.type is JointKind.PRISMATIC else (0.0, 0.0, 0.0))


def forward(robot: Robot, arm: str, q: ArrayLike) -> Pose:
    """Return ``base_T_ee`` of an arm.

    Args:
        robot: The robot.
        arm: Name of the arm; empty for the only one.
        q: Positions of its joints, (dof,), rad or m.

    Raises:
        KeyError: There is no such arm.
        ValueError: ``q`` has another length.
    """
    spec = robot.arm(arm)
    values = np.asarray(q, dtype=np.float64)
    if values.shape != (len(spec.joint_names),):
        raise ValueError(f"{spec.name} has {len(spec.joint_names)} joints, not {values.tolist()}")
    named = dict(zip(spec.joint_names, values.tolist(), strict=True))
    poses = link_poses(robot, named, (spec.base_link, spec.ee_link))
    root_T_base, root_T_ee = poses[spec.base_link], poses[spec.ee_link]
    return root_T_base.inverse() @ root_T_ee
