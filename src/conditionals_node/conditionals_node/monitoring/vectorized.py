"""Finds for many leaves at once which surely keep the value they had, without words and evidence.

Leaves that differ only in the objects they are about are decided together, as rows. A leaf that is near a boundary,
not known or not written against ``View`` is left to be decided alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from conditionals_node.expressions.expression import Leaf
from conditionals_node.predicates.measured import Relation
from conditionals_node.views.pair_view import RowsView, Slot
from conditionals_node.views.world_rows import Solids, Touching, WorldRows
from handiwork_core.contracts.predicate import Predicate, Truth
from handiwork_core.model.world import World

TRUE, FALSE = Truth.TRUE, Truth.FALSE
LEAST = 4
"""Smallest number of leaves of a kind for which rows are faster than one by one."""
NEAR = 1e-9
"""Margins up to this may have the other sign by round-off, in the predicate's unit."""


@dataclass(slots=True)
class _Kind:
    """Leaves that differ only in names. The first stands for all; ``slots`` has the objects of its names by row."""

    keys: list[str]
    predicate: Relation
    slots: dict[str, Slot]

    def decide(self, scene: WorldRows) -> tuple[list[bool], list[bool]]:
        """Return which rows hold, and which of these verdicts are sure."""
        (parts,) = self.predicate.groups(RowsView(scene, self.slots, len(self.keys)))
        margins = [part.margin for part in parts]
        lowest = functools.reduce(np.minimum, margins)
        nearest = functools.reduce(np.minimum, map(np.abs, margins))
        return [margin > 0.0 for margin in lowest.tolist()], [margin > NEAR for margin in nearest.tolist()]


class Sweep:
    """The leaves of an evaluation that can be decided as rows.

    Args:
        leaves: All leaves; those that cannot be rows are left out.
    """

    def __init__(self, leaves: Iterable[Leaf]) -> None:
        self._by_shape: dict[tuple[Any, ...], list[Leaf]] = {}
        for leaf in leaves:
            shape = _shape(leaf.predicate)
            if shape is not None:
                self._by_shape.setdefault(shape, []).append(leaf)
        self._world = World(0.0)
        self._solids, self._touching = Solids({}, ()), Touching([])
        self._kinds: list[_Kind] = []

    def steady(self, world: World, truths: Mapping[str, Truth]) -> set[str]:
        """Return the leaves that surely have the same value in another world.

        Args:
            world: The world.
            truths: The present value of each leaf, by key.

        Returns:
            Keys of ``truths``.
        """
        self._look_at(world)
        wanted = [kind for kind in self._kinds if sum(map(truths.__contains__, kind.keys)) >= LEAST]
        found: set[str] = set()
        if not wanted or not (scene := WorldRows(world, self._solids, self._touching)).is_finite():
            return found
        with np.errstate(invalid="ignore", divide="ignore"):
            for kind in wanted:
                for key, holds, sure in zip(kind.keys, *kind.decide(scene), strict=True):
                    if sure and truths.get(key) is (TRUE if holds else FALSE):
                        found.add(key)
        return found

    def _look_at(self, world: World) -> None:
        """Update the arrays after a change of the objects, their geometry or the contacts."""
        if world.objects is not self._world.objects or world.states.keys() != self._world.states.keys():
            self._solids = Solids(world.objects, list(world.states))
            self._kinds = [kind for leaves in self._by_shape.values() for kind in self._laid_out(leaves)]
        if world.contacts is not self._world.contacts:
            pairs = [(contact.a, contact.b) for contact in world.contacts or ()]
            if pairs != self._touching.pairs:
                self._touching = Touching(pairs)
        self._world = world

    def _laid_out(self, leaves: list[Leaf]) -> list[_Kind]:
        index = self._solids.index
        known = [leaf for leaf in leaves if index.keys() >= set(leaf.predicate.subjects())]
        if len(known) < LEAST or not isinstance(first := known[0].predicate, Relation):
            return []
        columns = zip(*(leaf.predicate.subjects() for leaf in known), strict=True)
        slots = {
            name: Slot(column, np.array([index[other] for other in column]))
            for name, column in zip(first.subjects(), columns, strict=True)
        }
        return [_Kind([leaf.key for leaf in known], first, slots)]


def _shape(predicate: Predicate) -> tuple[Any, ...] | None:
    """Return a key that is equal for predicates that differ only in the names of objects; None: it cannot be a row."""
    if not isinstance(predicate, Relation) or isinstance(predicate.object, tuple):
        return None
    kind = type(predicate)
    if (kind.evaluate, kind.groups) != (Relation.evaluate, Relation.groups):
        return None
    subjects = predicate.subjects()
    found: list[Any] = [kind, len(subjects)]
    for field in fields(predicate):
        value = getattr(predicate, field.name)
        if isinstance(value, tuple) and set(subjects) & set(value):
            return None
        found.append(("subject", subjects.index(value)) if value in subjects else (type(value), value))
    return tuple(found)
