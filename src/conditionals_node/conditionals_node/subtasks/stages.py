"""The parts of a task: stages one after the other, groups side by side, conditions in order. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conditionals_node.predicates.counting import Logical
from handiwork_core.model.geometry import Array


@dataclass(frozen=True, slots=True)
class Step:
    """A condition of a sequence.

    Attributes:
        key: Key of the condition.
        weight: Its part in the group's score, 0 or more.
        releases: True when the object is in its place, and may be let go, once this has held.
    """

    key: str
    weight: float = 1.0
    releases: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Conditions in order.

    Attributes:
        name: Name of the group.
        steps: The conditions.
        skip: True when a later condition that holds completes those before it; else each must have held in its
            turn.

    Raises:
        ValueError: There are no conditions, or a weight is negative.
    """

    name: str
    steps: tuple[Step, ...]
    skip: bool = False

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError(f"group {self.name!r} has no conditions; give it one")
        if min(step.weight for step in self.steps) < 0.0:
            raise ValueError(f"group {self.name!r}: a score is negative; write 0 or more")

    def shares(self) -> tuple[float, ...]:
        """Return the weights, scaled to a sum of one; all are zero where all weights are."""
        total = max(sum(step.weight for step in self.steps), 1e-9)
        return tuple(step.weight / total for step in self.steps)


@dataclass(frozen=True, slots=True)
class SubtaskStage:
    """Groups side by side.

    Attributes:
        name: Name of the stage.
        groups: The groups.
        logical: The number of groups that must be completed.
        k: This number for ``CHOOSE``; else it does not count.
        weight: Share in the task's score, 0 to 1.
        lasts: True when the last conditions of its groups must still hold at the end of the task.

    Raises:
        ValueError: There are no groups, or a number is out of its range.
    """

    name: str
    groups: tuple[Group, ...]
    logical: Logical = Logical.ALL
    k: int = 1
    weight: float = 1.0
    lasts: bool = True

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("groups: is empty; give at least one")
        if self.logical is Logical.CHOOSE and not 1 <= self.k <= len(self.groups):
            raise ValueError(f"K: is {self.k}; with {len(self.groups)} groups write 1 to {len(self.groups)}")
        if not 0.0 <= self.weight <= 1.0:
            raise ValueError(f"score: is {self.weight:g}; write 0 to 1")

    @property
    def needed(self) -> int:
        """The number of groups that must be completed; ``choose`` means K groups or more."""
        return self.logical.bounds(len(self.groups), self.k)[0]

    def score(self, scores: Array) -> Array:
        """Return the score of the stage, 0 to 1: the mean of the best groups, as many as are needed.

        Args:
            scores: Scores of all groups, 0 to 1, (groups, n).

        Returns:
            One score for each of the n worlds.
        """
        best = np.sort(scores, axis=0)[::-1][: self.needed]
        return np.asarray(best.sum(axis=0) / self.needed)
