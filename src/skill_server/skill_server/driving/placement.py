"""Where a base can stand so that an arm reaches a place: around it, the place before the arm as at its home."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot

from .path_search import length_of

HEADINGS = 24
REACHES = (0.5, 0.6, 0.7, 0.4, 0.8)
"""Horizontal distances between the place and the arm's first joint, as shares of the length of the stretched arm."""
PREFERRED = REACHES[0]
METRES_PER_SHARE = 1.0
"""A distance that differs from the preferred one by the whole length of the arm counts as so many metres of driving."""


def placements(
    robot: Robot, arm: ArmSpec, world_T_root: Pose, place: Array, here: Array
) -> tuple[Array, ...]:
    """Return positions of the base from which an arm may reach a place, the nearest first.

    At each of them the place lies in the direction in which the hand is at the arm's home.

    Args:
        robot: Robot with a base.
        arm: The arm.
        world_T_root: Pose of the robot's root link.
        place: The place in the world, (3,), m.
        here: Position of the base, x, y [m] and yaw [rad], (3,).

    Returns:
        Positions of the base, (3,) each, within the limits of its joints.
    """
    assert robot.base is not None
    home = dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True))
    at_zero = dict.fromkeys(robot.base.joint_names, 0.0)
    poses = link_poses(robot, {**home, **at_zero})
    base_T_root = poses[robot.base.link].inverse()
    first = robot.joints[arm.joint_names[0]].child
    shoulder, tool = ((base_T_root @ poses[link]).translation_m[:2] for link in (first, arm.tcp_link))
    ahead = (tool - shoulder) / np.linalg.norm(tool - shoulder)
    target = world_T_root.inverse().apply(place)[:2]
    length_m = _stretched_m(robot, arm)
    joints = [robot.joints[name] for name in robot.base.joint_names]
    low, high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
    found = list[tuple[float, Array]]()
    for yaw in here[2] + np.linspace(-np.pi, np.pi, HEADINGS, endpoint=False):
        turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        for share in REACHES:
            q = np.array([*(target - turn @ (shoulder + share * length_m * ahead)), yaw])
            if ((low <= q) & (q <= high)).all():
                cost = length_of(q - here) + METRES_PER_SHARE * abs(share - PREFERRED)
                found.append((cost, q))
    return tuple(q for _, q in sorted(found, key=lambda one: one[0]))


def _stretched_m(robot: Robot, arm: ArmSpec) -> float:
    """Return the sum of the distances from each joint of the arm to the next, and to the TCP."""
    poses = link_poses(robot, dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True)))
    links = [robot.joints[name].child for name in arm.joint_names] + [arm.tcp_link]
    points = np.array([poses[link].translation_m for link in links])
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
