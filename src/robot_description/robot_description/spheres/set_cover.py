"""Set cover with few sets: a greedy choice, then parts of it chosen again as long as fewer suffice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from handiwork_core.model.world import Indices

FREED = 0.3
"""Share of the chosen sets that is removed at a time."""
NEAR_BEST = 0.85
"""Sets that add at least this share of the best set's items may be drawn in its place."""


class CoverChoice:
    """A choice of sets.

    Args:
        sets: One where a set holds an item, else zero, (n, m).
    """

    def __init__(self, sets: csr_array) -> None:
        self._rows = sets
        self._columns = csr_array(sets.T)
        self._can = np.asarray(self._columns.sum(axis=1)) > 0

    def best(self, rounds: int, seed: int) -> list[int]:
        """Choose sets that hold all items that any set holds.

        Args:
            rounds: Number of times that a part is chosen again.
            seed: Seed of the draws.

        Returns:
            Indices of the chosen sets.
        """
        rng = np.random.default_rng(seed)
        chosen = self._without_needless(self._added([], None))
        for _ in range(rounds if len(chosen) > 2 else 0):
            kept = self._with_a_hole(chosen, rng)
            tried = self._without_needless(self._added(kept, rng))
            if len(tried) <= len(chosen):
                chosen = tried
        return chosen

    def _added(self, kept: list[int], rng: np.random.Generator | None) -> list[int]:
        """Return ``kept`` and, one after another, a set that adds the most or, drawn by ``rng``, nearly the most."""
        chosen, left = list(kept), self._can.copy()
        left[self._held(kept)] = False
        gains = self._rows @ left.astype(np.int32)
        while left.any():
            near = np.flatnonzero(gains >= NEAR_BEST * gains.max()) if rng else None
            pick = int(gains.argmax()) if near is None or rng is None else int(rng.choice(near))
            new = self._items(pick)
            new = new[left[new]]
            chosen.append(pick)
            left[new] = False
            gains -= np.bincount(self._holders(new), minlength=len(gains)).astype(gains.dtype)
        return chosen

    def _without_needless(self, chosen: list[int]) -> list[int]:
        """Remove sets whose items are all held by others, small sets first."""
        times = np.bincount(self._held(chosen, once=False), minlength=self._rows.shape[1])
        kept = []
        for pick in sorted(chosen, key=lambda row: len(self._items(row))):
            items = self._items(pick)
            if (times[items] > 1).all():
                times[items] -= 1
            else:
                kept.append(pick)
        return kept

    def _with_a_hole(self, chosen: list[int], rng: np.random.Generator) -> list[int]:
        """Remove one drawn set and those that share most items with it."""
        middle = np.zeros(self._rows.shape[1], dtype=np.int32)
        middle[self._items(int(rng.choice(chosen)))] = 1
        shared = np.asarray(self._rows[chosen] @ middle) + rng.random(len(chosen))
        order = np.argsort(-shared)[max(3, int(FREED * len(chosen))) :]
        return [chosen[i] for i in sorted(order.tolist())]

    def _items(self, row: int) -> Indices:
        return cast(Indices, self._rows.indices[self._rows.indptr[row] : self._rows.indptr[row + 1]])

    def _holders(self, items: Indices) -> NDArray[np.int64]:
        found = [self._columns.indices[self._columns.indptr[i] : self._columns.indptr[i + 1]] for i in items]
        return np.concatenate(found).astype(np.int64) if found else np.zeros(0, dtype=np.int64)

    def _held(self, chosen: Sequence[int], once: bool = True) -> NDArray[np.int64]:
        found = [self._items(row) for row in chosen]
        items = np.concatenate(found).astype(np.int64) if found else np.zeros(0, dtype=np.int64)
        return np.unique(items) if once else items
