"""Bad and second publishers beside the real stack: no failure is reported as OK, and the arm does not move on."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import rclpy
from handiwork_msgs.msg import ObjectState, ObjectStates
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.qos import LATEST
from support.stack.rig import SLOW, Rig, wait_for

PERIOD_S = 0.01
LOST = (Code.ROBOT_LOST, Code.STALE_WORLD)
NAMED_S = 30.0
FORGOTTEN_S = 30.0
"""The longest time until a publisher that has ended is forgotten: its lease, the hold time, and a busy machine."""


def nan_joints(rig: Rig) -> JointState:
    names = list(rig.client.run("wait", {"wait_steps": 1}).stopped_at)
    return JointState(name=names, position=[math.nan] * len(names), velocity=[0.0] * len(names))


def nan_states(_rig: Rig) -> ObjectStates:
    state = ObjectState(name="cube")
    state.pose.position.x, state.pose.orientation.w = math.nan, 1.0
    return ObjectStates(version=1, states=[state])


@contextmanager
def rogue(rig: Rig, kind: Any, topic: str, message: Any) -> Iterator[None]:
    """Run a node of its own that publishes one message a hundred times a second."""
    context, end = rclpy.Context(), threading.Event()
    rclpy.init(context=context)
    node = rclpy.create_node("rogue", context=context)
    publisher = node.create_publisher(kind, topic, LATEST)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin() -> None:
        while not end.is_set():
            executor.spin_once(timeout_sec=0.05)

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        wait_for("a subscriber of the rogue", lambda: publisher.get_subscription_count() > 0)
        known = rig.client.node.get_publishers_info_by_topic
        wait_for("its name", lambda: "rogue" in {info.node_name for info in known(topic)})
        node.create_timer(PERIOD_S, lambda: publisher.publish(message))
        yield
    finally:
        end.set()
        thread.join()
        executor.shutdown()
        destroy_with_actions(node)
        rclpy.shutdown(context=context)


def names_rogue(outcome: Outcome) -> bool:
    return "/rogue" in outcome.message and "GID" in outcome.message


def wait_forgotten(rig: Rig) -> None:
    """Wait until goals are accepted again as without a rogue publisher."""
    wait_for(
        "a skill server without a conflict",
        lambda: rig.client.pick("no_such_object").outcome.code is Code.UNKNOWN_OBJECT,
        FORGOTTEN_S,
    )


@pytest.mark.parametrize(
    ("kind", "topic", "make"),
    [(JointState, "joint_states", nan_joints), (ObjectStates, "world/object_states", nan_states)],
    ids=["joint_states", "object_states"],
)
def test_nan_at_100_hz_never_makes_a_failure_ok(
    rig: Rig, kind: Any, topic: str, make: Callable[[Rig], Any]
) -> None:
    message = make(rig)
    with rogue(rig, kind, topic, message):
        ended, named_by_s = list[Outcome](), time.monotonic() + NAMED_S
        # The graph is queried twice a second, so a fast machine ends twenty goals before it shows the second publisher.
        while len(ended) < 20 or not (any(map(names_rogue, ended)) or time.monotonic() > named_by_s):
            ended.append(rig.client.pick("no_such_object", timeout_s=60.0).outcome)
    for outcome in ended:
        assert outcome.code in (Code.UNKNOWN_OBJECT, *LOST), outcome
        assert outcome.message
    assert any(map(names_rogue, ended))
    wait_forgotten(rig)


def test_a_goal_on_its_way_ends_at_rest_when_a_second_publisher_comes(rig: Rig) -> None:
    message = nan_joints(rig)
    message.position = [0.1] * len(message.name)
    run = rig.client.send(SLOW)
    rig.joints.wait_moving()
    with rogue(rig, JointState, "joint_states", message):
        outcome = run.result(30.0).outcome
    assert outcome.code is Code.ROBOT_LOST, outcome
    # The arm stops at the first query of the graph, which may show a publisher before its node has a name.
    assert "/rogue" in outcome.message or "a node whose name is not known (GID" in outcome.message
    assert "/sim_bridge" in outcome.message
    rig.joints.clear()
    rig.joints.assert_rests()
    wait_forgotten(rig)
