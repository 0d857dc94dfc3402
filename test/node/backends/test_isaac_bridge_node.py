"""The adapter with the stand-in: the contract's goals, restarts, objects, and faults of the messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import NodeStatus
from handiwork_msgs.srv import ResetWorld, SetObjectPose, SetPaused
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_core.intake.writer_sequences import HOLD_S
from handiwork_core.model.outcome import Code
from handiwork_ros.node.managed_node import STATUS_TOPIC
from handiwork_ros.rclpy_support.qos import LATEST, STATUS
from isaac_bridge.node import IsaacBridge
from sim_bridge.node import SimBridge
from support.nodes.ros_stage import stage, wait_for
from support.nodes.sim_client import ABORTED, NAMES, ROBOT, SCENE, SUCCEEDED, Client
from tf2_msgs.msg import TFMessage

from .test_sim_node import (  # noqa: F401 - the tests of the simulation hold here too
    test_a_bad_goal_is_aborted_with_the_reason_and_nothing_moves,
    test_a_cancel_stops_the_arm_on_its_way,
    test_a_newer_goal_ends_the_older_one,
    test_the_gripper_reaches_what_it_can,
)

FILES = {"robot_dir": str(ROBOT), "scene_file": str(SCENE)}


def parameters(**values: object) -> list[Parameter]:
    return [Parameter(name, value=value) for name, value in {**FILES, **values}.items()]


UNNAMED = "a node whose name is not known"
ON_THEIR_WAY_S = 1.0
"""The time in which messages that were sent before the adapter fell silent arrive, s."""


@pytest.fixture(scope="module")
def wired() -> Iterator[Client]:
    """Start one simulated world for all tests."""
    with stage() as on:
        world = SimBridge(context=on.context, parameter_overrides=parameters(interface="isaac"))
        adapter = IsaacBridge(context=on.context, parameter_overrides=parameters())
        on.add(world)
        on.add(adapter)
        made = Client(on, has_wrench=False)
        try:
            wait_for(lambda: adapter.is_active and made.is_complete, 60.0)
            yield made
        finally:
            on.end(adapter, world)


@pytest.fixture
def client(wired: Client) -> Client:
    wired.start_over()
    return wired


def test_a_trajectory_ends_where_it_was_to_end_and_a_reset_restarts_the_clock(client: Client) -> None:
    home = client.joints()["fr3_joint1"]
    answer = client.result(client.send(client.arm, client.motion(0.3, 1.0)))
    assert (answer.status, answer.result.error_code) == (SUCCEEDED, 0)
    wait_for(lambda: abs(client.joints()["fr3_joint1"] - home - 0.3) < 5e-3)
    running, before = client.send(client.arm, client.motion(0.3, 3.0)), client.now_s()
    version = client.newest["world/objects"].version
    answer = client.call("reset", ResetWorld.Request(seed=3, randomize=True))
    assert answer.outcome.code == Code.OK, answer.outcome.message
    assert answer.world_version > version
    ended = client.result(running)
    assert ended.status == ABORTED
    wait_for(lambda: client.now_s() < before)
    wait_for(lambda: abs(client.joints()["fr3_joint1"] - home) < 5e-3)
    assert client.result(client.send(client.arm, client.motion(0.2, 1.0))).status == SUCCEEDED


def test_the_world_is_published_as_by_the_simulation_itself(client: Client) -> None:
    objects = {item.name for item in client.newest["world/objects"].objects}
    assert {state.name for state in client.newest["world/object_states"].states} == objects
    assert {*NAMES, "fr3_finger_joint1", "fr3_finger_joint2"} == set(client.joints())
    wait_for(lambda: {"cube", "table"} in [{c.a, c.b} for c in client.newest["world/contacts"].contacts])
    (pair,) = [c for c in client.newest["world/contacts"].contacts if {c.a, c.b} == {"cube", "table"}]
    lifts = pair.force.z if pair.a == "cube" else -pair.force.z
    assert lifts == pytest.approx(0.981, rel=0.05), "the table carries the cube"


@contextmanager
def second_bridge(kind: Any, topic: str, make: Callable[[], Any]) -> Iterator[None]:
    """Start another publisher of the same topics, in a participant of its own."""
    with stage() as on:
        node = Node("second_bridge", context=on.context)
        publisher = node.create_publisher(kind, topic, LATEST)
        node.create_timer(0.01, lambda: publisher.publish(make()))
        on.add(node)
        yield


def frame_of_the_cube() -> TFMessage:
    frame = TransformStamped(child_frame_id="cube")
    frame.header.frame_id, frame.transform.rotation.w = "world", 1.0
    return TFMessage(transforms=[frame])


@pytest.mark.parametrize(
    ("kind", "topic", "make"),
    [
        (
            JointState,
            "isaac_joint_states",
            lambda: JointState(name=NAMES, position=[0.0] * 7, velocity=[0.0] * 7),
        ),
        (String, "isaac_contacts", lambda: String(data='{"stamp": 0.0, "contacts": []}')),
        (TFMessage, "tf", frame_of_the_cube),
    ],
)
def test_a_second_publisher_of_the_wire_is_refused_by_name(
    client: Client, kind: Any, topic: str, make: Callable[[], Any]
) -> None:
    status = list[NodeStatus]()
    client.node.create_subscription(NodeStatus, STATUS_TOPIC, status.append, STATUS)
    adapters = lambda: [one for one in status[-4:] if one.node == "isaac_bridge"]  # noqa: E731
    running, later = client.send(client.arm, client.motion(0.3, 60.0)), client.motion(0.3, 1.0)
    with second_bridge(kind, topic, make):
        ended = client.result(running)
        assert ended.status == ABORTED
        text = ended.result.error_string
        assert topic in text and "/sim_bridge (GID " in text, text
        assert "/second_bridge (GID " in text or UNNAMED in text, (
            "the graph may have a publisher before its node"
        )
        wait_for(lambda: any("/second_bridge" in one.message for one in adapters()))
        threading.Event().wait(ON_THEIR_WAY_S)
        for stream in ("joint_states", "world/object_states", "world/contacts"):
            client.newest.pop(stream, None)
        threading.Event().wait(HOLD_S + 1.0)
        refused = client.result(client.send(client.arm, later))
        assert refused.status == ABORTED and topic in refused.result.error_string
        assert not {"joint_states", "world/object_states", "world/contacts"} & set(client.newest)
    wait_for(lambda: "joint_states" in client.newest, 3.0 * HOLD_S + 10.0)
    wait_for(lambda: not any(one.message for one in adapters()))


def test_an_object_is_put_elsewhere_and_a_paused_world_is_still_shown(client: Client) -> None:
    request = SetObjectPose.Request(object="cube")
    request.pose.header.frame_id = "world"
    request.pose.pose.position.x, request.pose.pose.position.z = 0.6, 0.0225
    request.pose.pose.orientation.w = 1.0
    assert client.call("set_object_pose", request).outcome.code == Code.OK
    places = {s.name: s.pose.position for s in client.newest["world/object_states"].states}
    assert places["cube"].x == pytest.approx(0.6, abs=0.01)
    assert client.call("set_paused", SetPaused.Request(paused=True)).outcome.code == Code.OK
    client.newest.pop("joint_states")
    wait_for(lambda: "joint_states" in client.newest)
    stamp_s = client.now_s()
    for topic in ("joint_states", "world/object_states"):
        client.newest.pop(topic)
        wait_for(lambda topic=topic: topic in client.newest)
    assert client.now_s() == stamp_s, "time stands still"
    places = {s.name: s.pose.position for s in client.newest["world/object_states"].states}
    assert places["cube"].x == pytest.approx(0.6, abs=0.01)
    request.object = "cubs"
    assert client.call("set_object_pose", request).outcome.code == Code.UNKNOWN_OBJECT


def test_an_articulation_that_lacks_a_joint_ends_the_adapter_with_its_name() -> None:
    with stage() as on:
        adapter = IsaacBridge(context=on.context, parameter_overrides=parameters())
        peer = Node("peer", context=on.context)
        received: list[NodeStatus] = []
        peer.create_subscription(NodeStatus, STATUS_TOPIC, received.append, STATUS)
        wire = peer.create_publisher(JointState, "isaac_joint_states", LATEST)
        few = JointState(name=NAMES, position=[0.0] * 7, velocity=[0.0] * 7)
        peer.create_timer(0.02, lambda: wire.publish(few))
        on.add(adapter)
        on.add(peer)
        try:
            wait_for(lambda: adapter.exit_code is not None, 60.0)
            assert adapter.exit_code == 2
            wait_for(lambda: bool(received) and "fr3_finger_joint1" in received[-1].message)
        finally:
            on.end(adapter)
