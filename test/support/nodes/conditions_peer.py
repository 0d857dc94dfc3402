"""A world of a bin and a cube, and all messages of the conditions node about it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from handiwork_msgs.msg import (
    Condition,
    Conditions,
    Contacts,
    ObjectStates,
    TaskEvent,
    TaskProgress,
    WorldObjects,
)
from handiwork_msgs.srv import EvaluateCondition, UnwatchCondition, WatchCondition, WatchTask
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from visualization_msgs.msg import MarkerArray

from conditionals_node.node import ConditionalsNode
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    WorldObject,
)
from handiwork_ros.conversions import (
    contacts_to_msg,
    object_states_to_msg,
    time_to_msg,
    world_objects_to_msg,
)
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.qos import EVENTS, LATCHED, LATEST
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
LIMIT_S = 30.0


def box(name: str, edge: float) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, frozen((edge, edge, edge)), Pose.identity()),))


class Peer(Node):
    """Publishes a bin and a cube ten times a second, and receives all topics of the node."""

    def __init__(self) -> None:
        super().__init__("peer")
        self.cube_x = 0.0
        self.cube_noise_m, self.cube_age_s = 0.0, 0.0
        """Standard deviation of the cube's coordinates; time from its measurement to the stamp of the message."""
        self.is_paused = self.is_frozen = False
        self._shown_s = 0.0
        self.tables = 0
        self.latest: dict[str, Condition] = {}
        self.events: list[Condition] = []
        self.progress = TaskProgress()
        self.task_events: list[TaskEvent] = []
        self.markers: list[MarkerArray] = []
        self.received = threading.Condition()
        self._clock_pub = self.create_publisher(Clock, "clock", LATEST)
        self._objects = self.create_publisher(WorldObjects, "world/objects", LATCHED)
        self._states = self.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._contacts = self.create_publisher(Contacts, "world/contacts", LATEST)
        self.create_subscription(Conditions, "conditions", self._on_conditions, LATCHED)
        self.create_subscription(Condition, "conditions/events", self._on_event, EVENTS)
        self.create_subscription(TaskProgress, "conditions/progress", self._on_progress, LATCHED)
        self.create_subscription(TaskEvent, "conditions/task_events", self._on_task_event, EVENTS)
        self.clients_by_type = {
            kind: self.create_client(kind, f"conditions/{name}")
            for kind, name in (
                (EvaluateCondition, "evaluate"),
                (WatchCondition, "watch"),
                (UnwatchCondition, "unwatch"),
                (WatchTask, "watch_task"),
            )
        }
        self._objects.publish(world_objects_to_msg([box("bin", 0.4), box("cube", 0.04)], 1, 0.0))
        self.create_timer(0.1, self._tick)

    def _tick(self) -> None:
        if self.is_frozen:
            return
        if not self.is_paused:
            self._shown_s = self.get_clock().now().nanoseconds * 1e-9
            self._clock_pub.publish(Clock(clock=time_to_msg(self._shown_s)))
        now_s = self._shown_s
        zero = frozen((0.0, 0.0, 0.0))
        places = {"bin": 0.0, "cube": self.cube_x}
        states = {name: ObjectState(Pose.of((x, 0.0, 0.0)), zero, zero, now_s) for name, x in places.items()}
        noise = np.diag([self.cube_noise_m**2] * 3 + [0.0] * 3) if self.cube_noise_m else None
        cube = replace(states["cube"], stamp_s=now_s - self.cube_age_s, pose_covariance=noise)
        states["cube"] = cube
        self._contacts.publish(contacts_to_msg((), now_s))
        self._states.publish(object_states_to_msg(states, 1, now_s))

    def _on_conditions(self, msg: Conditions) -> None:
        with self.received:
            self.tables += 1
            self.latest = {condition.key: condition for condition in msg.conditions}
            self.received.notify_all()

    def _on_event(self, msg: Condition) -> None:
        with self.received:
            self.events.append(msg)
            self.received.notify_all()

    def _on_progress(self, msg: TaskProgress) -> None:
        with self.received:
            self.progress = msg
            self.received.notify_all()

    def _on_task_event(self, msg: TaskEvent) -> None:
        with self.received:
            self.task_events.append(msg)
            self.received.notify_all()

    def _on_markers(self, msg: MarkerArray) -> None:
        with self.received:
            self.markers.append(msg)
            self.received.notify_all()

    def look_at_markers(self) -> None:
        self.on_executor(
            lambda: self.create_subscription(MarkerArray, "conditions/markers", self._on_markers, LATEST)
        )

    def on_executor(self, action: Callable[[], object]) -> None:
        assert self.executor is not None
        self.executor.create_task(action)

    def wait(self, what: Callable[[], bool]) -> None:
        with self.received:
            assert self.received.wait_for(what, LIMIT_S), f"{self.latest}, {self.events}, {self.progress}"

    def value(self, key: str) -> int:
        return self.latest[key].value if key in self.latest else -1

    def call(self, request: Any) -> Any:
        kind = next(k for k in self.clients_by_type if isinstance(request, k.Request))
        client = self.clients_by_type[kind]
        assert client.wait_for_service(LIMIT_S)
        done, answers = threading.Event(), []

        def send() -> None:
            client.call_async(request).add_done_callback(
                lambda future: (answers.append(future.result()), done.set())
            )

        self.on_executor(send)
        assert done.wait(LIMIT_S), f"no answer to {request}"
        return answers[0]


@contextmanager
def playing(conditions: Path, *, use_sim_time: bool = False) -> Iterator[Peer]:
    """Yield the node with a file of conditions, and the world, until the end."""
    given = [f"robot_dir:={FR3}", f"conditions_file:={conditions}"]
    given += [f"conditionals_node:use_sim_time:={use_sim_time}".lower()]
    rclpy.init(args=["--ros-args", *(word for one in given for word in ("-p", one))])
    node, other = ConditionalsNode(), Peer()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(other)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    try:
        other.wait(lambda: bool(other.latest))
        yield other
    finally:
        executor.shutdown()
        thread.join(LIMIT_S)
        node.begin_shutdown()
        node.end_shutdown()
        destroy_with_actions(node)
        other.destroy_node()
        rclpy.shutdown()
