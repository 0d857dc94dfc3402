"""An end in the world's time for what is measured: late measurements are waited for, not judged."""

from __future__ import annotations

import time
from collections.abc import Callable

from handiwork_core.contracts.ports import Clock
from handiwork_core.model.world import World

SILENT_S = 1.5
"""Steady time for measurements after the end; longer than the silence after which the robot counts as lost."""


def heard_s(world: World) -> float:
    """Time of the oldest stream in the snapshot: object states, contacts, joints come one by one."""
    stamps = [world.stamp_s]
    if world.contacts is not None:
        stamps.append(world.contacts_stamp_s)
    if world.joints.position:
        stamps.append(world.joints.stamp_s)
    return min(stamps)


class Deadline:
    """Past once a world was measured ``span_s`` after now, or once none that new has come in ``SILENT_S``.

    On a busy machine the clock is heard long before the joints of the same instant.
    """

    def __init__(self, clock: Clock, span_s: float, steady: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._steady = clock, steady
        self._until_s = clock.now_s() + span_s
        self._silent_s: float | None = None

    def is_past(self, world: World) -> bool:
        """Whether what this world shows is the last word."""
        if heard_s(world) >= self._until_s:
            return True
        if self._clock.now_s() < self._until_s:
            return False
        if self._silent_s is None:
            self._silent_s = self._steady() + SILENT_S
        return self._steady() >= self._silent_s
