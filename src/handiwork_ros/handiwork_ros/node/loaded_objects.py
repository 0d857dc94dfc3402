"""Keeps what a process has loaded out of the garbage collector."""

from __future__ import annotations

import gc


class LoadedObjects:
    """Exempts the objects that a node has loaded from garbage collection while the node is active.

    CPython collects its oldest generation only when the new objects that survived are a quarter of the old ones. A
    node has loaded 80,000 to 190,000 objects, so cycles of goals and messages would stay by ten thousands, and the
    memory of the process would rise for hours. Without the loaded objects a full collection is frequent and short.
    """

    def __init__(self) -> None:
        self._are_exempt = False

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
