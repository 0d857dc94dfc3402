"""The safety layer in front of ros2_control: windows to a controller that follows its topic, in the real simulation.

The simulation offers what joint_trajectory_controller offers on its topic: points at their times, replaced at once by
the next message, and rest at the last point.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from handiwork_msgs.msg import SafetyHeartbeat, SafetyState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST
from handiwork_ros.safety import names
from handiwork_safety.windows import BRAKE_S, LEAD_S
from support.nodes.ros_stage import stage, wait_for
from support.nodes.sim_client import ABORTED, CANCELED, ROBOT, SCENE, SUCCEEDED, Client

PACE = 0.5
"""The simulated seconds per second, slow enough for a busy machine."""
COMMANDS = "fr3_arm_hardware_controller/joint_trajectory"


def node_command(module: str, values: Mapping[str, object]) -> list[str]:
    """Return the command that starts a node with these parameters."""
    command = [sys.executable, "-m", module, "--ros-args"]
    for name, value in values.items():
        command += ["-p", f"{name}:={value}"]
    return command


class Rig:
    """A client in this process; the simulated hardware and safety_node, which may be killed, in their own processes."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self._folder = client, folder
        self.process: subprocess.Popen[bytes] | None = None
        self.states: list[Any] = []
        self.windows: list[Any] = []
        node = client.node
        node.create_subscription(SafetyState, names.STATE, self.states.append, LATCHED)
        node.create_subscription(JointTrajectory, COMMANDS, self.windows.append, LATEST)
        self.button = node.create_publisher(Bool, names.EMERGENCY_STOP, names.REQUESTS)
        self.heart = node.create_publisher(SafetyHeartbeat, names.HEARTBEAT, names.HEARTBEATS)
        self.services = {name: node.create_client(Trigger, name) for name in (names.RESET, names.RECOVER)}

    def start(self) -> None:
        self.states.clear()
        values = {"robot_dir": ROBOT, "scene_file": SCENE, "safety_file": self._folder / "safety.yaml"}
        log = (self._folder / "safety_node.log").open("ab")
        self.process = subprocess.Popen(node_command("handiwork_safety.node", values), stdout=log, stderr=log)
        log.close()
        wait_for(lambda: bool(self.states) and self.client.arm.server_is_ready(), 60.0)
        ready = (service.service_is_ready for service in self.services.values())
        wait_for(lambda: all(ready) and self.button.get_subscription_count() > 0, 30.0)
        wait_for(lambda: self.heart.get_subscription_count() > 0, 30.0)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(20.0)
            self.process = None
            wait_for(lambda: not self.client.arm.server_is_ready(), 30.0)

    def call(self, name: str) -> Any:
        return self.client.answer(lambda: self.services[name].call_async(Trigger.Request()))

    def until(self, state: int) -> None:
        wait_for(lambda: bool(self.states) and self.states[-1].state == state, 60.0)

    def moving(self) -> Any:
        handle = self.client.send(self.client.arm, self.client.motion(1.5, 6.0))
        wait_for(lambda: self.client.speed() > 0.2, 60.0)
        return handle


