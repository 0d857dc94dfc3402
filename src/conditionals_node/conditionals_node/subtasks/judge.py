"""A task in n worlds, snapshot after snapshot: progress, events and the verdict. Pure.

The monitor uses it with one world, a batch with many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conditionals_node.events.happened import Happened, Raised
from conditionals_node.events.sight import Aim, Sight
from conditionals_node.events.task_event import EventCode
from conditionals_node.events.tracker import EventTracker
from conditionals_node.verdicts.life import ROUND_OFF_S
from conditionals_node.verdicts.truths import Mask, Truths
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.model.geometry import Array

from .group_run import Changes, Places
from .machine import TaskRun
from .stages import Step
from .success import Decide, Success
from .task import WatchedTask

COLLATERAL = (
    EventCode.OBJECT_BUMPED,
    EventCode.OBJECT_MOVED,
    EventCode.OBJECT_TIPPED_OVER,
    EventCode.OBJECT_OUT_OF_SCENE,
)
"""Events of which each disturbs another object."""
NOBODY, NO_VALUE = -1, np.nan
GAINS, DONE, VERDICT = -2, -1, 100
"""Places of these events among those of an instant; the events of the objects come between."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The news of one instant.

    Attributes:
        changes: The changes of the groups.
        events: The events of the task, then those of the objects.
    """

    changes: list[Changes]
    events: Happened


class TaskJudge:
    """Judges a task in n worlds.

    Args:
        task: The task.
        n: Number of worlds.
    """

    def __init__(self, task: WatchedTask, n: int = 1) -> None:
        self.task, self._n = task, n
        self.run = TaskRun(task.stages, n)
        self.success = Success(task.success, task.goals, [aims.moved for aims in task.aims], n)
        self.collateral: Places = np.zeros(n, dtype=np.int64)
        """Number of times that other objects were bumped, moved, tipped over or brought out of the scene, (n,)."""
        self._tracker = EventTracker(task.rules, n)
        self._start_s: Array = np.full(n, np.nan)
        self._aimed: tuple[object, Aim] | None = None

    def reset(self, rows: Mask) -> None:
        """Begin again in some worlds; their next snapshot is the first.

        Args:
            rows: The worlds, (n,).
        """
        self.run.reset(rows)
        self.success.reset(rows)
        self._tracker.reset(rows)
        self._start_s[rows], self.collateral = np.nan, np.where(rows, 0, self.collateral)

    def update(self, truth: Callable[[str], Truths], sight: Sight, decide: Decide) -> Judged:
        """Take one snapshot.

        Args:
            truth: Values of a condition on it by the key of a step, (n,).
            sight: The observations.
            decide: Decides other predicates on it.

        Returns:
            The news.
        """
        known: dict[str, Truths] = {}
        decided: dict[int, Truths] = {}

        def of(step: Step) -> Truths:
            if step.key not in known:
                known[step.key] = truth(step.key)
            return known[step.key]

        def once(predicate: Predicate) -> Truths:
            # By identity, since the predicates about other objects are kept and compare slowly.
            if id(predicate) not in decided:
                decided[id(predicate)] = decide(predicate)
            return decided[id(predicate)]

        settled = self._settle(of, sight, once)
        stage = self.run.current.copy()
        changes = self.run.update(of, settled)
        events = Happened()
        _add_changes(events, changes, sight.stamp_s)
        self._add_finished(events, stage, sight.stamp_s)
        # After the task, so that an object that has just arrived does not count as dropped.
        # Objects that settle after a reset were not pushed.
        events.raised += self._tracker.update(sight, self._aim(stage, sight), settled).raised
        self.collateral = self.collateral + events.count(COLLATERAL, self._n)
        before = self.success.lives.at_end
        self.success.update(self.run, of, sight, once)
        self._add_verdicts(events, before, sight.stamp_s)
        return Judged(changes, events)

    def _settle(self, truth: Callable[[Step], Truths], sight: Sight, decide: Decide) -> Mask:
        """Note how worlds are at their start; return those where something may be gained."""
        settle_s = self.task.success.settle_s
        first = np.isnan(self._start_s) & self._is_seen(sight)
        self._start_s = np.where(first, sight.stamp_s, self._start_s)
        settled = sight.stamp_s - self._start_s >= settle_s - ROUND_OFF_S
        starting = (first | ~settled) if settle_s > 0.0 else first
        if starting.any():
            self.success.begin(sight, decide, starting)
            if settle_s > 0.0:
                self.run.give(truth, starting)
        return np.asarray(settled)

    def _is_seen(self, sight: Sight) -> Mask:
        """Return the worlds of which something is known: a task does not start before its objects."""
        if not any(aims.goals or any(aims.moved) for aims in self.task.aims):
            return np.ones(self._n, dtype=bool)
        return np.asarray((sight.solid[:, None] & ~np.isnan(sight.place_m[..., 0])).any(axis=0))

    def _aim(self, stage: Places, sight: Sight) -> Aim:
        """Return the aims of the stages that ran at the beginning of this snapshot; those before if all is as then."""
        now = (self.run.version, len(sight.names), stage.tobytes())
        if self._aimed is None or self._aimed[0] != now:
            self._aimed = now, self._new_aim(stage, sight)
        return self._aimed[1]

    def _new_aim(self, stage: Places, sight: Sight) -> Aim:
        shape = (len(sight.names), self._n)
        intended, goals, settled = (np.zeros(shape, dtype=bool) for _ in range(3))
        for i, (aims, run) in enumerate(zip(self.task.aims, self.run.runs, strict=True)):
            here = stage == i
            if here.any():
                goals |= sight.rows(aims.goals)[:, None] & here
                for names, group in zip(aims.moved, run.groups, strict=True):
                    moved = sight.rows(names)[:, None]
                    intended |= moved & here
                    settled |= moved & (here & group.released)
        return Aim(intended, goals, settled)

    def _add_finished(self, events: Happened, stage: Places, stamp_s: Array) -> None:
        if (stage == self.run.current).all():
            return
        for i, of in enumerate(self.task.stages):
            finished = (stage == i) & (self.run.current > i)
            if finished.any():
                name, is_last = of.name, i + 1 == len(self.task.stages)
                code = EventCode.TASK_DONE if is_last else EventCode.SUBTASK_DONE
                task = self.task.name
                text = f"with it {task}" if is_last else f"now {self.task.stages[i + 1].name}"
                text = f"{name} is done, and {text}" if is_last else f"{name} is done; {text}"
                score = np.ones(self._n) if is_last else self.run.score()
                _add(events, code, DONE, finished, text, stamp_s, score)

    def _add_verdicts(self, events: Happened, before: Mask, stamp_s: Array) -> None:
        after, name = self.success.lives.at_end, self.task.name
        if (after == before).all():
            return
        _add(events, EventCode.TASK_CONFIRMED, VERDICT, after & ~before, f"{name} is confirmed", stamp_s)
        _add(events, EventCode.TASK_LOST, VERDICT, before & ~after, f"{name} is no longer confirmed", stamp_s)


def _add(
    events: Happened,
    code: EventCode,
    order: int,
    where: Mask,
    text: str,
    stamp_s: Array,
    value: Array | None = None,
) -> None:
    world = np.flatnonzero(where)
    values = np.full(len(world), NO_VALUE) if value is None else value[world]
    subject, at_s = np.full(len(world), NOBODY), stamp_s[world]
    events.add(Raised(code, order, (), world, subject, values, at_s, at_s, lambda *_: text))


def _add_changes(events: Happened, changes: list[Changes], stamp_s: Array) -> None:
    for change in changes:
        for code, where in (
            (EventCode.CONDITION_GAINED, change.gained),
            (EventCode.CONDITION_LOST, change.lost),
        ):
            world = np.flatnonzero(where)
            subject, value = np.zeros(len(world), dtype=np.int64), np.full(len(world), NO_VALUE)
            at_s, name = stamp_s[world], (change.group.name,)
            events.add(
                Raised(code, GAINS, name, world, subject, value, at_s, at_s, _change_words(change, code))
            )


def _change_words(change: Changes, code: EventCode) -> Callable[[int, str, float], str]:
    def words(world: int, name: str, _: float) -> str:
        key = change.step(world).key
        if code is EventCode.CONDITION_LOST:
            return f"{name}: no longer {key}"
        skipped = int(change.end[world] - change.first[world]) - 1
        more = f", and with it {skipped} before" if skipped and change.group.skip else ""
        return f"{name}: {key}{more}"

    return words
