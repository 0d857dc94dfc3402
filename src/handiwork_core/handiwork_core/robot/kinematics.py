"""Forward kinematics, for all uses except the inner loop of a planner."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
        links: Only these and the root link are returned; empty: all. A hand's chain is a fourth of a robot with two
            arms.

    Returns:
        root_T_link by link name.
    """
    frames = [_AT_ROOT]
    for step in _steps(robot, tuple(links)):
        frame = _then(frames[step.parent], step.fixed)
        joint = step.joint
        if joint.type is not JointKind.FIXED:
            position = joint_position(robot, joint.name, joint_positions)
            if joint.type is JointKind.REVOLUTE:
                turn = math.sin(0.5 * position)
                x, y, z = step.axis
                frame = _then(frame, (math.cos(0.5 * position), turn * x, turn * y, turn * z, 0.0, 0.0, 0.0))
            else:
                x, y, z = (position * part for part in step.axis)
                frame = _then(frame, (1.0, 0.0, 0.0, 0.0, x, y, z))
        frames.append(frame)
    made = {robot.root_link: Pose.identity()}
    for step, frame in zip(_steps(robot, tuple(links)), frames[1:], strict=True):
        if step.is_wanted:
            made[step.joint.child] = Pose.of(frame[4:], Rotation.from_wxyz(frame[:4]))
    return made


Frame = tuple[float, float, float, float, float, float, float]
"""A pose in plain numbers: quaternion w, x, y, z, and translation, m. Arrays of so few take ten times as long."""

_AT_ROOT: Frame = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class _Step(NamedTuple):
    """One joint on the way to the wanted links.

    Attributes:
        joint: The joint.
        parent: Place of its parent link's frame: 0 for the root, else one more than the place of its step.
        fixed: parent_T_joint.
        axis: Direction of a turn as a unit vector, or of a slide, in the child's frame.
        is_wanted: True when the pose of the child is returned.
    """

    joint: Joint
    parent: int
    fixed: Frame
    axis: tuple[float, float, float]
    is_wanted: bool


@functools.lru_cache(maxsize=256)
def _steps(robot: Robot, links: tuple[str, ...]) -> tuple[_Step, ...]:
    """Return the joints that carry these links, parents first; all joints when none is named."""
    wanted, place, steps = _carried_by(robot, links), {robot.root_link: 0}, list[_Step]()
    for joint in robot.joints.values():
        if links and joint.child not in wanted:
            continue
        fixed = joint.parent_T_joint
        q, p = fixed.rotation.wxyz.tolist(), fixed.translation_m.tolist()
        axis = np.asarray(joint.axis, dtype=np.float64)
        if joint.type is JointKind.REVOLUTE:
            axis = axis / np.linalg.norm(axis)
        x, y, z = axis.tolist()
        is_wanted = not links or joint.child in links
        steps.append(
            _Step(
                joint, place[joint.parent], (q[0], q[1], q[2], q[3], p[0], p[1], p[2]), (x, y, z), is_wanted
            )
        )
        place[joint.child] = len(steps)
    return tuple(steps)


def _then(a: Frame, b: Frame) -> Frame:
    """Return the frame of ``b`` in that of ``a``'s parent."""
    aw, ax, ay, az, apx, apy, apz = a
    bw, bx, by, bz, px, py, pz = b
    tx, ty, tz = 2.0 * (ay * pz - az * py), 2.0 * (az * px - ax * pz), 2.0 * (ax * py - ay * px)
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        apx + px + aw * tx + ay * tz - az * ty,
        apy + py + aw * ty + az * tx - ax * tz,
        apz + pz + aw * tz + ax * ty - ay * tx,
    )


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
