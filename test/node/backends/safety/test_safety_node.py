"""The safety layer over ROS, in the node that simulates: emergency stop, recovery, reduced speed, heartbeat lease."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from handiwork_msgs.msg import SafetyHeartbeat, SafetyState
from handiwork_msgs.srv import SetSpeedScale
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from control_msgs.action import ParallelGripperCommand
from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST
from handiwork_ros.safety import names
from support.nodes.ros_stage import wait_for
from support.nodes.sim_client import ABORTED, SUCCEEDED, Client

REST_S = 60.0
"""The longest time until an arm is at rest, s of steady time; the machine may be busy."""


class Operator:
    """A client of the safety layer: receives the state, publishes stops, calls the services."""

    def __init__(self, client: Client) -> None:
        self.client, node = client, client.node
        self.states: list[Any] = []
        node.create_subscription(SafetyState, names.STATE, self.states.append, LATCHED)
        self.button = node.create_publisher(Bool, names.EMERGENCY_STOP, names.REQUESTS)
        self.heart = node.create_publisher(SafetyHeartbeat, names.HEARTBEAT, names.HEARTBEATS)
        self.services = {
            name: node.create_client(SetSpeedScale if name == names.SET_SPEED_SCALE else Trigger, name)
            for name in (names.EMERGENCY_STOP, names.RESET, names.RECOVER, names.SET_SPEED_SCALE)
        }
        wait_for(lambda: all(service.service_is_ready() for service in self.services.values()), 60.0)
        wait_for(lambda: self.button.get_subscription_count() >= 1 and bool(self.states), 60.0)

    @property
    def state(self) -> Any:
        return self.states[-1]

    def call(self, name: str, request: Any = None) -> Any:
        asked = Trigger.Request() if request is None else request
        return self.client.answer(lambda: self.services[name].call_async(asked))

    def do(self, action: Callable[[], object]) -> None:
        """Run a function on the executor's thread, and wait: rclpy runs the last one of several tasks first."""
        done = threading.Event()
        self.client.executor.create_task(lambda: (action(), done.set()))
        assert done.wait(REST_S)

    def press(self, *, down: bool) -> None:
        self.do(lambda: self.button.publish(Bool(data=down)))

    def beat(self, arms: list[str]) -> None:
        self.do(lambda: self.heart.publish(SafetyHeartbeat(node="/skill_server", arms=arms)))

    def until(self, state: int) -> None:
        wait_for(lambda: self.state.state == state, REST_S)

    def until_rest(self) -> None:
        wait_for(lambda: self.state.at_rest, REST_S)

    def make_ready(self) -> None:
        """End the stops that a test left behind."""
        self.press(down=False)
        wait_for(lambda: not self.state.emergency_stop_pressed, REST_S)
        self.until_rest()
        if self.state.state == SafetyState.EMERGENCY_STOP:
            assert self.call(names.RESET).success
            self.until(SafetyState.PROTECTIVE_STOP)
        if self.state.state == SafetyState.PROTECTIVE_STOP:
            assert self.call(names.RECOVER).success
        if self.state.speed_scale < 1.0:
            assert self.call(names.SET_SPEED_SCALE, SetSpeedScale.Request(speed_scale=1.0)).success
        self.until(SafetyState.NORMAL)


@pytest.fixture(scope="module")
def panel(simulation: Client) -> Operator:
    return Operator(simulation)


@pytest.fixture
def operator(panel: Operator, client: Client) -> Iterator[Operator]:
    panel.make_ready()
    yield panel
    panel.make_ready()


def moving(client: Client) -> Any:
    handle = client.send(client.arm, client.motion(1.5, 4.0))
    wait_for(lambda: client.speed() > 0.2, REST_S)
    return handle


def test_the_state_is_latched_and_names_the_limits_in_force(operator: Operator) -> None:
    assert operator.state.state == SafetyState.NORMAL
    kinds = [text.partition(":")[0] for text in operator.state.limits]
    assert kinds == [
        "position",
        "velocity",
        "acceleration",
        "effort",
        "tool_speed",
        "contact_force",
        "zones",
        "heartbeat",
    ]
    assert not any("off" in text for text in operator.state.limits)


