"""A task that is watched in one world: its progress, its events and its verdict, snapshot after snapshot. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conditionals_node.doubt.doubts import Doubts
from conditionals_node.events.sight import Eyes
from conditionals_node.events.task_event import Event, EventCode
from conditionals_node.expressions.expression import Leaf
from conditionals_node.monitoring.evaluation import Evaluation
from conditionals_node.verdicts.life import Life
from conditionals_node.verdicts.truths import Truths
from handiwork_core.contracts.predicate import Predicate, Truth
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .judge import TaskJudge
from .success import INTRUDES
from .task import WatchedTask

OF_THE_TASK = (
    EventCode.CONDITION_GAINED,
    EventCode.CONDITION_LOST,
    EventCode.SUBTASK_DONE,
    EventCode.TASK_DONE,
    EventCode.TASK_CONFIRMED,
    EventCode.TASK_LOST,
)


@dataclass(frozen=True, slots=True)
class News:
    """The changes by one snapshot.

    Attributes:
        progressed: True when the progress or the verdict has changed.
        events: The events.
    """

    progressed: bool = False
    events: tuple[Event, ...] = ()


class TaskWatch:
    """A watched task. It shares the findings of ``evaluation``; ``close`` ends it.

    Args:
        task: The task.
        robot: Description of the robot.
        evaluation: Decides the conditions; it must have begun with each snapshot before ``update``.
        now_s: ROS time, s.
    """

    def __init__(self, task: WatchedTask, robot: Robot, evaluation: Evaluation, now_s: float) -> None:
        self.task, self._evaluation = task, evaluation
        self._max_flip = evaluation.max_flip if task.max_flip is None else task.max_flip
        self._eyes = Eyes(robot, task.rules.surfaces, task.rules.upright, self._max_flip)
        for expression in task.expressions.values():
            evaluation.add(expression)
        self.restart(now_s)

    def restart(self, now_s: float) -> None:
        """Begin again with the first stage.

        Args:
            now_s: ROS time, s.
        """
        self.judge = TaskJudge(self.task)
        self._evaluation.unlatch(self.task.expressions.values())
        self._names: tuple[str, ...] = ()
        self._shown: object = None
        self._perhaps: dict[str, str] = {}
        """The reasons for which noise does not exclude that others are where the task puts its own, by their names."""
        self._doubts: dict[str, str] = {}
        """The reasons of the conditions that noise has left open on this snapshot, by their keys."""
        self.since_s, self._now_s = now_s, now_s
        self.message = "nothing has happened yet"

    @property
    def score(self) -> float:
        """The score, 0 to 1; finished stages never go back."""
        return float(self.judge.run.score()[0])

    @property
    def life(self) -> Life:
        """The life of the verdict that the task is a success."""
        return self.judge.success.lives.of(0)

    @property
    def refusals(self) -> list[str]:
        """The reasons for which the task is not confirmed although its conditions hold, or held until noise."""
        doubts = (
            [f"{key} is open: {why}" for key, why in self._doubts.items()] if self.judge.run.done[0] else []
        )
        known = self.judge.success.refusals(self._names)
        for name, why in self._perhaps.items():
            known = [
                f"{name} may be there too: {why}" if one == f"{name} {INTRUDES}" else one for one in known
            ]
        return [*known, *doubts]

    def close(self) -> None:
        """Stop deciding the conditions of the task."""
        for expression in self.task.expressions.values():
            self._evaluation.drop(expression)

    def update(self, world: World, now_s: float) -> News:
        """Take one snapshot; when the time has jumped back, the task begins again.

        Args:
            world: The snapshot.
            now_s: ROS time, s.

        Returns:
            Whether the task progressed, and the events.
        """
        restarted = now_s < self._now_s
        if restarted:
            self.restart(now_s)
        self._now_s = now_s

        doubts, limit = Doubts(world), self._max_flip

        def decide(predicate: Predicate) -> Truths:
            """Decide whether another object is at a goal: it is where noise does not exclude it."""
            found = predicate.evaluate(world)
            if doubts.noisy:
                about = predicate.subjects()
                leaf = Leaf(f"{predicate.name} {about}", predicate.name, "", predicate)
                judged = doubts.judged(leaf, lambda _, found=found: found, limit)  # type: ignore[misc]
                if judged.is_in_doubt:
                    self._perhaps[about[0]] = judged.reason
                    return np.array([int(Truth.TRUE)], dtype=np.int8)
            return np.array([int(found.truth)], dtype=np.int8)

        sight = self._eyes.look(world)
        self._names, self._doubts, self._perhaps = sight.names, {}, {}
        events = self.judge.update(self._truth, sight, decide).events.of(0)
        own = [event for event in events if event.code in OF_THE_TASK]
        if own:
            self.since_s, self.message = now_s, own[-1].message
        success = self.judge.success
        known = self.judge.success.refusals(self._names), *self._doubts  # no numbers, which differ each time
        shown = (bool(success.unwinnable[0]), bool(success.lives.since_s[0] >= 0.0), known)
        changed, self._shown = shown != self._shown, shown
        return News(bool(own) or restarted or changed, events)

    def _truth(self, key: str) -> Truths:
        found = self._evaluation.judged(self.task.expressions[key], self.task.max_flip)
        if found.is_in_doubt:
            self._doubts[key] = found.reason
        return np.array([int(found.truth)], dtype=np.int8)
