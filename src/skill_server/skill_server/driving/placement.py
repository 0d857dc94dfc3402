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
METRES_PER_SHARE = 2.5
"""A distance that differs from the preferred one by the whole length of the arm counts as so many metres of driving."""
UPRIGHT_M = 0.03
"""A hand that is nearer than this above the first joint at home shows no direction; that ahead of the base is taken."""


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
    points = _along_the_arm(robot, arm)
    ahead = points[-1, :2] - points[0, :2]
    if np.linalg.norm(ahead) < UPRIGHT_M:
        ahead = np.array([1.0, 0.0])
    ahead = ahead / np.linalg.norm(ahead)
    target = world_T_root.inverse().apply(place)[:2]
    length_m = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    joints = [robot.joints[name] for name in robot.base.joint_names]
    low, high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
    found = list[tuple[float, Array]]()
    for yaw in here[2] + np.linspace(-np.pi, np.pi, HEADINGS, endpoint=False):
        turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        for share in REACHES:
            q = np.array([*(target - turn @ (points[0, :2] + share * length_m * ahead)), yaw])
            if ((low <= q) & (q <= high)).all():
                cost = length_of(q - here) + METRES_PER_SHARE * abs(share - PREFERRED)
                found.append((cost, q))
    return tuple(q for _, q in sorted(found, key=lambda one: one[0]))


def _along_the_arm(robot: Robot, arm: ArmSpec) -> Array:
    """Return the arm's first joint, its links and its TCP at home, in the frame of the base, (n, 3), m."""
    assert robot.base is not None
    home = dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True))
    poses = link_poses(robot, {**home, **dict.fromkeys(robot.base.joint_names, 0.0)})
    first = robot.joints[arm.joint_names[0]]
    links = [robot.joints[name].child for name in arm.joint_names] + [arm.tcp_link]
    along = [poses[first.parent] @ first.parent_T_joint, *(poses[link] for link in links)]
    return poses[robot.base.link].inverse().apply(np.array([pose.translation_m for pose in along]))
