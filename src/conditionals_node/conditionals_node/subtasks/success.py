"""The rules by which a done task is a success, and the verdict on it in n worlds. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conditionals_node.events.happened import named
from conditionals_node.events.sight import Sight
from conditionals_node.predicates.counting import Logical
from conditionals_node.predicates.measured import Relation
from conditionals_node.verdicts.life import REST_MPS, REST_S, Lives
from conditionals_node.verdicts.truths import TRUE, Mask, Truths
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.model.geometry import Array

from .carries import Carries, length
from .group_run import TruthOf
from .machine import TaskRun

INTRUDES = "was put there too"
"""The words about an object that was put where the task puts its own."""
Decide = Callable[[Predicate], Truths]
"""Decides a predicate on the present snapshot, (n,)."""


@dataclass(frozen=True, slots=True)
class SuccessRules:
    """The options of a task that say when it is a success. ``ORIGINAL`` has those of RoboLab.

    Attributes:
        require_stationary: True to confirm only while the objects that the task has moved are at rest.
        rest_mps: Speed below which an object is at rest, m/s.
        confirm_s: Time for which the task must hold, at rest if that is required, to be confirmed, s.
        settle_s: Time after the first snapshot with a known object in which nothing is gained, s; conditions that hold
            in it earn nothing until they have ceased to hold. 0: everything counts from the first snapshot on.
        exclusive: True when no other object may be put where the task puts its own.
        by_robot: True when objects must be carried there by a hand: one that is ``push_m`` from its start without
            having been carried was pushed.
        push_m: The way, m.
        carry_s: Time for which a hand must squeeze an object without a break to carry it, s.
        carry_m: Way that the object must make meanwhile, m.
        drift_m: Way in the hand from which an object does not follow it: time and way of the carrying begin again. Only
            where the pose of the hand is known, m.
        sink_m: Depth below its start, and below all goals, from which an object is lost, m.
    """

    require_stationary: bool = True
    rest_mps: float = REST_MPS
    confirm_s: float = REST_S
    settle_s: float = 1.0
    exclusive: bool = True
    by_robot: bool = True
    push_m: float = 0.05
    carry_s: float = 0.2
    carry_m: float = 0.01
    drift_m: float = 0.005
    sink_m: float = 0.15

    def __post_init__(self) -> None:
        names = ("rest_mps", "confirm_s", "settle_s", "push_m", "carry_s", "carry_m", "drift_m", "sink_m")
        for name in names:
            if not 0.0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name}: is {getattr(self, name):g}; write 0 or more")


ORIGINAL = SuccessRules(
    require_stationary=False, confirm_s=0.0, settle_s=0.0, exclusive=False, by_robot=False
)
"""The rules of RoboLab 0.2.1: success is the first frame in which all conditions hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """A place where the task puts objects.

    Attributes:
        predicate: TRUE of an object that is there.
        allowed: Objects that the task puts there.
    """

    predicate: Relation
    allowed: frozenset[str]

    def about(self, other: str) -> Relation:
        """Return the predicate about another object.

        Args:
            other: Its name.
        """
        return replace(self.predicate, object=other, logical=Logical.ALL, K=1)


