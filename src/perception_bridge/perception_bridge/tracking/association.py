"""Which detection continues which object: the assignment of least total cost within the gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from handiwork_core.model.geometry import Array
from perception_bridge.tracking.detection import Detection

MISMATCH = 0.5
"""The cost of another label, in gates: nearer than this a detection continues an object in spite of its label."""
IMPOSSIBLE = 1e6


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """An object that a look may find.

    Attributes:
        name: Its name.
        label: Its label.
        place_m: Its expected position, (3,), m.
        gate_m: Greatest distance from there, m.
    """

    name: str
    label: str
    place_m: Array
    gate_m: float


def associate(expected: Sequence[Expected], detections: Sequence[Detection]) -> dict[int, str]:
    """Return the objects that detections continue.

    Args:
        expected: The objects.
        detections: The detections of one look.

    Returns:
        Names of objects by the indices of detections; each object at most once.
    """
    if not expected or not detections:
        return {}
    places = np.array([one.seen.world_T_object.translation_m for one in detections])
    distance = np.linalg.norm(np.array([one.place_m for one in expected])[:, None] - places, axis=2)
    gates = np.array([one.gate_m for one in expected])[:, None]
    differs = np.array([[a.label != b.label for b in detections] for a in expected])
    cost = distance / gates + MISMATCH * differs
    cost[distance > gates] = IMPOSSIBLE
    rows, columns = linear_sum_assignment(cost)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {column: expected[row].name for row, column in pairs if cost[row, column] < IMPOSSIBLE}
