"""Poses of a held object at which another hand may take it, most promising first, without the planner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import GripperSpec

from .arm_samples import ArmSamples

MOST_PLACES = 500
"""The giving hand's poses that are paired with grasps."""
GRASPS_EACH = 12
"""The most grasps of the taking hand that are kept for one pose of the object."""
NEAR_M = 0.06
"""The object is where the taking hand's TCP came at least this near."""
TURN_M = 0.15
"""One unit of difference between two directions counts as this distance, m."""
FAR_M = 0.12
"""A hand farther than this from every sample is taken to be out of reach, m."""
LIKELY = 4
"""The number of grasps of a meeting whose distances from the samples count."""
MOTION_WEIGHT = 0.03
"""A pose is still preferred when its grasps are this much farther from the samples for each radian that it saves, m."""


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """A pose of the giving hand, and grasps with which the object may be taken there.

    Attributes:
        world_T_giver: Pose of the giving hand.
        world_T_object: Pose of the object.
        grasps: object_T_ee of the taking hand, most promising first.
        cost: Lower is more promising, m.
    """

    world_T_giver: Pose
    world_T_object: Pose
    grasps: tuple[Pose, ...]
    cost: float


def meetings(
    giver: ArmSamples,
    taker: ArmSamples,
    giver_q: Array,
    giver_T_object: Pose,
    grasps: tuple[Pose, ...],
    gripper: GripperSpec,
) -> tuple[Meeting, ...]:
    """Pair poses of the giving hand with grasps whose poses are near to what the taking arm reaches.

    Args:
        giver: Samples of the arm that holds the object.
        taker: Samples of the other arm.
        giver_q: Present configuration of the giving arm, (dof,), rad or m.
        giver_T_object: Pose of the object in the giving hand.
        grasps: object_T_ee of the taking hand.
        gripper: Gripper of the taking hand.

    Returns:
        The meetings, most promising first.
    """
    if not grasps:
        return ()
    objects = giver.world_T_ee @ giver_T_object.matrix()
    near = cKDTree(taker.tcp).query(objects[:, :3, 3])[0] < NEAR_M
    moved = np.abs(giver.q - giver_q).mean(axis=1)
    places = np.flatnonzero(near)[:MOST_PLACES]
    reached = cKDTree(_features(taker.world_T_ee, gripper))
    hands = np.stack([grasp.matrix() for grasp in grasps])
    found = list[Meeting]()
    for i in places:
        off_m = reached.query(_features(objects[i] @ hands, gripper), distance_upper_bound=FAR_M)[0]
        best = [k for k in np.argsort(off_m, kind="stable")[:GRASPS_EACH] if off_m[k] < FAR_M]
        if not best:
            continue
        likely = np.append(off_m[best], [FAR_M] * LIKELY)[:LIKELY]
        cost = float(likely.mean() + MOTION_WEIGHT * moved[i])
        pose = Pose.from_matrix(giver.world_T_ee[i])
        found.append(Meeting(pose, pose @ giver_T_object, tuple(grasps[k] for k in best), cost))
    return tuple(sorted(found, key=lambda one: one.cost))


def _features(world_T_ee: Array, gripper: GripperSpec) -> Array:
    """Return vectors (n, 9) whose distances say how unlike poses (n, 4, 4) of a hand are, m."""
    approach, closing = world_T_ee[:, :3, gripper.ee_axis], world_T_ee[:, :3, gripper.closing_axis]
    tcp = world_T_ee[:, :3, 3] + gripper.tcp_offset_m * approach
    return np.hstack([tcp, TURN_M * approach, TURN_M * closing])
