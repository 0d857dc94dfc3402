"""Which objects a predicate is about, and which objects of a world are at rest. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from handiwork_core.contracts.predicate import Predicate
from handiwork_core.model.world import World

from .life import REST_MPS

MOVED_FIELDS = ("object", "objects", "object1")
"""Arguments of a predicate that name the objects it is about; its other objects are goals."""


class Speeds:
    """The speeds of one world's objects, each computed once and only when asked for.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._rests: dict[str, bool] = {}

    def rest(self, names: Iterable[str]) -> bool:
        """Return True when all objects are slower than ``REST_MPS``; one without a state is not known to be.

        Args:
            names: The objects.
        """
        return all(map(self._is_at_rest, names))

    def _is_at_rest(self, name: str) -> bool:
        if name not in self._rests:
            state = self._world.states.get(name)
            self._rests[name] = state is not None and math.hypot(*state.world_v_object.tolist()) < REST_MPS
        return self._rests[name]


def moved_by(predicate: Predicate) -> tuple[str, ...]:
    """Return the objects that a predicate is about; its other objects are goals.

    Args:
        predicate: The predicate.
    """
    found: list[str] = []
    for field in MOVED_FIELDS:
        value = getattr(predicate, field, ())
        found += [value] if isinstance(value, str) else value
    return tuple(found)
