"""Which objects a hand carries, in n worlds: it squeezes them without a break while they move with it. Pure."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from conditionals_node.events.sight import Sight
from conditionals_node.verdicts.life import ROUND_OFF_S
from conditionals_node.verdicts.truths import Mask
from handiwork_core.model.geometry import Array


class CarryRules(Protocol):
    """The limits of carrying; see ``SuccessRules``."""

    @property
    def carry_s(self) -> float:
        """Time for which a hand must squeeze an object, s."""

    @property
    def carry_m(self) -> float:
        """Way that the object must make meanwhile, m."""

    @property
    def drift_m(self) -> float:
        """Way in the hand from which an object does not follow it, m."""


class Carries:
    """Notes which objects were carried.

    Args:
        rules: The limits.
        n: Number of worlds.
    """

    def __init__(self, rules: CarryRules, n: int) -> None:
        self._rules, self._n = rules, n
        self.carried: Mask = np.zeros((0, n), dtype=bool)
        """Objects that a hand has carried, (m, n)."""
        self._gripped: Mask = np.zeros((0, n), dtype=bool)
        # At the begin of the present squeeze, or since the object has last slipped.
        self._since_s: Array = np.zeros((0, n))
        self._at_m: Array = np.zeros((0, n, 3))
        self._room_m: Array = np.zeros((0, n))
        self._offset_m: Array = np.zeros((0, n, 0, 3))

    def reset(self, rows: Mask) -> None:
        """Begin again in some worlds.

        Args:
            rows: The worlds, (n,).
        """
        for flags in (self.carried, self._gripped):
            flags[:, rows] = False

    def update(self, sight: Sight) -> None:
        """Take the next observations.

        Args:
            sight: The observations.
        """
        self._grow(sight)
        begins = sight.gripped & ~self._gripped
        self._gripped = sight.gripped
        if not sight.gripped.any():
            return
        begins = begins | (sight.gripped & self._slips(sight))
        self._since_s = np.where(begins, sight.stamp_s, self._since_s)
        self._at_m = np.where(begins[..., None], sight.place_m, self._at_m)
        self._room_m = np.where(begins, sight.place_room_m, self._room_m)
        if sight.offset_m is not None:
            self._offset_m = np.where(begins[..., None, None], sight.offset_m, self._offset_m)
        long = sight.stamp_s - self._since_s >= self._rules.carry_s - ROUND_OFF_S
        way_m = length(sight.place_m - self._at_m) - np.hypot(self._room_m, sight.place_room_m)
        self.carried = self.carried | (sight.gripped & long & (way_m >= self._rules.carry_m))

    def _slips(self, sight: Sight) -> Mask:
        """Return the objects that have left their places in all hands by more than noise explains, (m, n)."""
        if sight.offset_m is None:
            return np.zeros_like(self._gripped)
        drift_m = np.fmin.reduce(length(sight.offset_m - self._offset_m), axis=2, initial=np.inf)
        # Without a known hand nothing slips: its drift is nan, and the least of nothing is infinite.
        known = np.isfinite(drift_m)
        return np.asarray(
            known & (drift_m - np.hypot(self._room_m, sight.place_room_m) >= self._rules.drift_m)
        )

    def _grow(self, sight: Sight) -> None:
        more = len(sight.names) - len(self.carried)
        if more > 0:
            none, nan = np.zeros((more, self._n), dtype=bool), np.full((more, self._n, 3), np.nan)
            self.carried = np.concatenate([self.carried, none])
            self._gripped = np.concatenate([self._gripped, none])
            self._at_m = np.concatenate([self._at_m, nan])
            self._since_s = np.concatenate([self._since_s, nan[..., 0]])
            self._room_m = np.concatenate([self._room_m, np.zeros((more, self._n))])
        if sight.offset_m is not None and self._offset_m.shape != sight.offset_m.shape:
            old, self._offset_m = self._offset_m, np.full(sight.offset_m.shape, np.nan)
            self._offset_m[: len(old), :, : old.shape[2]] = old


def length(vectors: Array) -> Array:
    """Return the lengths of vectors.

    Args:
        vectors: (..., 3), m.

    Returns:
        (...), m.
    """
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
