"""A deadline in the world's time for measurements: late measurements are awaited, and not judged as missing."""

from __future__ import annotations

import time
from collections.abc import Callable

from handiwork_core.contracts.ports import Clock
from handiwork_core.model.world import World

SILENT_S = 1.5
"""The steady time for measurements after the end; longer than the silence after which the robot counts as lost."""


def oldest_stamp_s(world: World) -> float:
    """Return the stamp of the oldest stream in a snapshot.

    Object states, contacts and joints come separately.

    Args:
        world: Snapshot of the world.

    Returns:
        The stamp in the robot's time, s.
    """
    stamps = [world.stamp_s]
    if world.contacts is not None:
        stamps.append(world.contacts_stamp_s)
    if world.joints.position:
        stamps.append(world.joints.stamp_s)
    return min(stamps)


class MeasurementDeadline:
    """Past once a world was measured ``span_s`` after now, or once no newer one has come in ``SILENT_S``.

    On a busy machine the clock is received long before the joints of the same instant.

    Args:
        clock: Time of the robot's world.
        span_s: Time from now, s.
        steady: Returns the steady time, s.
    """

    def __init__(self, clock: Clock, span_s: float, steady: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._steady = clock, steady
        self._until_s = clock.now_s() + span_s
        self._silent_s: float | None = None

    def is_past(self, world: World) -> bool:
        """Check whether no later measurement than this world can count.

        Args:
            world: Newest snapshot.

        Returns:
            True at the end, or when no measurement has come for ``SILENT_S`` after it.
        """
        if oldest_stamp_s(world) >= self._until_s:
            return True
        if self._clock.now_s() < self._until_s:
            return False
        if self._silent_s is None:
            self._silent_s = self._steady() + SILENT_S
        return self._steady() >= self._silent_s
