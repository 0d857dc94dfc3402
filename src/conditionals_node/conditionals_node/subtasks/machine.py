"""The progress of a task in n worlds: one code for the monitor, where n is 1, and for batches. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conditionals_node.verdicts.truths import FALSE, TRUE, UNKNOWN, Mask, Truths
from handiwork_core.model.geometry import Array

from .group_run import Changes, GroupRun, Places, TruthOf
from .stages import Step, SubtaskStage


class StageRun:
    """The progress of one stage.

    Args:
        stage: The stage.
        n: Number of worlds.
    """

    def __init__(self, stage: SubtaskStage, n: int) -> None:
        self.stage = stage
        self.groups = [GroupRun(group, n) for group in stage.groups]

    @property
    def done(self) -> Mask:
        """True where enough groups are completed, (n,)."""
        return self.enough([run.done for run in self.groups])

    def enough(self, groups: Sequence[Mask]) -> Mask:
        """Return the worlds where enough groups have a property, (n,).

        Args:
            groups: The property of each group, (n,).
        """
        return np.asarray(np.sum(groups, axis=0) >= self.stage.needed)

    def score(self) -> Array:
        """Return the score of the stage, 0 to 1, (n,)."""
        return self.stage.score(np.stack([run.score() for run in self.groups]))

    def holds(self, truth: TruthOf) -> Truths:
        """Return whether enough completed groups still hold, in three values, (n,).

        Args:
            truth: Values of a condition on the present snapshot.
        """
        last = [np.where(run.done, truth(run.group.steps[-1]), FALSE) for run in self.groups]
        surely = self.enough([values == TRUE for values in last])
        perhaps = self.enough([values != FALSE for values in last])
        return np.where(surely, TRUE, np.where(perhaps, UNKNOWN, FALSE)).astype(np.int8)


class TaskRun:
    """The progress of a task: one stage at a time; a snapshot finishes at most one.

    Args:
        stages: The stages in order.
        n: Number of worlds.
    """

    def __init__(self, stages: Sequence[SubtaskStage], n: int = 1) -> None:
        self.stages = tuple(stages)
        self.runs = [StageRun(stage, n) for stage in stages]
        self.current: Places = np.zeros(n, dtype=np.int64)
        self.version = 0
        """Rises with every change of the progress."""
        self._scores: tuple[int, Array] = -1, np.zeros(n)
        self._any_done: tuple[int, bool] = -1, False

    @property
    def done(self) -> Mask:
        """True where all stages are finished, (n,)."""
        return np.asarray(self.current == len(self.runs))

    def groups(self) -> list[GroupRun]:
        """Return the groups of all stages."""
        return [group for run in self.runs for group in run.groups]

    def reset(self, rows: Mask) -> None:
        """Begin again in some worlds.

        Args:
            rows: The worlds, (n,).
        """
        self.current[rows] = 0
        self.version += 1
        for group in self.groups():
            group.reset(rows)

    def give(self, truth: TruthOf, rows: Mask) -> None:
        """Note the conditions that hold at the start; see ``GroupRun.give``.

        Args:
            truth: Values of a condition on the present snapshot.
            rows: The worlds that are at their start, (n,).
        """
        self.version += 1
        for group in self.groups():
            group.give(truth, rows)

    def score(self) -> Array:
        """Return the score of the task, 0 to 1, (n,); finished stages never go back."""
        if self._scores[0] != self.version:
            self._scores = self.version, self._scored(lambda run: run.full())
        return self._scores[1]

    def kept_score(self, truth: TruthOf) -> Array:
        """Return the score without what no longer holds: a completed group whose last condition is FALSE loses that.

        Args:
            truth: Values of a condition on the present snapshot.

        Returns:
            0 to 1, (n,).
        """
        if self._any_done[0] != self.version:
            self._any_done = self.version, bool((self.current > 0).any())
        return self._scored(lambda run: run.kept(truth)) if self._any_done[1] else self.score()

    def _scored(self, finished: Callable[[GroupRun], Array]) -> Array:
        total = sum(stage.weight for stage in self.stages)
        earned = np.zeros(len(self.current))
        for i, run in enumerate(self.runs):
            over, now = self.current > i, self.current == i
            if over.any():
                count = finished if run.stage.lasts else GroupRun.full
                full = run.stage.score(np.stack([count(group) for group in run.groups]))
                earned += np.where(over, full * run.stage.weight, 0.0)
            if now.any():
                earned += np.where(now, run.score() * run.stage.weight, 0.0)
        return np.where(self.done & (total == 0.0), 1.0, earned / max(total, 1e-9))

    def holds(self, truth: TruthOf) -> Truths:
        """Return whether the task is done, and every stage that must last still holds, in three values, (n,).

        Args:
            truth: Values of a condition on the present snapshot.
        """
        found = np.where(self.done, TRUE, FALSE).astype(np.int8)
        if not self.done.any():
            return found
        for run in self.runs:
            if run.stage.lasts:
                held = run.holds(truth)
                found = np.where((found == FALSE) | (held == FALSE), FALSE, np.minimum(found, held))
        return found.astype(np.int8)

    def update(self, truth: TruthOf, active: Mask | None = None) -> list[Changes]:
        """Update the running stage of each world on one snapshot.

        Args:
            truth: Values of a condition on the present snapshot.
            active: Worlds that are updated, (n,); None: all.

        Returns:
            The changes, in the order of the groups.
        """
        before, found = self.current.copy(), list[Changes | None]()
        for i, run in enumerate(self.runs):
            here = before == i if active is None else active & (before == i)
            if here.any():
                found += [group.update(truth, here) for group in run.groups]
                self.current += here & run.done
        earned = [group.earn(truth) for group in self.groups()]
        changed = [changes for changes in found if changes is not None]
        self.version += bool(changed or any(earned))
        return changed

    def missing(self, world: int = 0) -> Step | None:
        """Return the next condition of the first group that is not completed; None without such a group.

        Args:
            world: Index of the world.
        """
        if self.done[world]:
            return None
        groups = self.runs[int(self.current[world])].groups
        waiting = [group for group in groups if not group.done[world]]
        return waiting[0].group.steps[int(waiting[0].next[world])] if waiting else None
