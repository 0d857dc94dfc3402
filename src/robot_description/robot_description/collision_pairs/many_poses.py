"""Forward kinematics of many configurations at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Joint, Robot

Frames = dict[str, tuple[Array, Array]]
"""Rotation (n, 3, 3) and position (n, 3) [m] of each link in the root link's frame."""


def free_joints(robot: Robot) -> list[Joint]:
    """Return the joints that move by themselves, in tree order.

    Args:
        robot: The robot.
    """
    return [j for j in robot.joints.values() if j.type is not JointKind.FIXED and j.mimic is None]


def many_link_poses(
    robot: Robot, positions: Mapping[str, Array], links: Collection[str] | None = None
) -> Frames:
    """Return the poses of links at n configurations.

    Args:
        robot: The robot.
        positions: Positions of every free joint by name, (n,), rad or m; mimic joints follow.
        links: The links, computed with all links between them and the root; None: all links.

    Returns:
        Rotations and positions in the root link's frame by link name.
    """
    count = len(next(iter(positions.values()))) if positions else 1
    frames: Frames = {robot.root_link: (np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3)))}
    wanted = None if links is None else _up_to_root(robot, links)
    for joint in robot.joints.values():
        if wanted is not None and joint.child not in wanted:
            continue
        turn, place = frames[joint.parent]
        fixed = joint.parent_T_joint.rotation.matrix()
        child_place = place + turn @ joint.parent_T_joint.translation_m
        child_turn = turn @ fixed
        if joint.type is JointKind.REVOLUTE:
            child_turn = child_turn @ _turned(joint.axis, _position(robot, joint, positions))
        elif joint.type is JointKind.PRISMATIC:
            child_place = child_place + _position(robot, joint, positions)[:, None] * (
                child_turn @ joint.axis
            )
        frames[joint.child] = child_turn, child_place
    return frames


def _up_to_root(robot: Robot, links: Collection[str]) -> set[str]:
    parents = {joint.child: joint.parent for joint in robot.joints.values()}
    wanted: set[str] = set()
    for link in links:
        while link not in wanted:
            wanted.add(link)
            link = parents.get(link, link)
    return wanted


def _position(robot: Robot, joint: Joint, positions: Mapping[str, Array]) -> Array:
    if joint.mimic is None:
        return positions[joint.name]
    source = _position(robot, robot.joints[joint.mimic.joint], positions)
    return joint.mimic.multiplier * source + joint.mimic.offset


def _turned(axis: Array, angles: Array) -> Array:
    """Return rotation matrices (n, 3, 3) about a unit ``axis`` by ``angles`` (n,), rad."""
    k = np.cross(axis, np.eye(3)).T
    sin, cos = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    out: Array = np.eye(3) + sin * k + (1.0 - cos) * (k @ k)
    return out
