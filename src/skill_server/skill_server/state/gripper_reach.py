"""The lengths of a hand, by the collision spheres of the robot's description."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot

SPHERES_OUT_M = 0.003
"""The distance by which the spheres of a linkage may stick out of it towards the object."""
LINKAGE_ROWS = 12
"""Openings at which the linkage of a gripper is measured."""
ARMS = 16
"""The number of arms whose reach is kept, as every search of a grasp asks for it."""


@dataclass(frozen=True, slots=True, eq=False)
class GripperReach:
    """How far the hand reaches, by its collision spheres.

    Attributes:
        palm_m: End of the hand's body along the approach axis, from the EE origin, m.
        tip_m: End of the fingers, m.
        palm: Spheres of the hand's body, without fingers: centres in the EE frame and radii, (n, 4), m.
        linkage: End of the moving parts beside the fingers, such as knuckles, along the approach axis, as far as they
            are between the pads: openings in ascending order and the end at each, (n, 2), m.
    """

    palm_m: float
    tip_m: float
    palm: Array = field(default_factory=lambda: np.zeros((0, 4)))
    linkage: Array = field(default_factory=lambda: np.zeros((0, 2)))

    def body_end_m(self, width_m: float) -> float:
        """Return the end of what is between the pads, palm or linkage, from the EE origin along the approach axis, m.

        Args:
            width_m: Opening of the fingers, m.
        """
        if not len(self.linkage):
            return self.palm_m
        above = int(np.searchsorted(self.linkage[:, 0], width_m))
        near = self.linkage[max(above - 1, 0) : above + 1, 1]
        return max(self.palm_m, float(near.max()))


@lru_cache(maxsize=ARMS)
def reach(robot: Robot, arm: ArmSpec, gripper: GripperSpec) -> GripperReach:
    """Return how far the hand reaches, by the collision spheres of the EE link and of the finger links.

    Fingers of a linkage reach further at some openings than at others; the furthest counts.

    Args:
        robot: Robot with the spheres.
        arm: Arm with the gripper.
        gripper: Gripper of the arm.

    Returns:
        The lengths of palm and fingers, and the palm's spheres.
    """
    tip, hand = gripper.tcp_offset_m, hand_links(robot, arm, gripper.finger_links)
    palm: dict[str, Array] = {}
    widths = (gripper.min_width_m, 0.5 * gripper.max_width_m, gripper.max_width_m)
    for width in widths if gripper.joint else widths[-1:]:
        poses = link_poses(robot, {gripper.joint: gripper.position(width)})
        ee_T_root = poses[arm.ee_link].inverse()
        for spheres in robot.spheres:
            if spheres.link not in hand and spheres.link not in gripper.finger_links:
                continue
            centers = (ee_T_root @ poses[spheres.link]).apply(spheres.centers)
            if spheres.link in hand:
                palm[spheres.link] = np.column_stack([centers, spheres.radii])
            else:
                tip = float(np.max(centers[:, gripper.ee_axis] + spheres.radii, initial=tip))
    body = np.concatenate([np.zeros((0, 4)), *palm.values()])
    end = float(np.max(body[:, gripper.ee_axis] + body[:, 3], initial=0.0))
    return GripperReach(end, tip, frozen(body), frozen(_linkage(robot, arm, gripper, hand)))


def _linkage(robot: Robot, arm: ArmSpec, gripper: GripperSpec, hand: Collection[str]) -> Array:
    """Return ``GripperReach.linkage``."""
    links = _linkage_links(robot, gripper, hand)
    if not links:
        return np.zeros((0, 2))
    rows = []
    for width in np.linspace(gripper.min_width_m, gripper.max_width_m, LINKAGE_ROWS).tolist():
        poses, end = link_poses(robot, {gripper.joint: gripper.position(width)}), 0.0
        ee_T_root = poses[arm.ee_link].inverse()
        for spheres in robot.spheres:
            if spheres.link in links:
                centers = (ee_T_root @ poses[spheres.link]).apply(spheres.centers)
                sides = np.abs(centers[:, gripper.closing_axis]) - spheres.radii + SPHERES_OUT_M
                ends = (centers[:, gripper.ee_axis] + spheres.radii)[sides < 0.5 * width]
                end = float(np.max(ends, initial=end))
        rows.append((width, end))
    return np.array(rows)


def _linkage_links(robot: Robot, gripper: GripperSpec, hand: Collection[str]) -> set[str]:
    """Return the links that the gripper's joint moves, without fingers and what is fixed to them."""
    driven = {gripper.joint} | {
        joint.name
        for joint in robot.joints.values()
        if joint.mimic is not None and joint.mimic.joint == gripper.joint
    }
    moved, fingers = set[str](), {*gripper.finger_links}
    for joint in robot.joints.values():  # in tree order
        if joint.type is JointKind.FIXED and joint.parent in fingers:
            fingers.add(joint.child)
        elif joint.name in driven or joint.parent in moved:
            moved.add(joint.child)
    return moved - fingers - {*hand}


def hand_links(robot: Robot, arm: ArmSpec, without: Collection[str] = ()) -> tuple[str, ...]:
    """Return the EE link and all links that are fixed to it, directly or not.

    Args:
        robot: Robot with the joints.
        arm: Arm with the hand.
        without: Links that do not belong to the hand, such as fingers; links that are fixed to them do not either.

    Returns:
        Names of the links.
    """
    hand = [arm.ee_link]
    for joint in robot.joints.values():  # in tree order
        if joint.type is JointKind.FIXED and joint.parent in hand and joint.child not in without:
            hand.append(joint.child)
    return tuple(hand)