@pytest.fixture(scope="module")
def hardware(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    folder = tmp_path_factory.mktemp("safety")
    zone = "{name: doorway, shape: box, center: [-0.35, 0.45, 0.45], size: [0.3, 0.5, 0.9]}"
    (folder / "safety.yaml").write_text(f"zones: [{zone}]\n", encoding="utf-8")
    values = {"robot_dir": ROBOT, "scene_file": SCENE, "controllers": "hardware", "real_time_factor": PACE}
    # In a process of its own, so that the threads of this one do not hold it up.
    with stage() as on, (folder / "sim_bridge.log").open("ab") as log:
        process = subprocess.Popen(node_command("sim_bridge.node", values), stdout=log, stderr=log)
        client = Client(on)
        rig = Rig(client, folder)
        try:
            wait_for(
                lambda: "joint_states" in client.newest and client.services["reset"].service_is_ready(), 60.0
            )
            yield rig
        finally:
            rig.end()
            process.terminate()
            process.wait(30.0)


@pytest.fixture
def rig(hardware: Rig) -> Rig:
    hardware.client.start_over()
    if hardware.process is None:
        hardware.start()
    elif hardware.states[-1].state == SafetyState.PROTECTIVE_STOP:  # a remainder of an earlier test
        assert hardware.call(names.RECOVER).success
        hardware.until(SafetyState.NORMAL)
    return hardware


def test_a_goal_is_followed_by_windows_and_reached(rig: Rig) -> None:
    rig.windows.clear()
    client = rig.client
    goal = client.motion(0.5, 2.0)
    end = list(goal.trajectory.points[0].positions)
    assert client.result(client.send(client.arm, goal)).status == SUCCEEDED
    assert abs(client.joints()["fr3_joint1"] - end[0]) < 0.005
    assert len(rig.windows) > 20
    for window in rig.windows:
        assert len(window.points) > 1  # one alone is followed as a stream
        last = window.points[-1]
        assert max(abs(v) for v in last.velocities) < 1e-9
        assert last.time_from_start.sec + 1e-9 * last.time_from_start.nanosec <= LEAD_S + BRAKE_S + 0.05


def test_a_killed_safety_node_leaves_the_arm_at_rest_on_its_path(rig: Rig) -> None:
    client = rig.client
    rig.moving()
    killed_s = client.now_s()
    assert rig.process is not None
    rig.process.kill()
    # In simulated time, plus the measurements that were under way when the process died.
    wait_for(lambda: client.speed() < 0.01, 60.0)
    assert client.now_s() - killed_s < LEAD_S + BRAKE_S + 0.5
    still = client.joints()["fr3_joint1"]
    wait_for(lambda: client.now_s() > killed_s + 2.5, 60.0)
    assert abs(client.joints()["fr3_joint1"] - still) < 0.002
    assert still < 1.4, "the motion was carried out to its end without anybody to supervise it"
    rig.end(signal.SIGKILL)


def test_a_frozen_safety_node_leaves_the_arm_at_rest_too(rig: Rig) -> None:
    client = rig.client
    rig.moving()
    assert rig.process is not None
    rig.process.send_signal(signal.SIGSTOP)
    try:
        frozen_s = client.now_s()
        wait_for(lambda: client.speed() < 0.01, 60.0)
        assert client.now_s() - frozen_s < LEAD_S + BRAKE_S + 0.5
    finally:
        rig.end(signal.SIGKILL)


def test_an_emergency_stop_stops_the_hardware(rig: Rig) -> None:
    client = rig.client
    handle = rig.moving()
    client.executor.create_task(rig.button.publish, Bool(data=True))
    answer = client.result(handle)
    assert (answer.status, answer.result.error_code) == (ABORTED, int(ErrorCode.EMERGENCY_STOP))
    assert client.speed() < 0.02
    refused = client.result(client.send(client.arm, client.motion(0.1, 1.0)))
    assert refused.result.error_code == int(ErrorCode.EMERGENCY_STOP)
    client.executor.create_task(rig.button.publish, Bool(data=False))
    wait_for(lambda: not rig.states[-1].emergency_stop_pressed and rig.states[-1].at_rest, 60.0)
    assert rig.call(names.RESET).success
    rig.until(SafetyState.PROTECTIVE_STOP)
    assert rig.call(names.RECOVER).success
    rig.until(SafetyState.NORMAL)
    assert client.result(client.send(client.arm, client.motion(0.1, 1.0))).status == SUCCEEDED


def test_a_goal_that_violates_a_limit_anywhere_is_refused_before_anything_moves(rig: Rig) -> None:
    client, before = rig.client, rig.client.joints()
    rig.windows.clear()
    into_zone = client.result(client.send(client.arm, client.motion(2.2, 8.0)))
    assert into_zone.result.error_code == int(ErrorCode.INVALID_GOAL)
    assert "zone 'doorway'" in into_zone.result.error_string
    assert "nothing moved" in into_zone.result.error_string
    sharp = client.result(client.send(client.arm, client.motion(0.25, 0.25)))
    assert "fr3_joint1 was sent with an acceleration" in sharp.result.error_string
    assert not rig.windows
    assert client.joints()["fr3_joint1"] == pytest.approx(before["fr3_joint1"], abs=1e-4)
    assert rig.states[-1].state == SafetyState.NORMAL


def test_a_cancel_brakes_on_the_path(rig: Rig) -> None:
    client = rig.client
    handle = rig.moving()
    client.answer(handle.cancel_goal_async)
    assert client.result(handle).status == CANCELED
    assert client.speed() < 0.02


def test_a_lost_heartbeat_brakes_the_hardware_and_leaves_it_ready(rig: Rig) -> None:
    client = rig.client
    beat = SafetyHeartbeat(node="/skill_server", arms=["fr3_arm"])
    client.executor.create_task(rig.heart.publish, beat)
    handle = client.send(client.arm, client.motion(1.5, 20.0))
    client.executor.create_task(rig.heart.publish, beat)
    answer = client.result(handle)
    assert (answer.status, answer.result.error_code) == (ABORTED, int(ErrorCode.PROTECTIVE_STOP))
    assert "heartbeat of /skill_server was lost" in answer.result.error_string
    assert client.speed() < 0.02
    rig.until(SafetyState.NORMAL)
    assert client.result(client.send(client.arm, client.motion(0.1, 1.0))).status == SUCCEEDED


def test_a_goal_after_another_begins_where_that_one_ended(rig: Rig) -> None:
    """The goals follow each other without a reset of the world, and after a goal that was refused."""
    client = rig.client
    begin = client.joints()["fr3_joint1"]
    for turn in (0.3, -0.5, 0.2):
        sharp = client.result(client.send(client.arm, client.motion(0.25, 0.25)))
        assert sharp.result.error_code == int(ErrorCode.INVALID_GOAL)
        answer = client.result(client.send(client.arm, client.motion(turn, 2.0)))
        assert answer.status == SUCCEEDED, answer.result.error_string
    assert client.joints()["fr3_joint1"] == pytest.approx(begin, abs=0.01)


def test_the_simulated_hardware_latches_no_stop_of_its_own(rig: Rig) -> None:
    """The hardware follows a jump of the command. A stop of its own could not be ended, and later goals would fail."""
    client = rig.client
    jolts = client.node.create_publisher(JointTrajectory, COMMANDS, LATEST)
    wait_for(lambda: jolts.get_subscription_count() > 1, 60.0)  # the hardware and this test
    begin = client.joints()["fr3_joint1"]
    client.executor.create_task(jolts.publish, jolt(client, 0.05, 0.06))
    wait_for(
        lambda: abs(client.joints()["fr3_joint1"] - begin - 0.05) < 0.005 and client.speed() < 0.01, 20.0
    )
    client.executor.create_task(client.node.destroy_publisher, jolts)
    answer = client.result(client.send(client.arm, client.motion(0.3, 2.0)))
    assert answer.status == SUCCEEDED, answer.result.error_string


def jolt(client: Client, turn: float, duration_s: float) -> JointTrajectory:
    """Make a window that turns the first joint far too sharply for the safety layer."""
    message = client.motion(turn, duration_s).trajectory
    still = client.motion(0.0, 0.5 * duration_s).trajectory.points[0]
    message.points = [still, message.points[0]]
    return message
