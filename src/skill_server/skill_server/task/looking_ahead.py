"""Picks of a task that look ahead to the place that follows directly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from skill_server.grasping.pick_params import PickParams
from skill_server.placing.params import PlaceParams

from .model import Entry, TaskStep

PICKS, PLACE = ("pick", "manualpick", "dexpick"), "place"
"""The skills that take the time to look ahead, and the one to which they look."""


def looking_ahead(steps: Sequence[TaskStep]) -> tuple[TaskStep, ...]:
    """Give each pick that is directly followed by a place of the same object the parameters of that place.

    The place follows directly if it is the next skill of the same arm, and no other arm may change the world between:
    in the same step, or in the next one if neither has another arm. Picks with ``look_ahead`` false, with a
    ``next_place`` of their own, or that stay open are left as they are.

    Args:
        steps: Steps of a task, in order.

    Returns:
        The steps, with ``next_place`` in these picks.
    """
    places = {pick.path: place.params for pick, place in _followed(steps) if _is_same_object(pick, place)}

    def with_place(entry: Entry) -> Entry:
        if entry.path not in places:
            return entry
        return replace(entry, params=replace(entry.params, next_place=places[entry.path]))

    return tuple(
        replace(step, arms={arm: tuple(map(with_place, entries)) for arm, entries in step.arms.items()})
        for step in steps
    )


def _followed(steps: Sequence[TaskStep]) -> Iterator[tuple[Entry, Entry]]:
    """Yield each skill with the one that directly follows it on its arm."""
    for step in steps:
        for entries in step.arms.values():
            yield from pairwise(entries)
    for before, after in pairwise(steps):
        if len(before.arms) == 1 and before.arms.keys() == after.arms.keys():
            [arm] = before.arms
            yield from zip(before.arms[arm][-1:], after.arms[arm][:1], strict=False)


def _is_same_object(first: Entry, then: Entry) -> bool:
    pick, place = first.params, then.params
    if first.skill.name not in PICKS or then.skill.name != PLACE:
        return False
    if not isinstance(pick, PickParams) or not isinstance(place, PlaceParams):
        return False
    if not pick.look_ahead or pick.next_place is not None or not pick.is_closing:
        return False
    return place.object in ("", pick.object) and place.container != pick.object
