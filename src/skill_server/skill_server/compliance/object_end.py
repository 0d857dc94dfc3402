"""The end of a held object: how far it reaches in a direction."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.scene.bounds import support


def object_end(body: WorldObject, turned: Pose, way: Array) -> tuple[float, Array]:
    """Return how far an object reaches beyond the hand's origin along a direction, and the middle of it across.

    Args:
        body: The object.
        turned: Pose of the object from the hand's origin in the axes of ``world``.
        way: The direction, (3,), of length 1.

    Returns:
        Length, m, and the offset across the direction, (3,), m.
    """
    reach, low, high = -np.inf, np.full(3, np.inf), np.full(3, -np.inf)
    for shape in body.shapes:
        placed = turned @ shape.object_T_shape
        turn, centre = placed.rotation.matrix(), placed.translation_m
        reach = max(reach, float(centre @ way) + support(shape, turn.T @ way))
        for axis in range(3):
            low[axis] = min(low[axis], centre[axis] - support(shape, -turn[axis]))
            high[axis] = max(high[axis], centre[axis] + support(shape, turn[axis]))
    middle = (low + high) / 2.0
    return reach, middle - (middle @ way) * way
