"""The bins in the stack, the places that are open, and the place that a held bin is brought to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from handiwork_core.model.geometry import Pose

from .bin import HEIGHT_M, LENGTH_M, PLACED_M, WIDTH_M, overlap, stands_at
from .context import StackContext

LOST_S = 0.2
"""Time for which a stacked bin must be seen out of its place before it counts as lost, s: one reading may be wrong."""
LEANING_CLEARANCE_M = 0.2
"""Horizontal distance of a leaning bin from a place below which the bin placed there would hit it, m."""
NEAR_PLACE_M = float(np.hypot(LENGTH_M, WIDTH_M))
"""Horizontal distance of two bins' middles above which they cannot overlap while both are level, m."""


class StackMonitor:
    """Keeps ``context.places`` true: every bin that is stacked is checked again and again, one at each tick.

    So a bin that is pushed or taken out of the stack leaves its place open within some ticks, also while another
    bin is on its way. All bins are matched to all places at the beginning, after a placing, a reset and a loss.
    """

    name = "stack"

    def __init__(self) -> None:
        self._turn = 0
        self._doubt: tuple[int, float] | None = None
        """Place whose bin was seen elsewhere, and since when, s."""

    def update(self, context: StackContext, now_s: float) -> None:
        """Check one bin, or all of them.

        Args:
            context: The logical state.
            now_s: Time of the tick, s.
        """
        if context.is_new or self._is_lost(context, now_s):
            context.is_new, self._doubt = False, None
            context.places = match_places(context)

    def _is_lost(self, context: StackContext, now_s: float) -> bool:
        if not context.places:
            return False
        if self._doubt is not None and self._doubt[0] in context.places:
            index, since_s = self._doubt
        else:
            self._turn = (self._turn + 1) % len(context.places)
            index, since_s = list(context.places)[self._turn], now_s
        seen = context.bins.get(context.places[index])
        if seen is not None and stands_at(seen.world_T_object, context.layout.place(index)):
            self._doubt = None
            return False
        self._doubt = (index, since_s)
        return now_s - since_s >= LOST_S


def match_places(context: StackContext) -> dict[int, str]:
    """Return the bin in each place that is filled; a bin in the cup fills none.

    Args:
        context: The logical state.

    Returns:
        Number of a place -> name of its bin.
    """
    names = [name for name in context.bins if name != context.suction.object]
    if not names:
        return {}
    at = np.array([context.bins[name].world_T_object.translation_m for name in names])
    found: dict[int, str] = {}
    for index in range(len(context.layout)):
        place = context.layout.place(index)
        apart = np.linalg.norm(at - place.translation_m, axis=1)
        nearest = int(np.argmin(apart))
        if apart[nearest] <= PLACED_M and stands_at(context.bins[names[nearest]].world_T_object, place):
            found[index] = names[nearest]
    return found


def open_places(context: StackContext, without: str = "") -> Iterator[int]:
    """Yield the places that a bin can be put into now, in the order in which they are filled.

    Args:
        context: The logical state.
        without: A bin that does not count as an obstacle, since it is the one that would be placed.

    Yields:
        Numbers of places.
    """
    for index in range(len(context.layout)):
        if index not in context.places and is_open(context, index, without):
            yield index


def is_open(context: StackContext, index: int, without: str = "") -> bool:
    """Check whether a place is empty, has its support, and no loose bin is in it or right above it.

    Args:
        context: The logical state.
        index: Number of the place.
        without: A bin that does not count as an obstacle.
    """
    below = context.layout.below(index)
    if index in context.places or (below is not None and below not in context.places):
        return False
    return not blockers(context, index, without)


def blockers(context: StackContext, index: int, without: str = "") -> list[str]:
    """Return the loose bins that are in a place, right above it, or lean beside it.

    Args:
        context: The logical state.
        index: Number of the place.
        without: A bin that does not count as an obstacle.
    """
    place = context.layout.place(index)
    above = Pose.of(place.translation_m + (0.0, 0.0, HEIGHT_M), place.rotation)
    excluded = {without, context.suction.object, *context.places.values()}
    found = []
    for name in context.bins:
        if name in excluded:
            continue
        pose = context.bins[name].world_T_object
        apart = float(np.linalg.norm(pose.translation_m[:2] - place.translation_m[:2]))
        leans_there = name in context.refused and apart < LEANING_CLEARANCE_M
        if leans_there or (apart < NEAR_PLACE_M and (overlap(pose, place) or overlap(pose, above))):
            found.append(name)
    return found


def choose_place(context: StackContext, now_s: float) -> None:
    """Write ``context.place``, the place for the held bin.

    A place that is no longer open is left upward for another.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    if not context.is_attached or context.needs_flip:
        context.place = None
        return
    if context.place is not None and is_open(context, context.place):
        return
    if context.place is not None:
        context.is_lifted = False  # the bin may hang between others: it is lifted first
    context.place = next(open_places(context), None)
