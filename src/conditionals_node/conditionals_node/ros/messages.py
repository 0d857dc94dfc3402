"""Conversions of watched conditions, events and progress to messages."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from handiwork_msgs.msg import Condition as ConditionMsg
from handiwork_msgs.msg import Subtask, SubtaskGroup, TaskEvent, TaskProgress

from conditionals_node.events.task_event import Event
from conditionals_node.monitoring.monitor import ConditionStatus
from conditionals_node.subtasks.machine import StageRun
from conditionals_node.subtasks.watch import TaskWatch
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
    return message


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
        message.stamp = self._stamp
        return message


def event_to_msg(event: Event) -> TaskEvent:
    """Return an event as a message.

    Args:
        event: The event.
    """
    return TaskEvent(
        stamp=time_to_msg(event.stamp_s),
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
    run = watch.run
    message.name, message.current, message.done = watch.task.name, run.current, run.done
    message.subtasks = [_subtask_to_msg(stage) for stage in run.runs]
    message.score, message.since, message.message = (
        float(run.score()),
        time_to_msg(watch.since_s),
        watch.message,
    )
    return message


def _subtask_to_msg(run: StageRun) -> Subtask:
    stage = run.stage
    message = Subtask(
        name=stage.name, logical=stage.logical.value, at_least=stage.needed, weight=stage.weight
    )
    message.score, message.done = 1.0 if run.done else float(run.score()), run.done
    message.groups = [
        SubtaskGroup(
            name=group.group.name,
            conditions=[step.key for step in group.group.steps],
            completed=group.completed,
            next=group.next,
            score=float(group.score()),
        )
        for group in run.groups
    ]
    return message
