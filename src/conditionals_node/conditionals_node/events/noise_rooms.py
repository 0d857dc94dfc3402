"""How far the noise of measured poses may reach beyond a limit of an event. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import ObjectState
from handiwork_core.scene.covariance import deviation_of

MOST_FLIPS = 0.5
"""A probability with which noise may turn anything that it reaches."""
EXACT: Array = np.zeros((1, 1))
"""The rooms of objects whose poses are exact."""


class NoiseRooms:
    """Computes the room for noise: an error exceeds it along any one direction with ``max_flip`` at most.

    The limits of events bound convex sets: a ball around a place, the box of the scene, a cone about straight up. So a
    measured value that is beyond its limit by the room is on the wrong side with ``max_flip`` at most.

    Args:
        max_flip: Largest probability with which noise may turn an event.
    """

    def __init__(self, max_flip: float) -> None:
        self._deviations = NormalDist().inv_cdf(1.0 - max_flip) if max_flip < MOST_FLIPS else 0.0

    def of(self, states: Mapping[str, ObjectState], rows: Mapping[str, int]) -> tuple[Array, Array]:
        """Return the rooms of places and of tilts.

        Args:
            states: The measured states by object.
            rows: The row of each object.

        Returns:
            (m, 1), m, and (m, 1), rad; (1, 1) where all poses are exact.
        """
        noisy = {name: s.pose_covariance for name, s in states.items() if s.pose_covariance is not None}
        if not noisy:
            return EXACT, EXACT
        rooms = np.zeros((2, len(rows), 1))
        for name, covariance in noisy.items():
            rooms[:, rows[name], 0] = deviation_of(covariance)
        place, tilt = self._deviations * rooms
        return place, tilt