@pytest.mark.parametrize("by", ["topic", "service"])
def test_an_emergency_stop_in_mid_motion_ends_the_goal_and_latches(
    client: Client, operator: Operator, by: str, capfd: pytest.CaptureFixture[str]
) -> None:
    handle = moving(client)
    capfd.readouterr()
    if by == "topic":
        operator.press(down=True)
    else:
        assert operator.call(names.EMERGENCY_STOP).success
    answer = client.result(handle)
    assert (answer.status, answer.result.error_code) == (ABORTED, int(ErrorCode.EMERGENCY_STOP))
    assert f"requested by {'topic safety/emergency_stop' if by == 'topic' else 'a service call'}" in (
        answer.result.error_string
    )
    operator.until(SafetyState.EMERGENCY_STOP)
    operator.until_rest()
    assert client.speed() < 0.02
    assert operator.state.stop_category == 1
    assert capfd.readouterr().err.count("[ERROR]") == 1, "one stop is one line of the log"
    refused = client.result(client.send(client.arm, client.motion(0.1, 1.0)))
    assert (refused.status, refused.result.error_code) == (ABORTED, int(ErrorCode.EMERGENCY_STOP))
    goal = ParallelGripperCommand.Goal()
    goal.command.name, goal.command.position = ["fr3_finger_joint1"], [0.01]
    assert client.result(client.send(client.gripper, goal)).status == ABORTED


def test_reset_waits_for_the_button_and_recovery_for_the_reset(client: Client, operator: Operator) -> None:
    operator.press(down=True)
    operator.until(SafetyState.EMERGENCY_STOP)
    operator.until_rest()
    wait_for(lambda: operator.state.emergency_stop_pressed, REST_S)
    held = operator.call(names.RESET)
    assert not held.success and "still held" in held.message
    early = operator.call(names.RECOVER)
    assert not early.success and "safety/reset first" in early.message
    operator.press(down=False)
    wait_for(lambda: not operator.state.emergency_stop_pressed, REST_S)
    assert operator.state.state == SafetyState.EMERGENCY_STOP
    assert operator.call(names.RESET).success
    operator.until(SafetyState.PROTECTIVE_STOP)
    assert operator.call(names.RECOVER).success
    operator.until(SafetyState.NORMAL)
    again = client.result(client.send(client.arm, client.motion(0.1, 1.0)))
    assert again.status == SUCCEEDED


def test_a_release_by_another_publisher_does_not_hide_a_button_that_is_held(operator: Operator) -> None:
    other = operator.client.node.create_publisher(Bool, names.EMERGENCY_STOP, names.REQUESTS)
    wait_for(lambda: other.get_subscription_count() >= 1, REST_S)
    over = threading.Event()

    def hold() -> None:
        while not over.wait(0.05):
            operator.press(down=True)
            operator.do(lambda: other.publish(Bool(data=False)))

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        operator.until(SafetyState.EMERGENCY_STOP)
        operator.until_rest()
        assert not operator.call(names.RESET).success
    finally:
        over.set()
        holder.join()
        operator.do(lambda: operator.client.node.destroy_publisher(other))
    assert operator.state.state == SafetyState.EMERGENCY_STOP


def test_a_latched_request_is_received_though_it_was_made_before_the_robot_was_found(
    operator: Operator,
) -> None:
    latched = QoSProfile(
        depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
    )
    node = operator.client.node
    publisher = node.create_publisher(Bool, names.EMERGENCY_STOP, latched)
    # Published before any subscription can have matched: only a latched subscriber receives it.
    publisher.publish(Bool(data=True))
    operator.until(SafetyState.EMERGENCY_STOP)
    operator.do(lambda: node.destroy_publisher(publisher))


def test_too_sharp_a_trajectory_is_stopped_and_recovered(client: Client, operator: Operator) -> None:
    goal = client.motion(0.25, 0.25)  # 24 rad/s^2 where 10 are the joint's limit
    answer = client.result(client.send(client.arm, goal))
    assert (answer.status, answer.result.error_code) == (ABORTED, int(ErrorCode.PROTECTIVE_STOP))
    assert "fr3_joint1 was sent with an acceleration" in answer.result.error_string
    operator.until(SafetyState.PROTECTIVE_STOP)
    assert (operator.state.cause, operator.state.subject) == ("acceleration", "fr3_joint1")
    assert operator.state.value > operator.state.limit == pytest.approx(15.0)
    operator.until_rest()
    assert operator.call(names.RECOVER).success
    operator.until(SafetyState.NORMAL)


