"""Whether a state of the robot satisfies constraints, and by how much it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

from .regions import nearest_of
from .types import ConstraintSet, JointConstraint, OrientationConstraint, PositionConstraint

SLACK_M = 1e-4
"""Excess of a position that is round-off of the planner, m."""
SLACK_RAD = 1e-3
"""Excess of an angle or a joint that is round-off of the planner, rad or m."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on one constraint.

    Attributes:
        excess: Amount by which its tolerance is exceeded, m or rad; 0 if it is satisfied.
        text: One clause that names the constraint, the value and the tolerance.
        is_met: True if it is satisfied up to round-off.
    """

    excess: float
    text: str
    is_met: bool


def evaluate(
    constraints: ConstraintSet, positions: Mapping[str, float], world_T_link: Mapping[str, Pose]
) -> tuple[Evaluation, ...]:
    """Evaluate every constraint of a set.

    Args:
        constraints: The set.
        positions: Joint positions by name, rad or m.
        world_T_link: Pose of each link that is constrained.

    Returns:
        One verdict for each constraint: joints, positions, orientations.
    """
    return (
        *(_joint(one, positions[one.joint]) for one in constraints.joints),
        *(_position(one, world_T_link[one.link]) for one in constraints.positions),
        *(_orientation(one, world_T_link[one.link]) for one in constraints.orientations),
    )


def worst(evaluations: tuple[Evaluation, ...]) -> Evaluation | None:
    """Return the verdict with the greatest excess of those that are not met; None if all are met.

    Args:
        evaluations: The verdicts.
    """
    unmet = [one for one in evaluations if not one.is_met]
    return max(unmet, key=lambda one: one.excess) if unmet else None


def orientation_error(constraint: OrientationConstraint, world_R_link: Rotation) -> Array:
    """Return the error about the axes of the constrained orientation, (3,), rad.

    Args:
        constraint: The constraint, which chooses rotation vector or intrinsic Euler angles.
        world_R_link: The orientation of the link.
    """
    turn = constraint.world_R_link.inverse() @ world_R_link
    return rotation_vector(turn) if constraint.is_rotation_vector else euler_xyz(turn)


def rotation_vector(rotation: Rotation) -> Array:
    """Return axis times angle of a rotation, (3,), rad.

    Args:
        rotation: The rotation.
    """
    w, vector = float(rotation.wxyz[0]), rotation.wxyz[1:]
    sine = float(np.linalg.norm(vector))
    if sine < 1e-12:
        return 2.0 * vector
    return 2.0 * float(np.arctan2(sine, w)) / sine * vector


def euler_xyz(rotation: Rotation) -> Array:
    """Return the intrinsic Euler angles about x, y, z of a rotation, (3,), rad.

    Args:
        rotation: The rotation.
    """
    m = rotation.matrix()
    y = float(np.arcsin(np.clip(m[0, 2], -1.0, 1.0)))
    return np.array([np.arctan2(-m[1, 2], m[2, 2]), y, np.arctan2(-m[0, 1], m[0, 0])])


def _joint(constraint: JointConstraint, position: float) -> Evaluation:
    error = position - constraint.position
    excess = max(0.0, error - constraint.above, -error - constraint.below)
    text = (
        f"joint {constraint.joint!r} is at {position:.4f}, its constraint is {constraint.position:.4f} "
        f"+{constraint.above:.4f} -{constraint.below:.4f}"
    )
    return Evaluation(excess, text, excess <= SLACK_RAD)


def _position(constraint: PositionConstraint, world_T_link: Pose) -> Evaluation:
    point = world_T_link.apply(constraint.offset_m)
    excess = float(np.linalg.norm(point - nearest_of(constraint.region, point)))
    text = f"link {constraint.link!r} is {1e3 * excess:.2f} mm outside of its region"
    return Evaluation(excess, text, excess <= SLACK_M)


def _orientation(constraint: OrientationConstraint, world_T_link: Pose) -> Evaluation:
    error = orientation_error(constraint, world_T_link.rotation)
    over = np.abs(error) - constraint.tolerance_rad
    axis = int(np.argmax(over))
    excess = max(0.0, float(over[axis]))
    text = (
        f"link {constraint.link!r} is turned by {abs(float(error[axis])):.4f} rad about its {'xyz'[axis]} axis, "
        f"its tolerance is {float(constraint.tolerance_rad[axis]):.4f}"
    )
    return Evaluation(excess, text, excess <= SLACK_RAD)
