"""A task that is watched: its progress and its events, snapshot after snapshot. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from conditionals_node.events.sight import Aim, Eyes
from conditionals_node.events.task_event import Event, EventCode
from conditionals_node.events.tracker import EventTracker
from conditionals_node.monitoring.evaluation import Evaluation
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .machine import Change, Step, TaskRun
from .task import WatchedTask


@dataclass(frozen=True, slots=True)
class News:
    """The changes by one snapshot.

    Attributes:
        progressed: True when the progress has changed.
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
        self._eyes = Eyes(robot, task.rules.surfaces)
        for expression in task.expressions.values():
            evaluation.add(expression)
        self.restart(now_s)

    def restart(self, now_s: float) -> None:
        """Begin again with the first stage.

        Args:
            now_s: ROS time, s.
        """
        self.run = TaskRun(self.task.stages)
        self._tracker = EventTracker(self.task.rules)
        self.since_s, self._now_s = now_s, now_s
        self.message = "nothing has happened yet"

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
        stage = self.run.current
        changes = self.run.update(self._truth)
        events = [_event_of(change, world.stamp_s) for change in changes]
        if self.run.current > stage:
            events.append(self._finished(stage, world.stamp_s))
        # After the task, so that an object that has just arrived does not count as dropped.
        events += self._tracker.update(self._eyes.look(world, self._aim(stage)))
        if changes:
            self.since_s, self.message = now_s, events[len(changes) - 1 + (self.run.current > stage)].message
        return News(bool(changes) or restarted, tuple(events))

    def _truth(self, step: Step) -> Truth:
        return self.task.expressions[step.key].decide(self._evaluation).truth

    def _finished(self, stage: int, stamp_s: float) -> Event:
        name = self.task.stages[stage].name
        if self.run.done:
            return Event(
                EventCode.TASK_DONE, stamp_s, "", f"{name} is done, and with it {self.task.name}", 1.0
            )
        text = f"{name} is done; now {self.task.stages[self.run.current].name}"
        return Event(EventCode.SUBTASK_DONE, stamp_s, "", text, self.run.score())

    def _aim(self, stage: int) -> Aim:
        """Return the aim of the stage that ran at the beginning of this snapshot."""
        if stage >= len(self.task.aims):
            return Aim()
        aims, groups = self.task.aims[stage], self.run.runs[stage].groups
        settled = [moved for moved, group in zip(aims.moved, groups, strict=True) if group.released]
        return Aim(frozenset().union(*aims.moved), aims.goals, frozenset().union(*settled))


def _event_of(change: Change, stamp_s: float) -> Event:
    key, name = change.step.key, change.group.name
    if not change.gained:
        text = f"{name}: no longer {key}"
        return Event(EventCode.CONDITION_LOST, stamp_s, name, text, math.nan)
    skipped = change.end - change.first - 1
    more = f", and with it {skipped} before" if skipped and change.group.skip else ""
    return Event(EventCode.CONDITION_GAINED, stamp_s, name, f"{name}: {key}{more}", math.nan)
