"""Grasps of a handle by its keypoints, and the way of the hand while the part moves on its joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.articulation import Handle, JointKind
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot.robot import GripperSpec

from .parts import Part

PLACES = (0.5, 0.25, 0.75)
"""Where on the bar, from head to tail."""
TILTS_DEG = (0.0, 15.0, -15.0, 30.0, -30.0, 45.0, -45.0, 60.0, -60.0)
SAGITTA_M = 0.002
"""A straight piece may leave the arc by this much."""
LONGEST_M, WIDEST_RAD = 0.1, 0.4
"""Pieces of a way; after each the joint is looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class HandleGrasp:
    """``part_T_ee`` when the fingers close over the bar; a lower ``score`` is better, 0 is straight on the middle."""

    part_T_ee: Pose
    score: float


def grasps_of(handle: Handle, gripper: GripperSpec, max_tilt_deg: float) -> list[HandleGrasp]:
    """The fingers close across the bar; the hand may be tilted about it, and turned half about its own axis."""
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


def positions_to(part: Part, goal: float, reach_m: float) -> tuple[float, ...]:
    """Joint positions at the ends of the pieces, the last one is ``goal``.

    A hand that holds the handle, ``reach_m`` before it, goes straight between them and leaves its arc by
    ``SAGITTA_M`` at most.
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
