"""The progress of a group of conditions in n worlds. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from conditionals_node.verdicts.truths import FALSE, TRUE, Mask, Truths
from handiwork_core.model.geometry import Array

from .stages import Group, Step

Places: TypeAlias = NDArray[np.int64]
TruthOf = Callable[[Step], Truths]


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The changes of a group by one snapshot of n worlds.

    Attributes:
        group: The group.
        gained: Worlds where conditions were completed, (n,).
        lost: Worlds where they were lost, (n,).
        first: Index of the first of these conditions, (n,).
        end: Index behind the last of them, (n,).
    """

    group: Group
    gained: Mask
    lost: Mask
    first: Places
    end: Places

    def step(self, world: int) -> Step:
        """Return the condition that made the change: the last gained or the first lost.

        Args:
            world: Index of a world with a change.
        """
        return self.group.steps[int(self.end[world]) - 1 if self.gained[world] else int(self.first[world])]


class GroupRun:
    """The progress of one group.

    Args:
        group: The group.
        n: Number of worlds.
    """

    def __init__(self, group: Group, n: int) -> None:
        self.group, count = group, len(group.steps)
        self.next: Places = np.zeros(n, dtype=np.int64)
        self.completed: Mask = np.zeros((count, n), dtype=bool)
        self.given: Mask = np.zeros((count, n), dtype=bool)
        """Conditions that held from the start on, and so earn nothing, (conditions, n)."""
        self._fell: Mask = np.zeros((count, n), dtype=bool)
        self._any_given = False
        self._index = np.arange(count)[:, None]
        self._shares = np.array(group.shares())[:, None]
        self._releases = np.array([step.releases for step in group.steps])[:, None]

    @property
    def done(self) -> Mask:
        """True once the last condition has held, (n,); from then on nothing is lost."""
        return np.asarray(self.next == len(self.completed))

    @property
    def released(self) -> Mask:
        """True once the object may be let go, (n,)."""
        return np.asarray(self.done | (self._releases & self.completed).any(axis=0))

    def score(self) -> Array:
        """Return the score, 0 to 1, (n,), without the conditions that held from the start on."""
        if not self._any_given:
            return np.asarray(
                np.where(self.done & (self._shares.sum() > 0.0), 1.0, self._sum(self.completed))
            )
        return self._sum(self.completed & ~self.given)

    def full(self) -> Array:
        """Return the score as a part of a finished stage, which counts in full also where nothing is weighed, (n,)."""
        return np.where(self.done, 1.0 - self._sum(self.given), self.score())

    def kept(self, truth: TruthOf) -> Array:
        """Return ``full`` without the last condition where it no longer holds, (n,).

        Args:
            truth: Values of a condition on the present snapshot.
        """
        if not self.done.any():
            return self.full()
        gone = self.done & (truth(self.group.steps[-1]) == FALSE) & ~self.given[-1]
        return np.where(gone, self.full() - self._shares[-1], self.full())

    def reset(self, rows: Mask) -> None:
        """Begin again in some worlds.

        Args:
            rows: The worlds, (n,).
        """
        self.next[rows] = 0
        for state in (self.completed, self.given, self._fell):
            state[:, rows] = False
        self._any_given = bool(self.given.any())

    def give(self, truth: TruthOf, rows: Mask) -> None:
        """Note the conditions that hold at the start: they earn nothing until they have ceased to hold.

        Args:
            truth: Values of a condition on the present snapshot.
            rows: The worlds that are at their start, (n,).
        """
        for i, step in enumerate(self.group.steps):
            self.given[i] |= rows & (truth(step) == TRUE)
        self._any_given = bool(self.given.any())

    def earn(self, truth: TruthOf) -> bool:
        """Let conditions that held at the start earn again once they have ceased to hold, and hold again.

        Args:
            truth: Values of a condition on the present snapshot.

        Returns:
            True when one earns again.
        """
        if not self._any_given:
            return False
        before = int(self.given.sum())
        for i, step in enumerate(self.group.steps):
            if self.given[i].any():
                values = truth(step)
                self.given[i] &= ~(self._fell[i] & (values == TRUE))
                self._fell[i] = self.given[i] & (self._fell[i] | (values == FALSE))
        after = int(self.given.sum())
        self._any_given = after > 0
        return after < before

    def update(self, truth: TruthOf, active: Mask) -> Changes | None:
        """Go forward where a condition holds, else back to the first of those before that have ceased to hold.

        Args:
            truth: Values of a condition on the present snapshot. UNKNOWN changes nothing.
            active: Worlds that are updated, (n,).

        Returns:
            The changes; None without one.
        """
        before = self.next
        able = active & ~self.done
        if not able.any():
            return None
        ahead = self._ahead(truth, able)
        gained = ahead > before
        back = self._back(truth, able & ~gained)
        lost = back < before
        if not (gained | lost).any():
            return None
        self.completed |= gained & (before <= self._index) & (self._index < ahead)
        self.completed &= ~(lost & (back <= self._index))
        self.next = np.where(gained, ahead, back)
        return Changes(self.group, gained, lost, np.where(lost, back, before), np.where(lost, before, ahead))

    def _ahead(self, truth: TruthOf, able: Mask) -> Places:
        """Return the furthest place that the conditions allow; a condition that decides nothing is not evaluated."""
        ahead = self.next
        for i, step in enumerate(self.group.steps):
            asked = able & ((ahead <= i) if self.group.skip else (ahead == i))
            if asked.any():
                ahead = np.where(asked & (truth(step) == TRUE), i + 1, ahead)
        return ahead

    def _back(self, truth: TruthOf, able: Mask) -> Places:
        back = self.next
        for i in reversed(range(len(self.group.steps))):
            asked = able & (back == i + 1)
            if asked.any():
                back = np.where(asked & (truth(self.group.steps[i]) == FALSE), i, back)
        return back

    def _sum(self, held: Mask) -> Array:
        return np.asarray((self._shares * held).sum(axis=0))
