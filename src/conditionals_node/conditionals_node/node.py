"""Publishes whether conditions hold, and answers evaluate, watch and unwatch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handiwork_msgs.msg import Condition as ConditionMsg
from handiwork_msgs.msg import Conditions, ObjectStates
from handiwork_msgs.srv import EvaluateCondition, UnwatchCondition, WatchCondition
from rclpy.clock import Clock, ClockType

from handiwork_core.config import ConfigError, nearest
from handiwork_core.outcome import OK, Code, Outcome
from handiwork_core.planning import Report
from handiwork_core.robot_loader import load_robot
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.guards import guard, guard_service, with_outcome
from handiwork_ros.managed_node import ManagedNode
from handiwork_ros.qos import EVENTS, LATCHED, LATEST
from handiwork_ros.spinning import run
from handiwork_ros.world_source import RosWorldSource, Wanted

from .build import Builder
from .monitor import Monitor, Shown
from .shown_node import shown_to_msg

SHOW_PERIOD_S = 1.0


class ConditionalsNode(ManagedNode):
    """Decides when ``world/object_states`` arrives, at most 50 times a second, and once a second for what is silent."""

    def __init__(self) -> None:
        super().__init__("conditionals_node")
        self._robot_dir = self.parameter("robot_dir", "", "folder: robot_description/robots/<name>")
        self._file = self.parameter(
            "conditions_file", "", "YAML of what is watched from the start; empty: nothing"
        )
        max_age_s = self.parameter("max_age_s", 1.0, "older poses and contacts make a condition UNKNOWN [s]")
        rate_hz = self.parameter("rate_hz", 50.0, "greatest rate of decisions, in ROS time [Hz]")
        if min(rate_hz, max_age_s) <= 0.0:
            raise ConfigError(f"node {self.get_name()}", ["rate_hz, max_age_s: write more than 0"])
        self._period_s, self._last_s = 1.0 / rate_hz - 1e-6, float("-inf")
        self.monitor = Monitor(max_age_s)
        self._source: RosWorldSource | None = None
        self._pub = self.create_publisher(Conditions, "conditions", LATCHED)
        self._events = self.create_publisher(ConditionMsg, "conditions/events", EVENTS)
        for kind, name, handler in (
            (EvaluateCondition, "evaluate", self._evaluate),
            (WatchCondition, "watch", self._watch),
            (UnwatchCondition, "unwatch", self._unwatch),
        ):
            self.create_service(kind, f"conditions/{name}", guard_service(self, self._answer(handler)))
        self.create_subscription(ObjectStates, "world/object_states", guard(self, self._on_states), LATEST)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(SHOW_PERIOD_S, guard(self, self._show_again), clock=steady)

    def on_load(self, report: Report) -> None:
        """Read the robot and the conditions."""
        report(0.0, "reading robot and conditions")
        if not self._robot_dir:
            fault = "parameter robot_dir: is empty; give the folder of a robot, such as robots/fr3"
            raise ConfigError(f"node {self.get_name()}", [fault])
        self._robot = load_robot(Path(self._robot_dir))
        self._builder = Builder(self._robot)
        self._first = self._builder.load(Path(self._file)) if self._file else []

    def on_start(self) -> None:
        """Begin to listen and to watch."""
        if self._source is None:
            self._source = RosWorldSource(self, self._robot, Wanted(contacts=True))
        for condition in self._first:
            self.monitor.watch(condition, self._now_s())
        self._decide()
        self._publish()

    def _on_states(self, msg: ObjectStates) -> None:
        stamp_s = time_from_msg(msg.header.stamp)
        if self.is_active and not 0.0 <= stamp_s - self._last_s < self._period_s:
            self._last_s = stamp_s
            if self._decide():
                self._publish()

    def _show_again(self) -> None:
        if self.is_active:
            self._decide()
            self._publish()

    def _decide(self) -> bool:
        """Decide all on the newest world; True when a value changed."""
        if self._source is None:
            return False
        changed = self.monitor.update(self._source.snapshot(), self._now_s())
        for shown in changed:
            self._events.publish(shown_to_msg(shown))
        return bool(changed)

    def _publish(self) -> None:
        message = Conditions(conditions=[shown_to_msg(shown) for shown in self.monitor.shown()])
        message.header.frame_id, message.header.stamp = "world", self.get_clock().now().to_msg()
        self._pub.publish(message)

    def _now_s(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _answer(self, handler: Callable[[Any, Any], Outcome]) -> Callable[[Any, Any], Any]:
        """``handler`` with an outcome also for bad names and arguments, and while the node does not serve."""

        def answer(request: object, response: object) -> object:
            if not self.is_active:
                return with_outcome(
                    response, Outcome(Code.NOT_ACTIVE, f"{self.get_name()} is not active; activate it")
                )
            try:
                return with_outcome(response, handler(request, response))
            except ConfigError as error:
                field = "name" if error.faults[0].startswith("name:") else "args"
                return with_outcome(response, Outcome(Code.BAD_GOAL, str(error), field_name=field))

        return answer

    def _evaluate(self, request: EvaluateCondition.Request, response: EvaluateCondition.Response) -> Outcome:
        condition = self._builder.build_text(request.name, request.args)
        assert self._source is not None  # the node is active
        world = self._source.snapshot()
        finding = self.monitor.decide(condition, world, self._now_s())
        response.condition = shown_to_msg(Shown(condition, finding, world.stamp_s, world.stamp_s))
        return OK

    def _watch(self, request: WatchCondition.Request, response: WatchCondition.Response) -> Outcome:
        condition = self._builder.build_text(request.name, request.args)
        self.monitor.watch(condition, self._now_s())
        response.key = condition.key
        self._show_again()
        return OK

    def _unwatch(self, request: UnwatchCondition.Request, _response: UnwatchCondition.Response) -> Outcome:
        if not self.monitor.unwatch(request.key):
            text = f"key {request.key!r} is not watched; {nearest(request.key, self.monitor.keys())}"
            return Outcome(Code.BAD_GOAL, text, field_name="key")
        self._publish()
        return OK


def main() -> None:
    """Entry point."""
    sys.exit(run(ConditionalsNode))
