"""Choice and pose of an object that a gripper can close on, or a cup can hold. Imports no ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import ShapeKind, WorldObject
from handiwork_core.robot.robot import GripperSpec

MARGIN_M = 0.01
"""A gripped object is at least so much wider than the closed fingers, and so much narrower than the open ones, m."""

LARGEST_M = 0.12
"""Larger objects would touch the hand, m."""

PRESS_M = 0.001
"""Depth of a cup's rim in the top of the object, m: it seals what it touches all around."""


@dataclass(frozen=True, slots=True)
class ObjectTrial:
    """An object and its pose.

    Attributes:
        name: Name of the object.
        width_m: Its width between the fingers, m; 0 for a cup.
        world_T_object: Its pose.
    """

    name: str
    width_m: float
    world_T_object: Pose


def grip_trial(
    spec: GripperSpec, objects: Mapping[str, WorldObject], world_T_tcp: Pose, ee_R_tcp: Rotation
) -> ObjectTrial | None:
    """Return the first object whose one solid fits between the fingers, with its middle at the TCP; None without one.

    Args:
        spec: The gripper.
        objects: Objects by name.
        world_T_tcp: Pose of the TCP.
        ee_R_tcp: Rotation of the TCP in the EE frame.
    """
    lower, upper = spec.min_width_m + MARGIN_M, spec.max_width_m - MARGIN_M
    for name, extents, shape_T_object in _solids(objects):
        for axis in np.argsort(extents):
            if lower <= extents[axis] <= upper:
                turn = _carry(int(axis), spec.closing_axis)
                world_R = world_T_tcp.rotation.matrix() @ ee_R_tcp.matrix().T @ turn
                shape = Pose.of(world_T_tcp.translation_m, Rotation.from_matrix(world_R))
                return ObjectTrial(name, float(extents[axis]), shape @ shape_T_object)
    return None


def suction_trial(
    spec: GripperSpec, objects: Mapping[str, WorldObject], world_T_tcp: Pose, ee_R_tcp: Rotation
) -> ObjectTrial | None:
    """Return the first object with a flat top that is wider than the cup, its top at the rim; None without one.

    Args:
        spec: The gripper; without a cup there is no trial.
        objects: Objects by name.
        world_T_tcp: Pose of the TCP.
        ee_R_tcp: Rotation of the TCP in the EE frame.
    """
    cup = spec.suction
    if cup is None:
        return None
    for name, extents, shape_T_object in _solids(objects, flat=True):
        if min(extents[0], extents[1]) > 2.0 * cup.radius_m + MARGIN_M:
            # The top faces the approach: half a turn about a side axis.
            turn = _carry(2, spec.ee_axis) @ np.diag((1.0, -1.0, -1.0))
            world_R = world_T_tcp.rotation.matrix() @ ee_R_tcp.matrix().T
            ahead = world_R[:, spec.ee_axis] * (extents[2] / 2.0 - PRESS_M)
            place = world_T_tcp.translation_m + ahead
            return ObjectTrial(
                name, 0.0, Pose.of(place, Rotation.from_matrix(world_R @ turn)) @ shape_T_object
            )
    return None


def _solids(objects: Mapping[str, WorldObject], *, flat: bool = False) -> list[tuple[str, Array, Pose]]:
    """Return free objects of one simple solid: name, extents (3,) [m], pose of the object in the solid."""
    found = []
    for name, item in sorted(objects.items()):
        if item.is_static or item.articulation is not None or len(item.shapes) != 1:
            continue
        shape = item.shapes[0]
        if shape.kind is ShapeKind.BOX:
            extents = np.array(shape.size)
        elif shape.kind is ShapeKind.CYLINDER:
            extents = np.array((2.0 * shape.size[0], 2.0 * shape.size[0], shape.size[1]))
        elif shape.kind is ShapeKind.SPHERE and not flat:
            extents = np.full(3, 2.0 * shape.size[0])
        else:
            continue
        if extents.max() <= LARGEST_M or flat:
            found.append((name, extents, shape.object_T_shape.inverse()))
    return found


def _carry(axis: int, onto: int) -> Array:
    """Return the rotation (3, 3) that maps one axis to another and permutes the others in the same order."""
    turn = np.zeros((3, 3))
    for i in range(3):
        turn[(i + onto - axis) % 3, i] = 1.0
    return turn
