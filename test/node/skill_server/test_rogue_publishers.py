"""Publishers of bad messages and second publishers of a stream, beside a faultless world and skill server."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import rclpy
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.action import RunSkill
from handiwork_msgs.msg import Contact, Contacts, ObjectStates, WorldObjects
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.intake.writer_sequences import HOLD_S
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState, ObjectState
from handiwork_ros.conversions import joint_state_to_msg, object_states_to_msg
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF_STATIC
from support.nodes.bare_stack import ARM, ROBOT, Stack, until
from tf2_msgs.msg import TFMessage

PERIOD_S = 0.01
ZERO = frozen((0.0, 0.0, 0.0))
LOST = (Code.ROBOT_LOST, Code.STALE_WORLD)


class Rogue:
    """A node in a context of its own that publishes a message of the test a hundred times a second."""

    def __init__(self, name: str = "rogue", namespace: str = "lab") -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node(name, namespace=namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def publish(self, kind: Any, topic: str, make: Callable[[], Any], qos: Any = LATEST) -> None:
        publisher = self.node.create_publisher(kind, f"/{topic.lstrip('/')}", qos)
        self.node.create_timer(PERIOD_S, lambda: publisher.publish(make()))

    def close(self) -> None:
        self._end.set()
        self._thread.join()
        self.executor.shutdown()
        destroy_with_actions(self.node)
        rclpy.shutdown(context=self.context)

    def _spin(self) -> None:
        while not self._end.is_set():
            self.executor.spin_once(timeout_sec=0.05)


@contextmanager
def rogue(name: str = "rogue", namespace: str = "lab") -> Iterator[Rogue]:
    made = Rogue(name, namespace)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def well() -> Iterator[Stack]:
    """Yield a stack whose world has appeared."""
    made = Stack()
    try:
        until(lambda: made.client.signs.sign("skill_server") is not None)
        made.world.appear()
        assert made.client.wait_ready(30.0)
        yield made
    finally:
        made.close()


@pytest.fixture
def stack(well: Stack) -> Stack:
    """Wait until no conflict of an earlier test is left."""
    source = well.server._world
    quiet = lambda: source.conflict() is None and not source._topics.joints.contested(time.monotonic())  # noqa: E731
    until(quiet, 3.0 * HOLD_S + 10.0)
    return well


def knows(stack: Stack, topic: str, node: str) -> bool:
    """Check whether the server knows the publisher by name: the graph may list it before the name of its node."""
    return node in {one.node for one in stack.server._world.intake.writers.of(topic)}


def dropped(stack: Stack, topic: str) -> int:
    return next(one.dropped for one in stack.server._world.statistics() if one.topic == topic)


def joints(names: list[str], position: float) -> Any:
    return joint_state_to_msg(JointState(0.0, dict.fromkeys(names, position), dict.fromkeys(names, 0.0)))


def nan_joints() -> JointStateMsg:
    return joints([*ARM.joint_names, ARM.gripper.joint], math.nan)


def cube_states(x: float = math.nan) -> ObjectStates:
    message = object_states_to_msg({"cube": ObjectState(Pose.of((0.0, 0.0, 0.0)), ZERO, ZERO, 1.0)}, 1, 1.0)
    message.states[0].pose.position.x = x
    return message


def nan_contacts() -> Contacts:
    made = Contact(a="cube", b="table")
    made.force.x = math.nan
    return Contacts(contacts=[made])


@pytest.mark.parametrize(
    ("kind", "topic", "make"),
    [
        (JointStateMsg, "joint_states", nan_joints),
        (ObjectStates, "world/object_states", cube_states),
        (Contacts, "world/contacts", nan_contacts),
    ],
)
def test_bad_messages_never_turn_a_failure_into_ok(stack: Stack, kind: Any, topic: str, make: Any) -> None:
    with rogue() as bad:
        bad.publish(kind, topic, make)
        until(lambda: dropped(stack, topic) > 20)
        for _ in range(20):
            outcome = stack.client.pick("no_such_object", timeout_s=60.0).outcome
            assert outcome.code in (Code.UNKNOWN_OBJECT, *LOST), outcome
            assert outcome.message
        assert all(math.isfinite(q) for q in stack.server._world.snapshot().joints.position.values())
    statistics = next(one for one in stack.server._world.statistics() if one.topic == topic)
    assert statistics.received > statistics.dropped > 20 and "nan" in statistics.last_fault


def test_a_second_publisher_of_the_same_joints_is_refused_by_name(stack: Stack) -> None:
    with rogue("second_driver") as other:
        other.publish(JointStateMsg, "joint_states", lambda: joints([ARM.joint_names[0], "tail"], 0.1))
        until(lambda: stack.server._world.conflict() is not None)
        outcome = stack.client.pick("no_such_object", timeout_s=60.0).outcome
        assert outcome.code is Code.ROBOT_LOST, outcome
        assert "end all but" in outcome.message and "GID" in outcome.message
        until(lambda: knows(stack, "joint_states", "/lab/second_driver"))
        outcome = stack.client.pick("no_such_object", timeout_s=60.0).outcome
        publishers = stack.server._world.intake.writers.of("joint_states")
        assert {one.node for one in publishers} == {"/lab/second_driver", "/fake_world"}
        for one in publishers:
            assert one.node in outcome.message and one.gid in outcome.message
        assert ARM.joint_names[0] in outcome.message
    until(
        lambda: stack.client.pick("no_such_object").outcome.code is Code.UNKNOWN_OBJECT, 3.0 * HOLD_S + 10.0
    )


def test_a_publisher_of_other_joints_is_welcome(stack: Stack) -> None:
    with rogue("wagging") as other:
        other.publish(JointStateMsg, "joint_states", lambda: joints(["tail"], 0.1))
        until(lambda: "tail" in stack.server._world.snapshot().joints.position)
        until(lambda: len(stack.server._world.intake.writers.of("joint_states")) == 2)
        for _ in range(5):
            assert stack.client.pick("no_such_object").outcome.code is Code.UNKNOWN_OBJECT
        assert set(ARM.joint_names) <= set(stack.server._world.snapshot().joints.position)


@pytest.mark.parametrize(
    ("kind", "topic", "make", "qos"),
    [
        (ObjectStates, "world/object_states", lambda: cube_states(0.9), LATEST),
        (Contacts, "world/contacts", Contacts, LATEST),
        (WorldObjects, "world/objects", lambda: WorldObjects(version=9), LATCHED),
    ],
)
def test_a_second_publisher_of_the_world_is_refused_by_name(
    stack: Stack, kind: Any, topic: str, make: Any, qos: Any
) -> None:
    geometry = stack.server._world._topics.geometry.message
    with rogue("second_world") as other:
        other.publish(kind, topic, make, qos)
        until(lambda: stack.server._world.conflict() is not None)
        until(lambda: knows(stack, topic, "/lab/second_world"))
        outcome = stack.client.pick("no_such_object", timeout_s=60.0).outcome
        assert outcome.code is Code.STALE_WORLD, outcome
        assert topic in outcome.message and "/lab/second_world" in outcome.message
    stack.server._world._topics.geometry.message = geometry


def test_a_world_that_was_started_again_is_no_second_one_while_the_graph_lists_both(stack: Stack) -> None:
    with rogue("fake_world", namespace="") as former:  # as a killed one, it sends nothing
        former.node.create_publisher(WorldObjects, "/world/objects", LATCHED)
        until(lambda: len(stack.server._world.intake.writers.of("world/objects")) == 2)
        until(lambda: stack.server._world.conflict() is None)
        assert stack.client.pick("no_such_object").outcome.code is Code.UNKNOWN_OBJECT


def test_a_stream_of_bad_messages_alone_is_a_lost_robot_with_its_publisher(stack: Stack) -> None:
    stack.world.is_there = False  # it publishes nothing any more
    try:
        with rogue("only_nan") as bad:
            bad.publish(JointStateMsg, "joint_states", nan_joints)
            seen = dropped(stack, "joint_states")
            until(
                lambda: stack.server._world.joint_age_s() > 2.2 and dropped(stack, "joint_states") > seen + 50
            )
            outcome = stack.client.pick("cube", timeout_s=60.0).outcome
    finally:
        stack.world.is_there = True
    assert outcome.code is Code.ROBOT_LOST, outcome
    for part in ("joint_states", "nan", "/lab/only_nan", "GID", "dropped"):
        assert part in outcome.message, outcome.message
    until(lambda: not stack.server._arms.watch.why_lost)


def test_a_new_goal_is_refused_by_the_rule_that_ends_a_running_one(stack: Stack) -> None:
    """Messages that repeat their stamp are no measurements, although their age alone would be accepted."""
    server = stack.server
    stack.world.is_there = False
    try:
        with rogue("stuck_driver") as other:
            names = [*ARM.joint_names, ARM.gripper.joint]
            other.publish(JointStateMsg, "joint_states", lambda: joints(names, 0.1))
            until(lambda: "repeats the stamp" in server._arms.watch.why_lost)
            assert server._world.joint_age_s() < 1.0
            outcome = stack.client.pick("no_such_object", timeout_s=60.0).outcome
    finally:
        stack.world.is_there = True
    assert outcome.code is Code.ROBOT_LOST, outcome
    assert "repeats the stamp" in outcome.message
    until(lambda: not server._arms.watch.why_lost)


def test_joints_of_others_do_not_hide_a_silent_arm(stack: Stack) -> None:
    source = stack.server._world
    stack.world.is_there = False
    try:
        with rogue("wagging") as other:
            other.publish(JointStateMsg, "joint_states", lambda: joints(["tail"], 0.1))
            until(lambda: source.snapshot().joints.position.keys() == {"tail"})
            until(lambda: ARM.joint_names[0] in stack.server._arms.watch.why_lost)
            outcome = stack.client.pick("cube", timeout_s=60.0).outcome
    finally:
        stack.world.is_there = True
    assert outcome.code is Code.ROBOT_LOST, outcome
    assert f"without {ARM.joint_names[0]!r}" in outcome.message
    until(lambda: not stack.server._arms.watch.why_lost)


def test_a_goal_that_runs_ends_with_the_names_of_both_publishers(stack: Stack) -> None:
    run = stack.client.send(RunSkill.Goal(skill="wait", parameters="{wait_steps: 3000}"))
    until(lambda: stack.server._arms.is_busy)
    with rogue("late_driver") as other:
        silent = other.node.create_publisher(JointStateMsg, "/joint_states", LATEST)
        until(lambda: knows(stack, "joint_states", "/lab/late_driver"))
        other.node.create_timer(PERIOD_S, lambda: silent.publish(joints(list(ARM.joint_names), 0.5)))
        outcome = run.result(60.0).outcome
    assert outcome.code is Code.ROBOT_LOST, outcome
    assert "/lab/late_driver" in outcome.message and "/fake_world" in outcome.message


def test_a_bad_frame_does_not_move_the_robot(stack: Stack) -> None:
    source = stack.server._world
    before = source.world_T_base()
    bad = TransformStamped(child_frame_id=f"{ROBOT.name}/{ROBOT.root_link}")
    bad.header.frame_id, bad.transform.translation.x = "world", math.nan
    with rogue() as other:
        other.publish(TFMessage, "/tf_static", lambda: TFMessage(transforms=[bad]), TF_STATIC)
        until(lambda: source.frames.counters["/tf_static"].dropped > 5)
        assert source.world_T_base().almost_equal(before, within_m=1e-12, within_rad=1e-9)
    assert "nan" in source.frames.counters["/tf_static"].last_fault