class Success:
    """The verdict on one task in n worlds.

    Args:
        rules: The options of the task.
        goals: The places where it puts objects.
        moved: Objects that it moves, by stage and group.
        n: Number of worlds.
    """

    def __init__(
        self, rules: SuccessRules, goals: Sequence[Goal], moved: Sequence[Sequence[frozenset[str]]], n: int
    ) -> None:
        self.rules, self._goals, self._moved, self._n = rules, goals, moved, n
        self.lives = Lives(n, rules.confirm_s)
        self.end_score: Array = np.zeros(n)
        self.peak_score: Array = np.zeros(n)
        self.unwinnable: Mask = np.zeros(n, dtype=bool)
        self.pushed: Mask = np.zeros((0, n), dtype=bool)
        """Objects that were moved, but not carried, (m, n)."""
        self.intruding: Mask = np.zeros((0, n), dtype=bool)
        """Other objects that were put where the task puts its own, (m, n)."""
        self.restless: Mask = np.zeros((0, n), dtype=bool)
        """Objects that the task has moved, and that are not at rest, (m, n)."""
        self.nothing_done: Mask = np.zeros(n, dtype=bool)
        self._refused = False
        self._carries = Carries(rules, n)
        self._start_m: Array = np.zeros((0, n, 3))
        self._start_room_m: Array = np.zeros((0, n))
        self._before: dict[tuple[int, str], Mask] = {}
        self._predicates: dict[tuple[int, str], Predicate] = {}

    def reset(self, rows: Mask) -> None:
        """Begin again in some worlds.

        Args:
            rows: The worlds, (n,).
        """
        self.lives.reset(rows)
        # New arrays: those of the step before may be kept by a caller.
        self.end_score = np.where(rows, 0.0, self.end_score)
        self.peak_score = np.where(rows, 0.0, self.peak_score)
        self.unwinnable, self.nothing_done = self.unwinnable & ~rows, self.nothing_done & ~rows
        for flags in (self.pushed, self.intruding, self.restless):
            flags[:, rows] = False
        self._carries.reset(rows)
        self._start_m[:, rows] = np.nan
        for there in self._before.values():
            there[rows] = False

    def begin(self, sight: Sight, decide: Decide, rows: Mask) -> None:
        """Note how worlds are at their start: where objects are, and which are at a goal already.

        Args:
            sight: The observations.
            decide: Decides a predicate on the present snapshot.
            rows: The worlds that are at their start, (n,).
        """
        self._grow(len(sight.names))
        self._start_m[:, rows] = sight.place_m[:, rows]
        self._start_room_m = np.where(rows, sight.place_room_m, self._start_room_m)
        if self.rules.exclusive:
            for key, predicate in self._others(sight):
                there = self._before.setdefault(key, np.zeros(self._n, dtype=bool))
                there |= rows & (decide(predicate) == TRUE)

    def update(self, run: TaskRun, truth: TruthOf, sight: Sight, decide: Decide) -> None:
        """Judge the present snapshot.

        Args:
            run: The progress of the task, which has taken this snapshot.
            truth: Values of a step's condition on it.
            sight: The observations.
            decide: Decides a predicate on it.
        """
        self._grow(len(sight.names))
        fresh = np.isnan(self._start_m) & ~np.isnan(sight.place_m)
        self._start_m = np.where(fresh, sight.place_m, self._start_m)
        self._start_room_m = np.where(fresh[..., 0], sight.place_room_m, self._start_room_m)
        self._carries.update(sight)
        holds = run.holds(truth)
        self.end_score = run.kept_score(truth)
        self.peak_score = np.maximum(self.peak_score, self.end_score)
        self._judge_objects(run, sight, decide, holds == TRUE)
        self._judge_hope(run, sight)
        calm = ~self.nothing_done
        for refused in (self.pushed, self.intruding, self.restless):
            if refused.any():
                calm &= ~refused.any(axis=0)
        self._refused = not calm.all()
        self.lives.update(sight.stamp_s, holds, calm)

    def refusals(self, names: Sequence[str], world: int = 0) -> list[str]:
        """Return why the task is not confirmed in a world although its conditions hold.

        Args:
            names: Names of the objects.
            world: Index of the world.
        """
        if not self._refused:
            return []
        found = ["all its conditions held at the start"] if self.nothing_done[world] else []
        for flags, text in (
            (self.pushed, "was moved, but no hand carried it"),
            (self.intruding, INTRUDES),
            (self.restless, "is not at rest"),
        ):
            found += [f"{name} {text}" for name in named(names, flags[:, world])]
        return found

    def _grow(self, m: int) -> None:
        more = m - len(self.pushed)
        if more > 0:
            for key in ("pushed", "intruding", "restless"):
                flags = np.concatenate([getattr(self, key), np.zeros((more, self._n), dtype=bool)])
                setattr(self, key, flags)
            self._start_m = np.concatenate([self._start_m, np.full((more, self._n, 3), np.nan)])
            self._start_room_m = np.concatenate([self._start_room_m, np.zeros((more, self._n))])

    def _others(self, sight: Sight) -> list[tuple[tuple[int, str], Predicate]]:
        """Return the predicates about objects that a goal is not for."""
        found = []
        for i, goal in enumerate(self._goals):
            out = goal.allowed | frozenset(goal.predicate.references())
            for name, movable in zip(sight.names, sight.movable, strict=True):
                if movable and name not in out:
                    key = (i, name)
                    if key not in self._predicates:
                        self._predicates[key] = goal.about(name)
                    found.append((key, self._predicates[key]))
        return found

    def _judge_objects(self, run: TaskRun, sight: Sight, decide: Decide, holds: Mask) -> None:
        none = np.zeros_like(self.pushed)
        self.pushed, self.intruding, self.restless = none, none, none
        if not holds.any():
            self.nothing_done = np.zeros(self._n, dtype=bool)
            return
        self.nothing_done = holds & np.all([g.given[-1] | ~g.done for g in run.groups()], axis=0)
        targets = holds & self._targets(run, sight)
        if self.rules.require_stationary:
            self.restless = targets & ~(sight.speed_mps < self.rules.rest_mps)
        if self.rules.by_robot:
            # As with ``exclusive``, what noise does not exclude counts.
            room_m = np.hypot(self._start_room_m, sight.place_room_m)
            far = length(sight.place_m - self._start_m) + room_m >= self.rules.push_m
            self.pushed = targets & far & ~self._carries.carried
        if self.rules.exclusive:
            row = {name: i for i, name in enumerate(sight.names)}
            intruding = none.copy()
            for (i, name), predicate in self._others(sight):
                before = self._before.get((i, name), False)
                intruding[row[name]] |= holds & (decide(predicate) == TRUE) & ~np.asarray(before)
            self.intruding = intruding

    def _targets(self, run: TaskRun, sight: Sight) -> Mask:
        """Return the movable objects of completed groups of the stages that last, (m, n)."""
        found = np.zeros_like(self.pushed)
        for stage, moved in zip(run.runs, self._moved, strict=True):
            if stage.stage.lasts:
                for group, names in zip(stage.groups, moved, strict=True):
                    found |= sight.rows(names)[:, None] & group.done
        return found & sight.movable[:, None]

    def _judge_hope(self, run: TaskRun, sight: Sight) -> None:
        """Find the worlds where too many objects lie too low for the task to be finished."""
        lows: Array = np.full(self._n, np.inf)
        for goal in self._goals:
            places = sight.place_m[sight.rows(goal.predicate.references()), :, 2]
            lows = np.fmin(lows, np.fmin.reduce(places, axis=0, initial=np.inf))
        room_m = np.hypot(self._start_room_m, sight.place_room_m)
        limit = np.fmin(self._start_m[..., 2], lows) - self.rules.sink_m - room_m
        lost = sight.movable[:, None] & ~sight.gripped & (sight.place_m[..., 2] < limit)
        self.unwinnable = np.zeros(self._n, dtype=bool)
        if not lost.any():
            return
        for i, (stage, moved) in enumerate(zip(run.runs, self._moved, strict=True)):
            chances = [
                group.done | ~(lost & sight.rows(names)[:, None]).any(axis=0)
                for group, names in zip(stage.groups, moved, strict=True)
            ]
            self.unwinnable |= (run.current <= i) & ~stage.enough(chances)
