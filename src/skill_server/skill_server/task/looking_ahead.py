"""Picks of a task that look ahead to the place that follows directly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from skill_server.grasping.pick_params import PickParams
from skill_server.placing.params import PlaceParams

from .model import Block, Entry, Node, TaskStep

PICKS, PLACE = ("pick", "manualpick", "dexpick"), "place"
"""The skills that take the time to look ahead, and the one to which they look."""


def looking_ahead(block: Block) -> Block:
    """Give each pick that is directly followed by a place of the same object the parameters of that place.

    The place follows directly if it is the next skill of the same arm, and no other arm may change the world between:
    in the same list, or in the next step if neither step has another arm. Picks with ``look_ahead`` false, with a
    ``next_place`` of their own, or that stay open are left as they are.

    Args:
        block: Steps of a task, or skills of an arm, in order.

    Returns:
        The block, with ``next_place`` in these picks.
    """
    places = {pick.path: place.params for pick, place in _followed(block) if _is_same_object(pick, place)}

    def with_place(node: Node) -> Node:
        if isinstance(node, TaskStep):
            return replace(node, arms={arm: tuple(map(with_place, one)) for arm, one in node.arms.items()})
        if not isinstance(node, Entry) or node.path not in places:
            return node
        return replace(node, params=replace(node.params, next_place=places[node.path]))

    return tuple(map(with_place, block)) if places else block


def _followed(block: Block) -> Iterator[tuple[Entry, Entry]]:
    """Yield each skill with the one that directly follows it on its arm."""
    for before, after in pairwise(block):
        if isinstance(before, TaskStep) and isinstance(after, TaskStep):
            if len(before.arms) == 1 and before.arms.keys() == after.arms.keys():
                [arm] = before.arms
                yield from _followed((*before.arms[arm][-1:], *after.arms[arm][:1]))
        elif isinstance(before, Entry) and isinstance(after, Entry):
            yield before, after


def _is_same_object(first: Entry, then: Entry) -> bool:
    pick, place = first.params, then.params
    if first.skill.name not in PICKS or then.skill.name != PLACE:
        return False
    if not isinstance(pick, PickParams) or not isinstance(place, PlaceParams):
        return False
    if not pick.look_ahead or pick.next_place is not None or not pick.is_closing:
        return False
    return place.object in ("", pick.object) and place.container != pick.object
