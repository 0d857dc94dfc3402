"""Publishes whether conditions hold and how far a task is, and answers evaluate, watch and unwatch."""

from __future__ import annotations

import gc
import sys
import time
from dataclasses import replace
from pathlib import Path

from handiwork_msgs.msg import Condition as ConditionMsg
from handiwork_msgs.msg import Conditions, TaskEvent, TaskProgress
from rclpy.clock import Clock, ClockType

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.node.diagnostics import IntakeDiagnoses
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.polling_executor import make_busy_executor
from handiwork_ros.rclpy_support.qos import EVENTS, LATCHED
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.silence_limits import SchedulingDelay, silence_limit_s

from .conditions_file import load_conditions
from .doubt.doubts import MAX_FLIP
from .expressions.build import Builder
from .expressions.definitions import Definitions
from .monitoring.monitor import ConditionMonitor
from .monitoring.pace import Pace
from .monitoring.silence import NO_SILENCE, Silence
from .ros.markers import Markers
from .ros.messages import (
    ShownMessages,
    event_to_msg,
    progress_to_msg,
    shown_to_msg,
)
from .ros.services import ConditionRequests, Watched

BEAT_S = 0.5
"""Shortest time between two full tables, s; changes are published at once on ``conditions/events``."""
WATCH_S = 0.1
"""Pause between two checks for publishers in conflict, in steady time, s."""
SHOW_BEATS = 2
"""Number of beats after which a full table is published without a change."""


class ConditionalsNode(ManagedNode):
    """Decides when ``world/object_states`` arrives, and once a second when no message does."""

    def __init__(self) -> None:
        super().__init__("conditionals_node")
        self._robot_dir = RobotFolder(self).path
        self._file = self.parameter(
            "conditions_file", "", "YAML of the conditions that are watched from the start; empty: none"
        )
        self._max_age_s = self.parameter(
            "max_age_s", 1.0, "older or longer silent poses, contacts and joints make a condition UNKNOWN [s]"
        )
        self._max_flip = self.parameter(
            "max_flip",
            MAX_FLIP,
            "a condition that noise of measured poses turns with a greater probability is UNKNOWN; 1: never",
        )
        rate_hz = self.parameter("rate_hz", 250.0, "greatest rate of decisions, in steady time [Hz]")
        if min(rate_hz, self._max_age_s) <= 0.0:
            raise ConfigError(f"node {self.get_name()}", ["rate_hz, max_age_s: write more than 0"])
        if not 0.0 < self._max_flip <= 1.0:
            raise ConfigError(f"node {self.get_name()}", ["max_flip: write more than 0 and at most 1"])
        self._pace = Pace(1.0 / rate_hz - 1e-6)
        self._source: RosWorldSource | None = None
        self._world = World(0.0)
        self._watched_s = float("-inf")
        self._conflict: Outcome | None = None
        self._beat_delay = SchedulingDelay(BEAT_S, time.monotonic())
        self._table_due, self._beats, self._published_s = False, 0, float("-inf")
        self._messages, self._markers = ShownMessages(), Markers(self)
        self._pub = self.create_publisher(Conditions, "conditions", LATCHED)
        self._events = self.create_publisher(ConditionMsg, "conditions/events", EVENTS)
        self._progress = self.create_publisher(TaskProgress, "conditions/progress", LATCHED)
        self._task_events = self.create_publisher(TaskEvent, "conditions/task_events", EVENTS)
        ConditionRequests(self, lambda: self.watched, self._look, self._publish_all)
        self.create_timer(BEAT_S, guard(self, self._on_beat), clock=Clock(clock_type=ClockType.STEADY_TIME))

    def on_load(self, report: Report) -> None:
        """Read the robot and the conditions.

        Args:
            report: Takes the progress, 0 to 1, and its text.
        """
        report(0.0, "reading robot and conditions")
        if not self._robot_dir:
            raise ConfigError(self.get_name(), ["parameter robot_dir: is empty; give a robot's folder"])
        self._robot = load_robot(Path(self._robot_dir))
        definitions = Definitions(Builder(self._robot, self._bodies))
        self._initial = load_conditions(Path(self._file), definitions) if self._file else ([], None)
        self.watched = Watched(ConditionMonitor(self._max_age_s, self._max_flip), definitions, self._robot)

    def on_start(self) -> None:
        """Subscribe to the world and watch the conditions of the file."""
        if self._source is None:
            self._source = RosWorldSource(
                self, self._robot, Subscriptions(contacts=True, cups=True, on_states=self._on_states)
            )
            self.diagnostics.add("intake", IntakeDiagnoses(self._source.statistics))
        conditions, task = self._initial
        self.watched.begin_all(conditions, task, self._now_s())
        self._publish_all()
        gc.set_threshold(50_000)  # Objects of a world are freed by reference counts.

    def _bodies(self) -> list[str] | None:
        """Return the names that a frame may have; None until the world is known."""
        known = self._source is not None and self._source.has_geometry()
        return [*self._look()[0].objects] if known else None

    def _on_states(self) -> None:
        now_s = time.monotonic()
        if self.is_active and self._pace.is_due(now_s):
            self._decide()
            if self._table_due and now_s - self._published_s >= BEAT_S:
                self._publish_table()

    def _on_beat(self) -> None:
        self._beat_delay.tick(time.monotonic())
        if self.is_active:
            self._beats += 1
            if self._beats % SHOW_BEATS == 0:
                self._publish_all()
            elif self._table_due:
                self._publish_table()

    def _publish_all(self) -> None:
        self._decide()
        self._publish_table()
        self._publish_progress()

    def _decide(self) -> None:
        """Decide all on the newest world, and publish the changes."""
        begin_s = time.monotonic()
        world, now_s, silence = self._look()
        limit_s = silence_limit_s(self._max_age_s, self._beat_delay.greatest_s(time.monotonic()))
        self.watched.monitor.evaluation.allow_silence(limit_s)
        changed = self.watched.monitor.update(world, now_s, silence)
        for shown in changed:
            self._events.publish(shown_to_msg(shown))
        self._table_due = self._table_due or bool(changed)
        if self.watched.task is not None:
            news = self.watched.task.update(world, now_s)
            for event in news.events:
                self._task_events.publish(event_to_msg(event))
            if news.progressed:
                self._publish_progress()
        self._markers.show(world, self.watched.monitor)
        self._pace.note(begin_s, time.monotonic())

    def _publish_table(self) -> None:
        message = Conditions(conditions=self._messages.all(self.watched.monitor.shown()))
        message.header.frame_id, message.header.stamp = "world", self.get_clock().now().to_msg()
        self._pub.publish(message)
        self._table_due, self._published_s = False, time.monotonic()

    def _publish_progress(self) -> None:
        self._progress.publish(progress_to_msg(self.watched.task, self._now_s()))

    def _look(self) -> tuple[World, float, Silence]:
        """Return the newest world, the time, and how long its streams have been silent.

        While two publishers contradict each other nothing is known.
        """
        silence = NO_SILENCE
        if self._source is not None:
            self._world = self._source.snapshot()
            silence, now_s = Silence(*self._source.silences_s()), time.monotonic()
            if now_s - self._watched_s > WATCH_S:
                self._watched_s, self._conflict = now_s, self._source.conflict()
            if self._conflict is not None:
                self.get_logger().error(f"world: {self._conflict.message}", throttle_duration_sec=5.0)
                self._world = replace(self._world, states={}, contacts=None)
        return self._world, self._now_s(), silence

    def _now_s(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9


def main() -> None:
    """Run the node."""
    sys.exit(run(ConditionalsNode, make_executor=make_busy_executor))
