"""The stacking node with publishers and services that a test controls: contested streams, lost requests."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import rclpy
from handiwork_msgs.msg import ObjectStates
from handiwork_msgs.msg import SuctionState as SuctionStateMsg
from handiwork_msgs.srv import SetBeltVelocity, SetSuction
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from decider_node.node import DeciderNode
from decider_node.ros.repeated_request import ANSWER_S, TRIES
from handiwork_core.intake.writer_sequences import HOLD_S
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.outcome import OK
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import JointState, ObjectState
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.conversions import (
    joint_state_to_msg,
    object_states_to_msg,
    outcome_to_msg,
    suction_state_to_msg,
)
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROBOTS

FOLDER = ROBOTS / "ur10_suction"
ROBOT = load_robot(FOLDER)
ARM = ROBOT.arm("")
assert ARM.gripper is not None
CUP = f"{ARM.gripper.name}_controller"
PERIOD_S, LOST = 0.01, 2
ZERO = frozen((0.0, 0.0, 0.0))


def joints(now_s: float) -> JointStateMsg:
    q = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
    return joint_state_to_msg(JointState(now_s, q, dict.fromkeys(q, 0.0)))


def states(now_s: float) -> ObjectStates:
    bin_at = Pose.of((0.6, 1.5, -0.15))
    return object_states_to_msg({"bin_0": ObjectState(bin_at, ZERO, ZERO, now_s)}, 1, now_s)


def cup(now_s: float) -> SuctionStateMsg:
    return suction_state_to_msg(SuctionState(now_s, on=False, sealed=False))


STREAMS: dict[str, tuple[Any, Any]] = {
    "joint_states": (JointStateMsg, joints),
    "world/object_states": (ObjectStates, states),
    f"{CUP}/suction_state": (SuctionStateMsg, cup),
}


class Cell:
    """A robot and a world at rest, and services whose first answers never come."""

    def __init__(self) -> None:
        self.node = Node("fake_cell")
        self.points, self.pictures, self.asked = 0, list[str](), list[Any]()
        self.node.create_subscription(
            JointTrajectory, f"{ARM.controller}/joint_trajectory", self._count, LATEST
        )
        self.node.create_subscription(
            String, "decider/network", lambda m: self.pictures.append(m.data), LATCHED
        )
        group = ReentrantCallbackGroup()
        for kind, name in ((SetSuction, f"{CUP}/set_suction"), (SetBeltVelocity, "sim/set_belt_velocity")):
            self.node.create_service(kind, name, self._answer, callback_group=group)
        for topic in STREAMS:
            publish(self.node, topic)

    def _count(self, _message: Any) -> None:
        self.points += 1

    async def _answer(self, request: Any, response: Any) -> Any:
        self.asked.append(request)
        if sum(type(one) is type(request) for one in self.asked) <= LOST:
            await Future()  # as if the answer were lost
        response.outcome = outcome_to_msg(OK)
        return response


def publish(node: Node, topic: str) -> None:
    kind, make = STREAMS[topic]
    publisher = node.create_publisher(kind, topic, LATEST)
    now_s = lambda: 1e-9 * node.get_clock().now().nanoseconds  # noqa: E731
    node.create_timer(PERIOD_S, lambda: publisher.publish(make(now_s())))


@contextmanager
def second_publisher(topic: str) -> Iterator[None]:
    with stage() as on:
        node = Node("second_publisher", context=on.context)
        publish(node, topic)
        on.add(node)
        yield


@pytest.fixture(scope="module")
def deciding() -> Iterator[tuple[Cell, DeciderNode]]:
    rclpy.init(args=["--ros-args", "-p", f"robot_dir:={FOLDER}"])
    cell, decider = Cell(), DeciderNode()
    executor, over = SingleThreadedExecutor(), threading.Event()

    def spin() -> None:
        while not over.is_set():
            executor.spin_once(timeout_sec=0.1)

    for node in (cell.node, decider):
        executor.add_node(node)
    thread = threading.Thread(target=spin)
    thread.start()
    try:
        wait_for(lambda: decider.is_active and cell.points > 0, 120.0)
        yield cell, decider
    finally:
        over.set()
        thread.join()
        decider.begin_shutdown()
        decider.end_shutdown()
        executor.shutdown()
        for node in (cell.node, decider):
            destroy_with_actions(node)
        rclpy.shutdown()


def test_a_request_whose_answer_is_lost_is_sent_again_until_one_comes(
    deciding: tuple[Cell, DeciderNode],
) -> None:
    """Right after its start the network requests the cup off and the belt on."""
    cell, _ = deciding
    for kind in (SetSuction.Request, SetBeltVelocity.Request):
        found = lambda kind=kind: [one for one in cell.asked if isinstance(one, kind)]  # noqa: E731
        wait_for(lambda found=found: len(found()) == LOST + 1)
        assert all(one == found()[0] for one in found()), "the same wish"
        threading.Event().wait(4.0 * ANSWER_S)
        assert len(found()) == LOST + 1, "an answered request is sent again"


def test_a_service_that_never_answers_is_asked_a_bounded_number_of_times(
    deciding: tuple[Cell, DeciderNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, decider = deciding
    ros = decider._cell
    assert ros is not None
    monkeypatch.setattr(sys.modules[__name__], "LOST", 1000)
    del cell.asked[:]
    decider.executor.create_task(lambda: ros._cup_request.send(SetSuction.Request(on=False)))
    wait_for(lambda: len(cell.asked) == TRIES, 2.0 * TRIES * ANSWER_S + 10.0)
    threading.Event().wait(4.0 * ANSWER_S)
    assert len(cell.asked) == TRIES


@pytest.mark.parametrize("topic", STREAMS)
def test_a_decider_does_not_act_on_what_two_publish(deciding: tuple[Cell, DeciderNode], topic: str) -> None:
    cell, decider = deciding
    with second_publisher(topic):
        wait_for(lambda: "/second_publisher (GID " in decider.status_text, 60.0)
        assert topic in decider.status_text and "/fake_cell (GID " in decider.status_text
        cell.pictures.clear()
        wait_for(lambda: any("/second_publisher" in one for one in cell.pictures))
        points, ticks = cell.points, decider._last_s
        threading.Event().wait(HOLD_S + 1.0)
        assert cell.points <= points + 1, "one may have been on its way"
        assert decider._last_s == ticks
    wait_for(lambda: cell.points > points + 10, 3.0 * HOLD_S + 10.0)
    assert not decider.status_text
