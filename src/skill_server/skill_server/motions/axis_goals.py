"""Goals of a position with an axis, or with any orientation, that arms with fewer than six joints can have, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.nearest_pose import FULL, SAME_RAD, NearestPoses, nearest_poses
from handiwork_core.robot.robot import ArmSpec
from skill_server.geometry.orientation_cones import Cone, orthogonal, surviving, unit

SLACK_DEG = 0.1
"""Orientations that an arm can have may leave the range of a constraint by so much: they are found by a search."""


def approach_axis(arm: ArmSpec) -> Array:
    """Return the axis of the EE that points ahead: towards the TCP, or z without a gripper.

    Args:
        arm: The arm.

    Returns:
        Unit vector in the EE frame, (3,).
    """
    axis = np.zeros(3)
    gripper = arm.gripper
    axis[2 if gripper is None else gripper.ee_axis] = -1.0 if gripper and gripper.tcp_offset_m < 0.0 else 1.0
    return axis


def turns_about(axis: Array, direction: Array, near: Rotation, count: int) -> list[Rotation]:
    """Return orientations with an axis of a frame in a direction, the least turned one first.

    Args:
        axis: Axis in the frame, (3,), unit.
        direction: Its direction, (3,), not zero.
        near: Orientation from which the first one is turned as little as possible.
        count: Number of orientations, evenly about the direction.
    """
    here, there = near.matrix() @ axis, unit(direction)
    across = np.cross(here, there)
    sine = float(np.linalg.norm(across))
    across = across / sine if sine > 1e-9 else orthogonal(here)[0]
    first = Rotation.from_axis_angle(across, float(np.arctan2(sine, here @ there))) @ near
    steps = sorted(range(count), key=lambda i: (min(i, count - i), i))
    return [Rotation.from_axis_angle(there, 2.0 * np.pi * i / count) @ first for i in steps]


def possible_poses(
    poses: Sequence[Pose], point_m: Array, context: Context, axis: Array | None, cones: Sequence[Cone]
) -> list[Pose]:
    """Return the nearest poses that an arm with few joints can have; those of other arms stay as they are.

    A point of the hand keeps its places. Places out of reach stay as they are, for the planner to name.

    Args:
        poses: Wanted world_T_ee, at least one.
        point_m: The point in the EE frame, (3,), m.
        context: Context of the run.
        axis: Unit vector in the EE frame, (3,), whose direction is wanted; the turn about it is free. None: none is.
        cones: Constraints of the orientation in the arm's base; if all have one axis, the turn about it is free.

    Raises:
        StepFailed: NO_CANDIDATE: the arm cannot point the axis so, or can meet the constraints at none of the poses.
    """
    arm = context.arm_spec
    if len(arm.joint_names) >= FULL:
        return list(poses)
    vectors = [unit(cone.ee_vector) for cone in cones]
    if axis is None and vectors and all(abs(one @ vectors[0]) > 1.0 - 1e-9 for one in vectors):
        axis = vectors[0]
    world_T_base = context.world.world_T_base()
    rows = np.array([(world_T_base.inverse() @ pose).matrix() for pose in poses])
    found = nearest_poses(context.robot, arm, rows, point_m, free_axis=axis)
    if not found.is_met.any():
        return list(poses)
    keep = found.is_met & (found.angle_rad < SAME_RAD) if axis is not None and not cones else found.is_met
    if cones:
        wide = [
            replace(
                cone,
                min_angle_deg=cone.min_angle_deg - SLACK_DEG,
                max_angle_deg=cone.max_angle_deg + SLACK_DEG,
            )
            for cone in cones
        ]
        keep = keep & surviving(found.base_T_ee[:, :3, :3], [_within_half_turn(cone) for cone in wide])[0]
    if not keep.any():
        raise StepFailed(_refusal(found, arm, axis, cones))
    return [world_T_base @ Pose.from_matrix(row) for row in found.base_T_ee[keep]]


def _within_half_turn(cone: Cone) -> Cone:
    low, high = max(0.0, cone.min_angle_deg), min(180.0, cone.max_angle_deg)
    return replace(cone, min_angle_deg=low, max_angle_deg=high)


def _refusal(found: NearestPoses, arm: ArmSpec, axis: Array | None, cones: Sequence[Cone]) -> Outcome:
    count = len(arm.joint_names)
    if cones:
        text = (
            f"arm {arm.name!r} has {count} joints and can have no orientation there within "
            f"{' and '.join(cone.label for cone in cones)}; widen the angles, or choose another place"
        )
        return Outcome(Code.NO_CANDIDATE, text, "select", cones[-1].field_name)
    assert axis is not None
    best = int(np.where(found.is_met, found.angle_rad, np.inf).argmin())
    numbers = ", ".join(f"{value:.4f}" for value in found.base_T_ee[best, :3, :3] @ axis)
    text = (
        f"arm {arm.name!r} has {count} joints and cannot point its hand so at this place: the nearest direction is "
        f"{np.rad2deg(found.angle_rad[best]):.1f} degrees off, ({numbers}) in {arm.base_link}; take that as axis, or "
        "leave axis out for any orientation"
    )
    return Outcome(Code.NO_CANDIDATE, text, "select", "axis")
