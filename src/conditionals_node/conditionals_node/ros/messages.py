"""Conversions of watched conditions, events and progress to messages."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Time
from handiwork_msgs.msg import Condition as ConditionMsg
from handiwork_msgs.msg import Subtask, SubtaskGroup, TaskEvent, TaskProgress, Verdict

from conditionals_node.events.task_event import Event
from conditionals_node.monitoring.monitor import ConditionStatus
from conditionals_node.subtasks.machine import StageRun
from conditionals_node.subtasks.watch import TaskWatch
from conditionals_node.verdicts.life import Life
from handiwork_ros.conversions import finding_to_msg, time_to_msg


def shown_to_msg(shown: ConditionStatus) -> ConditionMsg:
    """Return the finding with the name, arguments and times of its condition.

    Args:
        shown: State of a condition.
    """
    message = finding_to_msg(shown.finding)
    condition = shown.condition
    message.key, message.name, message.args = condition.key, condition.name, condition.args
    message.expression = condition.expression.key
    message.since, message.stamp = time_to_msg(shown.since_s), time_to_msg(shown.stamp_s)
    message.verdict = life_to_msg(shown.life)
    return message


def life_to_msg(life: Life) -> Verdict:
    """Return the life of a verdict as a message; times that are not known are zero.

    Args:
        life: The life.
    """
    first, since, confirmed = (
        Time() if math.isnan(at_s) else time_to_msg(at_s)
        for at_s in (life.first_true_s, life.since_s, life.confirmed_s)
    )
    return Verdict(
        first_true=first,
        since=since,
        confirmed=confirmed,
        longest=life.longest_s,
        at_peak=life.at_peak,
        at_end=life.at_end,
    )


class ShownMessages:
    """Messages of conditions, which are made again only where the finding has changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[ConditionStatus, ConditionMsg]] = {}
        self._stamp_s, self._stamp = 0.0, Time()

    def all(self, shown: list[ConditionStatus]) -> list[ConditionMsg]:
        """Return one message for each condition, in order.

        Args:
            shown: States of the conditions; messages of conditions that are not among them are dropped.
        """
        self._kept = {item.condition.key: (item, self._one(item)) for item in shown}
        return [message for _, message in self._kept.values()]

    def _one(self, item: ConditionStatus) -> ConditionMsg:
        was, message = self._kept.get(item.condition.key, (None, None))
        same = was is not None and was.condition is item.condition and was.finding is item.finding
        if message is None or was is None or not same or was.since_s != item.since_s:
            return shown_to_msg(item)
        if item.stamp_s != self._stamp_s:
            self._stamp_s, self._stamp = item.stamp_s, time_to_msg(item.stamp_s)
        message.stamp, message.verdict = self._stamp, life_to_msg(item.life)
        return message


def event_to_msg(event: Event) -> TaskEvent:
    """Return an event as a message.

    Args:
        event: The event.
    """
    return TaskEvent(
        stamp=time_to_msg(event.stamp_s),
        onset=time_to_msg(event.stamp_s if math.isnan(event.onset_s) else event.onset_s),
        code=int(event.code),
        name=event.code.name.lower(),
        object=event.subject,
        value=float(event.value),
        message=event.message,
    )


def progress_to_msg(watch: TaskWatch | None, stamp_s: float) -> TaskProgress:
    """Return the progress of a task as a message.

    Args:
        watch: The watched task; None gives a message without a name.
        stamp_s: Time of the message, s.
    """
    message = TaskProgress()
    message.header.frame_id, message.header.stamp = "world", time_to_msg(stamp_s)
    if watch is None:
        return message
    run, success = watch.judge.run, watch.judge.success
    message.name, message.current, message.done = watch.task.name, int(run.current[0]), bool(run.done[0])
    message.subtasks = [_subtask_to_msg(stage, i < message.current) for i, stage in enumerate(run.runs)]
    message.score, message.since, message.message = watch.score, time_to_msg(watch.since_s), watch.message
    message.verdict, message.refusals = life_to_msg(watch.life), watch.refusals
    message.end_score, message.peak_score = float(success.end_score[0]), float(success.peak_score[0])
    message.unwinnable = bool(success.unwinnable[0])
    message.collateral = int(watch.judge.collateral[0])
    return message


def _subtask_to_msg(run: StageRun, done: bool) -> Subtask:
    stage = run.stage
    message = Subtask(
        name=stage.name, logical=stage.logical.value, at_least=stage.needed, weight=stage.weight
    )
    message.done = done
    message.score = float(run.score()[0])
    message.groups = [
        SubtaskGroup(
            name=group.group.name,
            conditions=[step.key for step in group.group.steps],
            completed=group.completed[:, 0].tolist(),
            next=int(group.next[0]),
            score=float(group.score()[0]),
        )
        for group in run.groups
    ]
    return message
