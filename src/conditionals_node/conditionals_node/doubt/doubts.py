"""How probably the noise of measured poses turns a verdict, and the verdict that is left in doubt. Pure.

The expression is decided in ``noise.SAMPLES`` worlds that the measured one may be. The probability is the share of them
that do not have the verdict of the measured one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial

import numpy as np

from conditionals_node.expressions.decide import MARGINS, advance, evaluate, truths_of
from conditionals_node.expressions.expression import Decide, Expression, Leaf
from conditionals_node.predicates.containment import ObjectGroupsInContainers
from conditionals_node.predicates.measured import Measured
from conditionals_node.predicates.order import ObjectsPlacedInContainerInOrder
from conditionals_node.views.batch_worlds import Worlds
from handiwork_core.contracts.predicate import Finding, LatchedPredicate, Truth
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World
from handiwork_core.scene.covariance import Deviation, deviation_of

from .noise import SAMPLES, drawn_one_by_one, drawn_worlds, noisy_objects

MAX_FLIP = 0.01
"""Largest probability with which a verdict is TRUE or FALSE, where nobody states another."""
MOST_NAMED = 2
"""Largest number of objects that one reason names."""


class Doubts:
    """The doubts about verdicts on one snapshot; without noise there are none, and nothing is computed.

    Args:
        world: The snapshot.
        read: Objects that the expressions read, see ``read_by``; None: any.
    """

    def __init__(self, world: World, read: Collection[str] | None = None) -> None:
        self._world, self._read = world, read
        self.noisy = noisy_objects(world)
        """The objects whose poses are not exact."""
        self.memories: dict[str, object] = {}
        """The memories of predicates from before this snapshot, by the key of the leaf."""
        self._parts_are_noisy = bool(self.noisy) and any(
            item.articulation is not None and not self.noisy.isdisjoint((name, item.articulation.body))
            for name, item in world.objects.items()
        )
        self._worlds: Worlds | None = None
        self._singles: list[World] | None = None
        self._margins: dict[str, Array] = {}

    def concern(self, leaf: Leaf) -> bool:
        """Return True when a predicate reads a pose that is not exact.

        Args:
            leaf: The predicate.
        """
        if not self.noisy:
            return False
        predicate = leaf.predicate
        if predicate.needs_joints and self._parts_are_noisy:
            return True
        return not self.noisy.isdisjoint((*predicate.subjects(), *predicate.frames()))

    def judged(self, expression: Expression, decide: Decide, max_flip: float) -> Finding:
        """Decide an expression, and leave it open where noise turns the verdict too probably.

        Args:
            expression: The expression.
            decide: Returns the finding of a predicate on the measured world.
            max_flip: Largest probability with which the verdict counts.

        Returns:
            The finding with its ``flip_probability``; UNKNOWN where that is more than ``max_flip``.
        """
        found = expression.decide(decide)
        if not self.noisy or found.truth is Truth.UNKNOWN or not any(map(self.concern, expression.leaves())):
            return found
        flip = self.flip_probability(expression, decide, found.truth)
        if flip <= max_flip:
            return found._replace(flip_probability=flip)
        reason = self._reason(expression, found, flip, max_flip)
        return Finding(Truth.UNKNOWN, math.nan, reason, found.evidence, flip)

    def flip_probability(self, expression: Expression, decide: Decide, truth: Truth) -> float:
        """Return the probability that an expression has another value in the real world than in the measured one.

        Args:
            expression: The expression.
            decide: Returns the finding of a predicate on the measured world; exact ones are as there.
            truth: The value in the measured world.
        """
        margins = expression.fold(lambda leaf: self._margin(leaf, decide), MARGINS)
        return float(np.mean(truths_of(margins) != int(truth)))

    def _margin(self, leaf: Leaf, decide: Decide) -> Array:
        """Return the margins of a predicate in the drawn worlds, (SAMPLES,)."""
        margin = self._margins.get(leaf.key)
        if margin is None:
            found = decide(leaf)
            if found.truth is Truth.UNKNOWN or not self.concern(leaf):
                margin = np.full(SAMPLES, found.margin)
            else:
                margin = self._drawn_margin(leaf)
            self._margins[leaf.key] = margin
        return margin

    def _drawn_margin(self, leaf: Leaf) -> Array:
        predicate, memory = leaf.predicate, self.memories.get(leaf.key)
        if isinstance(predicate, ObjectsPlacedInContainerInOrder):
            return advance(predicate, _times(predicate.objects, memory), self._drawn())[0].margin
        if isinstance(predicate, (Measured, ObjectGroupsInContainers)):
            return evaluate(predicate, self._drawn()).margin
        decide: Callable[[World], Finding] = predicate.evaluate
        if isinstance(predicate, LatchedPredicate):
            decide = partial(_advanced, predicate, memory)
        if self._singles is None:
            self._singles = drawn_one_by_one(self._world)
        return np.array([decide(world).margin for world in self._singles])

    def _drawn(self) -> Worlds:
        if self._worlds is None:
            self._worlds = drawn_worlds(self._world, self._read)
        return self._worlds

    def _reason(self, expression: Expression, found: Finding, flip: float, max_flip: float) -> str:
        states, known = self._world.states, dict[str, Deviation]()
        for leaf in filter(self.concern, expression.leaves()):
            for name in (*leaf.predicate.subjects(), *leaf.predicate.frames()):
                covariance = states[name].pose_covariance if name in states else None
                if covariance is not None:
                    known[name] = deviation_of(covariance)
        worst = sorted(known.items(), key=lambda item: item[1], reverse=True)[:MOST_NAMED]
        named = " and ".join(
            f"{name} is measured to {1e3 * one.position_m:.2g} mm and {math.degrees(one.rotation_rad):.2g} deg"
            for name, one in worst
        )
        doubt = f"noise turns {found.truth.name} with probability {flip:.2f}, at most {max_flip:g} is allowed"
        return f"{doubt}: {named or 'parts are measured'}, the margin is {_with_unit(found)}; {found.reason}"


def read_by(leaves: Iterable[Leaf]) -> frozenset[str]:
    """Return the objects that predicates read, with those that give a frame.

    Args:
        leaves: The predicates.
    """
    predicates = [leaf.predicate for leaf in leaves]
    return frozenset(name for one in predicates for name in (*one.subjects(), *one.frames()))


def _advanced(predicate: LatchedPredicate, memory: object, world: World) -> Finding:
    return predicate.advance(memory, world)[0]


def _with_unit(found: Finding) -> str:
    units = {item.unit for item in found.evidence}
    return f"{found.margin:.2g} {units.pop() if len(units) == 1 else ''}".rstrip()


def _times(names: tuple[str, ...], memory: object) -> Array | None:
    """Return the memory of one world as that of many."""
    if not isinstance(memory, Mapping):
        return None
    return np.repeat([[float(memory.get(name, math.nan))] for name in names], SAMPLES, axis=1)
