"""The conditions node in this process: latched state, events, and its services' answers to good and bad requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from handiwork_msgs.msg import Condition, Conditions, Contacts, ObjectStates, Outcome, WorldObjects
from handiwork_msgs.srv import EvaluateCondition, UnwatchCondition, WatchCondition
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from conditionals_node.node import ConditionalsNode
from handiwork_core.geometry import Pose, frozen
from handiwork_core.world import ObjectState, Shape, ShapeKind, WorldObject
from handiwork_ros.conversions import contacts_to_msg, object_states_to_msg, world_objects_to_msg
from handiwork_ros.destroy import destroy_with_actions
from handiwork_ros.qos import EVENTS, LATCHED, LATEST

ROOT = Path(__file__).resolve().parents[2]
FR3 = ROOT / "src" / "robot_description" / "robots" / "fr3"
KEY = "object_in_container(object=cube, container=bin)"
LIMIT_S = 30.0


def box(name: str, edge: float) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, frozen((edge, edge, edge)), Pose.identity()),))


class Peer(Node):
    """Publishes a bin and a cube ten times a second and hears all that the node says."""

    def __init__(self) -> None:
        super().__init__("peer")
        self.cube_x = 0.0
        self.latest: dict[str, Condition] = {}
        self.events: list[Condition] = []
        self.heard = threading.Condition()
        self._objects = self.create_publisher(WorldObjects, "world/objects", LATCHED)
        self._states = self.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._contacts = self.create_publisher(Contacts, "world/contacts", LATEST)
        self.create_subscription(Conditions, "conditions", self._on_conditions, LATCHED)
        self.create_subscription(Condition, "conditions/events", self._on_event, EVENTS)
        self.clients_by_type = {
            kind: self.create_client(kind, f"conditions/{name}")
            for kind, name in (
                (EvaluateCondition, "evaluate"),
                (WatchCondition, "watch"),
                (UnwatchCondition, "unwatch"),
            )
        }
        self._objects.publish(world_objects_to_msg([box("bin", 0.4), box("cube", 0.04)], 1, 0.0))
        self.create_timer(0.1, self._tick)

    def _tick(self) -> None:
        now_s = self.get_clock().now().nanoseconds * 1e-9
        zero = frozen((0.0, 0.0, 0.0))
        places = {"bin": 0.0, "cube": self.cube_x}
        states = {name: ObjectState(Pose.of((x, 0.0, 0.0)), zero, zero, now_s) for name, x in places.items()}
        self._contacts.publish(contacts_to_msg((), now_s))
        self._states.publish(object_states_to_msg(states, 1, now_s))

    def _on_conditions(self, msg: Conditions) -> None:
        with self.heard:
            self.latest = {condition.key: condition for condition in msg.conditions}
            self.heard.notify_all()

    def _on_event(self, msg: Condition) -> None:
        with self.heard:
            self.events.append(msg)
            self.heard.notify_all()

    def wait(self, what: Callable[[], bool]) -> None:
        with self.heard:
            assert self.heard.wait_for(what, LIMIT_S), f"latest: {self.latest}, events: {self.events}"

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

        assert self.executor is not None
        self.executor.create_task(send)
        assert done.wait(LIMIT_S), f"no answer to {request}"
        return answers[0]


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    file = tmp_path / "conditions.yaml"
    file.write_text("conditions: [{name: object_in_container, args: {object: cube, container: bin}}]")
    rclpy.init(args=["--ros-args", "-p", f"robot_dir:={FR3}", "-p", f"conditions_file:={file}"])
    node, other = ConditionalsNode(), Peer()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(other)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    other.wait(lambda: bool(other.latest))
    yield other
    executor.shutdown()
    thread.join(LIMIT_S)
    node.begin_shutdown()
    node.end_shutdown()
    destroy_with_actions(node)
    other.destroy_node()
    rclpy.shutdown()


def test_what_is_watched_follows_the_world(peer: Peer) -> None:
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)
    assert peer.latest[KEY].margin == pytest.approx(0.2)
    peer.cube_x = 0.5
    peer.wait(lambda: peer.value(KEY) == Condition.FALSE)
    assert "0.300 m" in peer.latest[KEY].reason
    peer.wait(lambda: [event.value for event in peer.events][-2:] == [Condition.TRUE, Condition.FALSE])
    assert peer.latest[KEY].evidence[0].value == pytest.approx(-0.3)


def test_watch_evaluate_and_unwatch(peer: Peer) -> None:
    answer = peer.call(WatchCondition.Request(name="object_grabbed", args="{object: cube}"))
    assert (answer.outcome.code, answer.key) == (Outcome.OK, "object_grabbed(object=cube)")
    peer.wait(lambda: peer.value(answer.key) == Condition.FALSE)
    asked = peer.call(EvaluateCondition.Request(name="object_grabbed", args="{object: ghost}"))
    assert (asked.outcome.code, asked.condition.value) == (Outcome.OK, Condition.UNKNOWN)
    assert "'ghost'" in asked.condition.reason
    assert peer.call(UnwatchCondition.Request(key=answer.key)).outcome.code == Outcome.OK
    peer.wait(lambda: answer.key not in peer.latest)


@pytest.mark.parametrize(
    ("name", "args", "field", "word"),
    [
        ("object_grabed", "{object: cube}", "name", "'object_grabbed'"),
        ("object_grabbed", "{thing: cube}", "args", "thing"),
        ("object_grabbed", "[", "args", "YAML"),
    ],
)
def test_bad_requests_name_field_and_mend(peer: Peer, name: str, args: str, field: str, word: str) -> None:
    for kind in (WatchCondition, EvaluateCondition):
        outcome = peer.call(kind.Request(name=name, args=args)).outcome
        assert (outcome.code, outcome.field) == (Outcome.BAD_GOAL, field)
        assert word in outcome.message
    unwatched = peer.call(UnwatchCondition.Request(key="nothing")).outcome
    assert (unwatched.code, unwatched.field) == (Outcome.BAD_GOAL, "key")
    assert KEY in unwatched.message
