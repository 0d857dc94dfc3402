"""Constraint messages as values, with their frames resolved to ``world``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import Transform

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import Shape
from handiwork_ros import conversions as to
from moveit_facade.constraints.types import (
    ConstraintSet,
    JointConstraint,
    OrientationConstraint,
    PositionConstraint,
)
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.frames import Frames, checked_link
from moveit_facade.scene.shapes import COUNTS, Primitive, solid

MOST_CONSTRAINTS = 200
"""Greatest number of constraints of one kind in one set."""
SMALLEST_M = 1e-6
"""Extent that stands for a region without one, m."""
REGIONS = (Primitive.BOX, Primitive.SPHERE, Primitive.CYLINDER)


def constraint_set(
    msg: Any, frames: Frames, field: str, mimics: frozenset[str] = frozenset()
) -> ConstraintSet:
    """Read the constraints of a goal or of a path.

    Args:
        msg: ``moveit_msgs/msg/Constraints``.
        frames: The frames at the start.
        field: Name of the message in errors.
        mimics: Joints that follow others, whose constraints follow from theirs.

    Raises:
        RequestError: A name or a frame is unknown, a number is out of its range, or a visibility is constrained.
        BadMessage: A number is not finite, or a list is too long.
    """
    for kind in ("joint_constraints", "position_constraints", "orientation_constraints"):
        to.at_most(f"{field}.{kind}", len(getattr(msg, kind)), MOST_CONSTRAINTS, "constraints")
    if msg.visibility_constraints:
        text = (
            f"{field}.visibility_constraints: there are {len(msg.visibility_constraints)}, and this planner has no "
            "sensor model; constrain position and orientation of the sensor's link instead"
        )
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    joints = tuple(
        _joint(one, frames, f"{field}.joint_constraints[{i}]") for i, one in enumerate(msg.joint_constraints)
    )
    return ConstraintSet(
        tuple(one for one in joints if one.joint not in mimics),
        tuple(
            _position(one, frames, f"{field}.position_constraints[{i}]")
            for i, one in enumerate(msg.position_constraints)
        ),
        tuple(
            _orientation(one, frames, f"{field}.orientation_constraints[{i}]")
            for i, one in enumerate(msg.orientation_constraints)
        ),
        msg.name,
    )


def _joint(msg: Any, frames: Frames, field: str) -> JointConstraint:
    if msg.joint_name not in frames.robot.joints:
        text = f"{field}.joint_name: {msg.joint_name[:80]!r} is no joint of {frames.robot.name!r}"
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    to.finite((msg.position,), f"{field}.position")
    above, below = (
        _tolerance(getattr(msg, name), f"{field}.{name}") for name in ("tolerance_above", "tolerance_below")
    )
    return JointConstraint(msg.joint_name, float(msg.position), above, below)


def _position(msg: Any, frames: Frames, field: str) -> PositionConstraint:
    link = checked_link(frames.robot, msg.link_name, f"{field}.link_name")
    world_T_frame = frames.world_T(msg.header.frame_id, f"{field}.header.frame_id")
    offset = to.vector_from_msg(msg.target_point_offset, f"{field}.target_point_offset")
    region, where = msg.constraint_region, f"{field}.constraint_region"
    if region.meshes:
        text = f"{where}.meshes: a region is a box, a sphere or a cylinder; send primitives"
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    if not region.primitives or len(region.primitives) != len(region.primitive_poses):
        text = (
            f"{where} has {len(region.primitives)} primitives and {len(region.primitive_poses)} poses; "
            "send at least one, with one pose each"
        )
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    shapes = tuple(
        _region(
            primitive,
            world_T_frame @ to.pose_from_msg(pose, f"{where}.primitive_poses[{i}]"),
            f"{where}[{i}]",
        )
        for i, (primitive, pose) in enumerate(zip(region.primitives, region.primitive_poses, strict=True))
    )
    return PositionConstraint(link, offset, shapes)


def _region(primitive: Any, pose: Pose, field: str) -> Shape:
    """Read one region; an extent of 0 means the point itself, as in MoveIt."""
    kind, sizes = primitive.type, [float(size) for size in primitive.dimensions]
    if kind not in tuple(REGIONS):
        text = f"{field}.type is {kind}; a region is a box (1), a sphere (2) or a cylinder (3)"
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    if len(sizes) < COUNTS[Primitive(kind)] or not all(math.isfinite(size) and size >= 0.0 for size in sizes):
        text = f"{field}.dimensions are {sizes}; send {COUNTS[Primitive(kind)]} numbers of at least 0"
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    try:
        return solid(kind, [max(size, SMALLEST_M) for size in sizes], pose, (), field)
    except RequestError as error:
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, error.outcome.message) from error


def _orientation(msg: Any, frames: Frames, field: str) -> OrientationConstraint:
    link = checked_link(frames.robot, msg.link_name, f"{field}.link_name")
    world_T_frame = frames.world_T(msg.header.frame_id, f"{field}.header.frame_id")
    names = ("absolute_x_axis_tolerance", "absolute_y_axis_tolerance", "absolute_z_axis_tolerance")
    tolerance = np.array([_tolerance(getattr(msg, name), f"{field}.{name}") for name in names])
    if msg.parameterization not in (0, 1):
        text = (
            f"{field}.parameterization is {msg.parameterization}; "
            "send 0 for XYZ_EULER_ANGLES or 1 for ROTATION_VECTOR"
        )
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    turn = to.transform_from_msg(Transform(rotation=msg.orientation), f"{field}.orientation").rotation
    return OrientationConstraint(link, world_T_frame.rotation @ turn, tolerance, bool(msg.parameterization))


def _tolerance(value: float, field: str) -> float:
    """Read a tolerance; 0 means the least one, as in MoveIt. Infinity is no limit."""
    if math.isnan(value) or value < 0.0:
        text = f"{field} is {value}; send a number of at least 0"
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    return float(min(value, 1e6))
