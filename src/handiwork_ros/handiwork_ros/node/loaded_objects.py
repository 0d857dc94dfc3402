"""Keeps what a process has loaded out of the garbage collector, and collects the rest once a minute."""

from __future__ import annotations

import gc
import math

COLLECT_PERIOD_S = 60.0
"""The period of full collections while the node is active, s; one takes a few ms, as loaded objects are exempt."""


class LoadedObjects:
    """Exempts the objects that a node has loaded from garbage collection while the node is active.

    CPython collects its oldest generation only when the new objects that survived are a quarter of the old ones. A
    node has loaded 80,000 to 190,000 objects, so cycles of goals and messages would stay by ten thousands, and the
    memory of the process would rise for hours. So would it by the free lists: ``tuple`` of a generator takes a new
    block and leaves it on the list of its length, up to 2,000 for each, and only a full collection empties these lists.
    """

    def __init__(self) -> None:
        self._are_exempt = False
        self._collected_s = -math.inf

    def follow(self, *, is_active: bool) -> None:
        """Exempt all present objects when the node has become active, and no object when it is no longer.

        Args:
            is_active: Whether the node is active now.
        """
        if is_active == self._are_exempt:
            return
        self._are_exempt = is_active
        if not is_active:
            gc.unfreeze()
            return
        gc.collect()
        gc.freeze()
        # Only a collection counts the old objects: the threshold of the next one is a quarter of what this one leaves.
        gc.collect()

    def tidy(self, now_s: float) -> None:
        """Make a full collection when the period is over; without exempt objects it would take too long.

        Args:
            now_s: Steady time, s.
        """
        if self._are_exempt and now_s - self._collected_s >= COLLECT_PERIOD_S:
            self._collected_s = now_s
            gc.collect()
