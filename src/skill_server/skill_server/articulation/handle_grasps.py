"""Grasps of a handle by its keypoints, and the path of the hand while the part moves on its joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.articulation import Handle
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import GripperSpec

from .parts import PartState

PLACES = (0.5, 0.25, 0.75)
"""The grasped places on the bar, as parts of its length from head to tail."""
TILTS_DEG = (0.0, 15.0, -15.0, 30.0, -30.0, 45.0, -45.0, 60.0, -60.0)
SAGITTA_M = 0.002
"""A straight piece may leave the arc by this much, m."""
LONGEST_M, WIDEST_RAD = 0.1, 0.4
"""The largest pieces of a path, m and rad; the joint is checked after each."""


@dataclass(frozen=True, slots=True, eq=False)
class HandleGrasp:
    """One grasp of a handle.

    Attributes:
        part_T_ee: Pose of the EE when the fingers close over the bar.
        score: Lower is better; 0 is straight on the middle.
    """

    part_T_ee: Pose
    score: float


def grasps_of(handle: Handle, gripper: GripperSpec, max_tilt_deg: float) -> list[HandleGrasp]:
    """Make grasps with the fingers closing across the bar.

    The hand may be tilted about the bar, and turned by half a turn about its own axis.

    Args:
        handle: Keypoints of the handle, in the frame of the part.
        gripper: Parallel gripper.
        max_tilt_deg: Largest tilt, deg.

    Returns:
        The grasps, best first.
    """
    bar = (handle.tail - handle.head) / np.linalg.norm(handle.tail - handle.head)
    straight = handle.approach - bar * float(handle.approach @ bar)
    straight = straight / np.linalg.norm(straight)
    made = []
    for tilt in (angle for angle in TILTS_DEG if abs(angle) <= max_tilt_deg):
        approach = Rotation.from_axis_angle(bar, math.radians(tilt)).matrix() @ straight
        for place in PLACES:
            tcp = handle.head + place * (handle.tail - handle.head)
            score = abs(tilt) / 90.0 + 0.2 * abs(place - 0.5)
            made += [
                HandleGrasp(_hand(tcp, approach, np.asarray(sign * np.cross(bar, approach)), gripper), score)
                for sign in (1.0, -1.0)
            ]
    return sorted(made, key=lambda grasp: grasp.score)


def _hand(tcp: Array, approach: Array, closing: Array, gripper: GripperSpec) -> Pose:
    columns = np.zeros((3, 3))
    columns[:, gripper.ee_axis], columns[:, gripper.closing_axis] = approach, closing
    third = 3 - gripper.ee_axis - gripper.closing_axis
    columns[:, third] = np.cross(columns[:, (third + 1) % 3], columns[:, (third + 2) % 3])
    return Pose.of(tcp - gripper.tcp_offset_m * approach, Rotation.from_matrix(columns))


def positions_to(part: PartState, goal: float, reach_m: float) -> tuple[float, ...]:
    """Divide the motion of a joint into pieces on which the hand may move straight.

    A hand that holds the handle at the distance ``reach_m`` leaves its arc by ``SAGITTA_M`` at most.

    Args:
        part: Part with its present position.
        goal: Last position of the joint, m or rad.
        reach_m: Distance of the EE from the handle, m.

    Returns:
        Joint positions at the ends of the pieces, m or rad; the last one is ``goal``.
    """
    joint = part.joint
    if joint.kind is JointKind.PRISMATIC:
        longest = LONGEST_M
    else:
        middle = 0.5 * (part.handle.head + part.handle.tail) - joint.origin
        radius = float(np.linalg.norm(np.cross(joint.axis, middle))) + reach_m
        longest = min(WIDEST_RAD, math.sqrt(8.0 * SAGITTA_M / radius))
    count = max(1, math.ceil(abs(goal - part.position) / longest))
    return tuple(float(p) for p in np.linspace(part.position, goal, count + 1)[1:])
