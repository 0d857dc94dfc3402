"""Path constraints: the components of the EE that the planner holds, and the check of a whole path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Shape, ShapeKind
from moveit_facade.robot.groups import rigid_links

from .evaluation import Evaluation, evaluate, worst
from .goals import Situation
from .types import ConstraintSet

Flags = NDArray[np.bool_]

FREE_RAD = 3.0
"""Tolerance from which on an axis is free, rad."""
ALIGNED = 0.999
"""Cosine from which on two axes are parallel."""
THIN_SHARE = 0.2
"""An extent of a region below this share of its greatest one is held."""


def path_fault(
    constraints: ConstraintSet, situation: Situation, rows: Sequence[Array]
) -> tuple[int, Evaluation] | None:
    """Return the first configuration of a path that violates constraints.

    Args:
        constraints: The path constraints.
        situation: The robot and its start.
        rows: Configurations of the arm, each (dof,), rad or m.

    Returns:
        Index of the row and the worst verdict on it; None if all rows satisfy the constraints.
    """
    for index, q in enumerate(rows):
        joints = {**situation.positions, **dict(zip(situation.arm.joint_names, q.tolist(), strict=True))}
        found = worst(evaluate(constraints, joints, situation.link_poses(constraints.links, q)))
        if found is not None:
            return index, found
    return None


def hold_weights(constraints: ConstraintSet, situation: Situation) -> tuple[float, ...] | None:
    """Return the components of the EE that the planner has to hold so that a path satisfies constraints.

    They are components in the arm's base frame, so an axis that stays free must be parallel to one of its axes;
    otherwise all components are held, which is stricter than the constraint.

    Args:
        constraints: The path constraints.
        situation: The robot and its start.

    Returns:
        Weights (ang x, y, z, lin x, y, z); None if nothing can be held: the link is not fixed to the EE link, or only
        joints are constrained.
    """
    arm = situation.arm
    if not set(constraints.links) & rigid_links(situation.robot, arm.ee_link):
        return None
    base = situation.link_poses((arm.base_link,))[arm.base_link]
    angular: Array = np.zeros(3)
    linear: Array = np.zeros(3)
    for turn in constraints.orientations:
        axes = base.rotation.matrix().T @ turn.world_R_link.matrix()
        angular = np.maximum(angular, _components(axes, turn.tolerance_rad < FREE_RAD))
    for place in constraints.positions:
        for shape in place.region:
            axes = base.rotation.matrix().T @ shape.object_T_shape.rotation.matrix()
            linear = np.maximum(linear, _components(axes, _thin(shape)))
    weights = (*angular.tolist(), *linear.tolist())
    return weights if any(weights) else None


def _components(axes: Array, held: Flags) -> Array:
    """Return 1 for each base axis that must be held: those of the held columns, or all if a free one is askew."""
    if not held.any():
        return np.zeros(3)
    found = np.ones(3)
    for column in np.flatnonzero(~held):
        along = np.abs(axes[:, column])
        if along.max() < ALIGNED:
            return np.ones(3)
        found[int(np.argmax(along))] = 0.0
    return found


def _thin(shape: Shape) -> Flags:
    """Return which extents along the shape's axes are thin, (3,), bool."""
    if shape.kind is ShapeKind.BOX:
        extents = np.array(shape.size)
    elif shape.kind is ShapeKind.SPHERE:
        extents = np.full(3, 2.0 * shape.size[0])
    else:
        extents = np.array([2.0 * shape.size[0], 2.0 * shape.size[0], shape.size[1]])
    greatest = float(extents.max())
    if greatest < 0.02:
        return np.ones(3, dtype=bool)
    return extents < THIN_SHARE * greatest
