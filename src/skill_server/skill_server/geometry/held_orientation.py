"""Orientations that keep held components of the present one: a turn about the free axes of the base only."""

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
    """True when one of the angular weights (the first three of six) is above zero."""
    return any(weight > 0.0 for weight in weights[:3])


def held_rotations(
    weights: Sequence[float], base_R_ee: Array, cones: Sequence[Cone], rng: np.random.Generator, n: int
) -> Array:
    """Up to ``n`` rotations (m, 3, 3), the present one (3, 3) first, off it by a rotation vector along free axes alone.

    Raises:
        StepFailed: NO_CANDIDATE where none of them satisfies the other constraints.
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
