"""Services that evaluate, watch and unwatch conditions, and that watch a task."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from handiwork_msgs.srv import EvaluateCondition, UnwatchCondition, WatchCondition, WatchTask

from conditionals_node.expressions.build import Condition
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.expressions.expression import Expression
from conditionals_node.monitoring.monitor import ConditionMonitor, ConditionStatus, stamp_s
from conditionals_node.monitoring.silence import Silence
from conditionals_node.subtasks.task import WatchedTask, read_task
from conditionals_node.subtasks.watch import TaskWatch
from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.safe_callbacks import guard_service, with_outcome

from .messages import progress_to_msg, shown_to_msg

FIELDS = ("name", "args", "expression", "hold", "max_flip", "task")
"""Fields of requests that a fault may begin with."""


class Watched:
    """The watched conditions, and at most one task.

    Args:
        monitor: Keeps the conditions.
        definitions: The conditions by name.
        robot: Description of the robot.
    """

    def __init__(self, monitor: ConditionMonitor, definitions: Definitions, robot: Robot) -> None:
        self.monitor, self.definitions, self._robot = monitor, definitions, robot
        self.task: TaskWatch | None = None

    def begin_all(self, conditions: list[Condition], task: WatchedTask | None, now_s: float) -> None:
        """Watch the conditions and the task of a file.

        Args:
            conditions: The conditions.
            task: The task; None without one.
            now_s: ROS time, s.

        Raises:
            ConfigError: There are too many conditions.
        """
        for condition in conditions:
            self.monitor.watch(condition, now_s)
        if task is not None:
            self.begin(task, now_s)

    def begin(self, task: WatchedTask, now_s: float) -> None:
        """Watch a task from its start, in place of the one before.

        Args:
            task: The task.
            now_s: ROS time, s.
        """
        before = () if self.task is None else self.task.task.expressions.values()
        self.monitor.check_predicates(task.expressions.values(), "task", "task", without=before)
        if self.task is not None:
            self.task.close()
        self.task = TaskWatch(task, self._robot, self.monitor.evaluation, now_s)


class ConditionRequests:
    """The services under ``conditions/``.

    Args:
        node: Hosts the services.
        watched: Returns the watched conditions.
        look: Returns the newest world, the time, and how long its streams have been silent.
        tell: Publishes all conditions and the progress.
    """

    def __init__(
        self,
        node: ManagedNode,
        watched: Callable[[], Watched],
        look: Callable[[], tuple[World, float, Silence]],
        tell: Callable[[], None],
    ) -> None:
        self._node, self._watched, self._look, self._tell = node, watched, look, tell
        for kind, name, handler in (
            (EvaluateCondition, "evaluate", self._evaluate),
            (WatchCondition, "watch", self._watch),
            (UnwatchCondition, "unwatch", self._unwatch),
            (WatchTask, "watch_task", self._watch_task),
        ):
            node.create_service(kind, f"conditions/{name}", guard_service(node, self._answer(handler)))

    def _answer(self, handler: Callable[[Any, Any], Outcome]) -> Callable[[Any, Any], Any]:
        """Return ``handler`` with an outcome also for bad requests, and while the node is not active."""

        def answer(request: object, response: object) -> object:
            name = self._node.get_name()
            if not self._node.is_active:
                return with_outcome(response, Outcome(Code.NOT_ACTIVE, f"{name} is not active; activate it"))
            try:
                return with_outcome(response, handler(request, response))
            except ConfigError as error:
                return with_outcome(response, Outcome(Code.BAD_GOAL, str(error), field_name=_field(error)))

        return answer

    def _evaluate(self, request: EvaluateCondition.Request, response: EvaluateCondition.Response) -> Outcome:
        watched = self._watched()
        condition = watched.definitions.make(
            request.name, request.args, request.expression, 0.0, request.max_flip or None
        )
        response.subjects = _subjects(condition)
        world, now_s, silence = self._look()
        finding = watched.monitor.decide(condition, world, now_s, silence)
        at_s = stamp_s(condition, world)
        shown = watched.monitor.find(condition.key) or ConditionStatus(condition, finding, at_s, at_s)
        since_s = shown.since_s if shown.finding.truth is finding.truth else at_s
        response.condition = shown_to_msg(ConditionStatus(condition, finding, since_s, at_s, shown.life))
        return OK

    def _watch(self, request: WatchCondition.Request, response: WatchCondition.Response) -> Outcome:
        watched = self._watched()
        condition = watched.definitions.make(
            request.name, request.args, request.expression, request.hold, request.max_flip or None
        )
        watched.monitor.check_room(condition)
        watched.definitions.keep(condition)
        watched.monitor.watch(condition, self._look()[1])
        response.key = condition.key
        self._tell()
        return self._accepted([condition.expression])

    def _unwatch(self, request: UnwatchCondition.Request, _response: UnwatchCondition.Response) -> Outcome:
        watched = self._watched()
        if not watched.monitor.unwatch(request.key):
            text = f"key {request.key!r} is not watched; {nearest(request.key, watched.monitor.keys())}"
            return Outcome(Code.BAD_GOAL, text, field_name="key")
        watched.definitions.forget(request.key)
        self._tell()
        return OK

    def _watch_task(self, request: WatchTask.Request, response: WatchTask.Response) -> Outcome:
        watched = self._watched()
        world, now_s, _ = self._look()
        expressions: Collection[Expression] = ()
        if request.task.strip():
            task = read_task(request.task, watched.definitions)
            watched.begin(task, now_s)
            expressions = task.expressions.values()
        elif request.restart and watched.task is not None:
            watched.task.restart(now_s)
        if request.task.strip() or request.restart:
            self._tell()
        response.progress = progress_to_msg(watched.task, world.stamp_s)
        return self._accepted(expressions)

    def _accepted(self, expressions: Collection[Expression]) -> Outcome:
        """Return OK, with a hint if an object is not in the world: it may come, or its name is misspelt."""
        hint = self._watched().definitions.absent(expressions)
        if hint:
            self._node.get_logger().warning(hint)
        return Outcome(Code.OK, hint)


def _subjects(condition: Condition) -> list[str]:
    """Return the objects that a condition reads, in their order, also those that are not in the world."""
    return list(
        dict.fromkeys(name for leaf in condition.expression.leaves() for name in leaf.predicate.subjects())
    )


def _field(error: ConfigError) -> str:
    """Return the field of the request at fault."""
    first = error.faults[0].split(":")[0]
    if first in FIELDS or error.source == "task":
        return first if first in FIELDS else "task"
    return "hold" if first == "hold_s" else "args"