def test_streamed_points_are_refused_while_a_stop_is_latched(client: Client, operator: Operator) -> None:
    assert operator.call(names.EMERGENCY_STOP).success
    operator.until_rest()
    stream = client.node.create_publisher(JointTrajectory, "fr3_arm_controller/joint_trajectory", LATEST)
    wait_for(lambda: stream.get_subscription_count() > 0, REST_S)
    joints = client.joints()
    points = [joints[f"fr3_joint{i}"] for i in range(1, 8)]
    points[0] += 0.1
    message = JointTrajectory(
        joint_names=[f"fr3_joint{i}" for i in range(1, 8)], points=[JointTrajectoryPoint(positions=points)]
    )
    begin_s = client.now_s()
    while client.now_s() < begin_s + 0.5:
        operator.do(lambda: stream.publish(message))
        threading.Event().wait(0.02)
    assert abs(client.joints()["fr3_joint1"] - joints["fr3_joint1"]) < 1e-3
    operator.do(lambda: client.node.destroy_publisher(stream))


def test_reduced_speed_is_shown_and_slows_goals_down(client: Client, operator: Operator) -> None:
    assert not operator.call(names.SET_SPEED_SCALE, SetSpeedScale.Request(speed_scale=1.5)).success
    assert operator.call(names.SET_SPEED_SCALE, SetSpeedScale.Request(speed_scale=0.25)).success
    operator.until(SafetyState.REDUCED)
    begin_s = client.now_s()
    assert client.result(client.send(client.arm, client.motion(0.3, 1.0))).status == SUCCEEDED
    assert client.now_s() - begin_s > 3.0


def test_a_lost_heartbeat_stops_a_supervised_motion_and_no_other(client: Client, operator: Operator) -> None:
    operator.beat(["fr3_arm"])
    handle = client.send(client.arm, client.motion(2.0, 20.0))
    operator.beat(["fr3_arm"])
    answer = client.result(handle)
    assert (answer.status, answer.result.error_code) == (ABORTED, int(ErrorCode.PROTECTIVE_STOP))
    assert "heartbeat of /skill_server was lost" in answer.result.error_string
    assert client.speed() < 0.02
    operator.until(SafetyState.NORMAL)
    # A client without a lease is not stopped by the silence of a lease holder.
    answer = client.result(client.send(client.arm, client.motion(-0.5, 3.0)))
    assert answer.status == SUCCEEDED


HOLDER = """
import sys, rclpy
from rclpy.node import Node
from handiwork_ros.safety.heartbeat import HeartbeatPublisher
rclpy.init()
node = Node("skill_server")
publisher = HeartbeatPublisher(node, lambda: ["fr3_arm"])
print("beating", flush=True)
rclpy.spin(node)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_holder_that_dies_or_freezes_in_mid_motion_stops_the_arm(
    client: Client, operator: Operator, number: signal.Signals
) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, env=os.environ)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"beating\n"
        wait_for(lambda: operator.client.node.count_publishers(names.HEARTBEAT) > 1, REST_S)
        begin_s = time.monotonic()
        handle = client.send(client.arm, client.motion(2.0, 30.0))
        wait_for(lambda: client.speed() > 0.02 and time.monotonic() - begin_s > 1.5, REST_S)
        assert operator.state.state == SafetyState.NORMAL
        holder.send_signal(number)
        answer = client.result(handle)
        assert answer.result.error_code == int(ErrorCode.PROTECTIVE_STOP)
        assert "heartbeat of /skill_server was lost" in answer.result.error_string
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close() if holder.stdout else None


def test_a_frozen_plain_client_holds_no_lease(client: Client, operator: Operator) -> None:
    """A goal without a lease continues to its end, under the limits."""
    answer = client.result(client.send(client.arm, client.motion(0.4, 2.5)))
    assert answer.status == SUCCEEDED, operator.state.reason
