"""Tighter spheres for a hand with short fingers: coarse ones would leave no room for an object before the palm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from robot_description.solids.primitives import Solid
from robot_description.spheres.sphere_cover import fitted

from .gripper_facts import GripperFacts
from .survey import FoundArm

ROOM_M = 0.012
"""Least distance between the TCP and the palm's spheres that lets a grasp hold an object firmly, m."""
TIGHT_M = 0.003
"""Largest protrusion of the spheres of a hand with less, m."""


def room(robot: Robot, arm: FoundArm, facts: GripperFacts) -> float:
    """Return the distance from the spheres of the palm to the TCP, along the fingers, m.

    Args:
        robot: The robot, with spheres.
        arm: Its arm.
        facts: Measured facts of its gripper.
    """
    ahead = facts.tcp_m / np.linalg.norm(facts.tcp_m)
    poses = link_poses(robot, {})
    back, hand = poses[arm.ee_link].inverse(), _hand(robot, arm)
    ends = [
        float(((back @ poses[item.link]).apply(item.centers) @ ahead + item.radii).max())
        for item in robot.spheres
        if item.link in hand
    ]
    return float(facts.tcp_m @ ahead) - max(ends, default=0.0)


def with_room(
    robot: Robot,
    arms: Mapping[str, FoundArm],
    grippers: Mapping[str, GripperFacts],
    solids: Mapping[str, tuple[Solid, ...]],
    progress: Callable[[str], None],
) -> Robot:
    """Fit the spheres of hands and fingers again, more tightly, where the palm's leave too little room.

    Args:
        robot: The robot.
        arms: Arms by name.
        grippers: Measured grippers by the name of their arm.
        solids: Solids by link, in its frame.
        progress: Called with each link.

    Returns:
        The robot with these spheres.
    """
    links = set[str]()
    for name, facts in grippers.items():
        if facts.ahead is None and room(robot, arms[name], facts) < ROOM_M:
            links |= {*_hand(robot, arms[name]), *facts.finger_links}
    tight = {link: shapes for link, shapes in solids.items() if link in links}
    made = {item.link: item for item in fitted(tight, TIGHT_M, progress)} if tight else {}
    return replace(robot, spheres=tuple(made.get(item.link, item) for item in robot.spheres))


def _hand(robot: Robot, arm: FoundArm) -> set[str]:
    """Return the EE link and all that is fixed below it."""
    hand = {arm.ee_link}
    for joint in robot.joints.values():  # in tree order
        if joint.type is JointKind.FIXED and joint.parent in hand:
            hand.add(joint.child)
    return hand
