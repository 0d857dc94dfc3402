"""Orientations that keep components of the present one: they differ by a turn about the free axes of the base only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation as Turn

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome

from .orientation_cones import Cone, surviving

DRAWS = 4000


def holds_a_turn(weights: Sequence[float]) -> bool:
    """Check whether an angular weight is above zero.

    Args:
        weights: Six hold weights, of which the first three are angular; may be empty.

    Returns:
        True when an angle is held.
    """
    return any(weight > 0.0 for weight in weights[:3])


def held_rotations(
    weights: Sequence[float], base_R_ee: Array, cones: Sequence[Cone], rng: np.random.Generator, n: int
) -> Array:
    """Sample rotations that differ from the present one by a rotation vector along the free axes alone.

    Args:
        weights: Six hold weights; an axis is free where the angular weight is zero.
        base_R_ee: Present rotation, (3, 3).
        cones: Other constraints, in the base.
        rng: Source of the samples.
        n: Largest number of rotations.

    Returns:
        Rotations base_R_ee, (m, 3, 3), m at most ``n``; the present one is first where it satisfies the constraints.

    Raises:
        StepFailed: NO_CANDIDATE where no rotation satisfies the other constraints.
    """
    free = [axis for axis in range(3) if not weights[axis] > 0.0]
    vectors = np.zeros((DRAWS if free else 1, 3))
    if free:
        spread = rng.normal(size=(len(vectors), len(free)))
        spread /= np.linalg.norm(spread, axis=1, keepdims=True)
        vectors[:, free] = spread * np.pi * rng.random((len(vectors), 1))
        vectors[0] = 0.0
    turns = Turn.from_rotvec(vectors).as_matrix() @ base_R_ee
    keep, words = surviving(turns, cones)
    if not keep.any():
        held = [axis for i, axis in enumerate("xyz") if weights[i] > 0.0]
        text = f"no orientation keeps the turn about {held} as it is and satisfies the rest: {words}; free an axis"
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", "pre_place_hold_vec_weight"))
    return np.asarray(turns[keep][:n])
