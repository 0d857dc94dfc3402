"""Arms as they are sold: fake drivers with their names, speed scaling, stops, and results that come late or never."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Bool, Float64, UInt8

from control_msgs.action import FollowJointTrajectory, GripperCommand
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState
from handiwork_core.robot.driver import DRIVERS, Driver, StopSignal
from handiwork_core.robot.robot import GripperAction
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros import conversions as to
from handiwork_ros.ports.arm_and_gripper import ArmClient, GripperClient
from handiwork_ros.ports.driver_watch import DriverWatch
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROBOTS

SAFETY, _MODE, PROGRAM = DRIVERS["universal_robots"].signals
# The wheels have no ur_dashboard_msgs; SafetyMode is one uint8, too.
SIGNALS = (StopSignal(SAFETY.topic, "std_msgs/msg/UInt8", "data", SAFETY.states), PROGRAM)
UR = Driver("universal_robots", SIGNALS, DRIVERS["universal_robots"].speed_scaling)
DESCRIBED = load_robot(ROBOTS / "fr3")
_ARM = DESCRIBED.arm("")
assert _ARM.gripper is not None
GRIPPER = replace(_ARM.gripper, action="franka_gripper/gripper_action", action_type=GripperAction.SINGLE)
ARM = replace(_ARM, controller_name="scaled_joint_trajectory_controller", driver=UR, gripper=GRIPPER)
ROBOT = replace(DESCRIBED, arms={ARM.name: ARM})
STEP_S = 0.01
NORMAL, PROTECTIVE = 1, 3


def never() -> bool:
    return False


def path(lasts_s: float = 0.4) -> Trajectory:
    q = np.stack([ARM.home_q, ARM.home_q + 0.1])
    return Trajectory(ARM.joint_names, np.array([0.0, lasts_s]), q, q * 0, q * 0)


@dataclass
class FakeDriver:
    """An arm with the habits of a UR: its slider scales the path, a stop holds the goal and ends it late or never."""

    node: Node
    scaling: float = 1.0
    stop_late: bool = False
    """Abort the goal at a stop, and leave the report of the stop to the test."""
    ignores_cancel: bool = False
    path_s: float = 0.0
    is_stopped: bool = False
    begun: threading.Event = field(default_factory=threading.Event)
    grip: Any = None

    def __post_init__(self) -> None:
        common: dict[str, Any] = {
            "callback_group": ReentrantCallbackGroup(),
            "cancel_callback": lambda _handle: CancelResponse.ACCEPT,
            "result_timeout": 10,
        }
        name = f"{ARM.controller}/follow_joint_trajectory"
        self._servers = [
            ActionServer(self.node, FollowJointTrajectory, name, self._follow, **common),
            ActionServer(self.node, GripperCommand, GRIPPER.action_name, self._grip, **common),
        ]
        self._joints = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)
        self._safety = self.node.create_publisher(UInt8, SAFETY.topic, LATCHED)
        self._program = self.node.create_publisher(Bool, PROGRAM.topic, LATCHED)
        self._scaling = self.node.create_publisher(Float64, UR.speed_scaling, LATEST)
        self.report(NORMAL)
        self._q, self._speed, self._goal = ARM.home_q.copy(), 0.0, None
        self.node.create_timer(STEP_S, self._step)

    def report(self, safety: int, *, runs: bool = True) -> None:
        """Publish the safety mode and whether the program runs."""
        self._program.publish(Bool(data=runs))
        self._safety.publish(UInt8(data=safety))

    def protective_stop(self) -> None:
        self.is_stopped = True
        if not self.stop_late:
            self.report(PROTECTIVE, runs=False)

    def unlock(self) -> None:
        self.is_stopped = False
        self.report(NORMAL)

    def _step(self) -> None:
        scale = 0.0 if self.is_stopped else self.scaling
        if self._goal is not None:
            first, last, lasts_s = self._goal
            self.path_s = min(lasts_s, self.path_s + scale * STEP_S)
            before, self._q = self._q, first + (last - first) * self.path_s / lasts_s
            self._speed = float(np.abs(self._q - before).max()) / STEP_S
        position = dict(zip(ARM.joint_names, self._q.tolist(), strict=True))
        velocity = dict.fromkeys(ARM.joint_names, self._speed)
        now_s = 1e-9 * self.node.get_clock().now().nanoseconds
        self._joints.publish(to.joint_state_to_msg(JointState(now_s, position, velocity)))
        self._scaling.publish(Float64(data=100.0 * scale))

    async def _follow(self, handle: Any) -> Any:
        points = handle.request.trajectory.points
        end = points[-1].time_from_start
        first, last = (np.array(point.positions) for point in (points[0], points[-1]))
        self.path_s, self._goal = 0.0, (first, last, end.sec + 1e-9 * end.nanosec)
        self.begun.set()
        result = FollowJointTrajectory.Result()
        while self.path_s < self._goal[2]:
            await _turn()
            if handle.is_cancel_requested and not self.ignores_cancel:
                self._goal, self._speed = None, 0.0
                handle.canceled()
                return result
            if self.is_stopped and self.stop_late:
                self._goal, self._speed = None, 0.0
                result.error_code, result.error_string = -4, "aborted due to hardware error"
                handle.abort()
                return result
        self._goal, self._speed = None, 0.0
        handle.succeed()
        return result

    async def _grip(self, handle: Any) -> Any:
        self.grip = handle.request.command
        handle.succeed()
        return GripperCommand.Result(position=self.grip.position, reached_goal=True)


class _turn:
    """Wait for one turn of the executor."""

    def __await__(self) -> Iterator[None]:
        yield


@dataclass
class Bench:
    driver: FakeDriver
    arm: ArmClient
    gripper: GripperClient
    watch: DriverWatch


@pytest.fixture
def bench(nothing_left_over: None) -> Iterator[Bench]:
    with stage() as made:
        node = Node("client", context=made.context)
        world, watch = RosWorldSource(node, ROBOT), DriverWatch(node, ROBOT)
        arm, gripper = ArmClient(node, ARM, world, driver=watch), GripperClient(node, GRIPPER)
        driver = FakeDriver(Node("driver", context=made.context))
        made.add(node)
        made.add(driver.node)
        wait_for(lambda: world.joint_age_s() < 1.0 and watch.has_signal(ARM.name))
        wait_for(lambda: arm._client.server_is_ready() and gripper._client.server_is_ready())
        yield Bench(driver, arm, gripper, watch)
        driver.scaling, driver.ignores_cancel = 1.0, False
        driver.unlock()


def in_thread(call: Callable[[], Outcome]) -> tuple[threading.Thread, list[Outcome]]:
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(call()))
    thread.start()
    return thread, outcomes


def test_a_gripper_is_commanded_by_the_action_of_its_driver(bench: Bench) -> None:
    assert bench.gripper.move(0.04, force_n=30.0, should_stop=never).ok
    assert (bench.driver.grip.position, bench.driver.grip.max_effort) == (pytest.approx(0.02), 30.0)


def test_a_slider_stretches_a_motion_beyond_its_planned_time_and_patience(bench: Bench) -> None:
    bench.driver.scaling = 0.05
    assert bench.arm.follow(path(0.6), should_stop=never).ok
    assert bench.driver.path_s == pytest.approx(0.6)


def test_a_motion_waits_at_a_slider_of_0_and_goes_on(bench: Bench) -> None:
    bench.driver.scaling = 0.0
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    assert bench.driver.begun.wait(60.0)
    wait_for(lambda: bench.watch.scaling(ARM.name) == 0.0)
    thread.join(7.0)
    assert thread.is_alive(), outcomes
    bench.driver.scaling = 1.0
    thread.join(60.0)
    assert outcomes[0].ok


def test_a_protective_stop_ends_the_motion_and_says_what_to_press(bench: Bench) -> None:
    bench.driver.scaling = 0.1
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    assert bench.driver.begun.wait(60.0)
    bench.driver.protective_stop()
    thread.join(60.0)
    assert outcomes[0].code is Code.ROBOT_STOPPED
    assert "protective stop" in outcomes[0].message and "Enable Robot" in outcomes[0].message
    refused = bench.arm.follow(path(), should_stop=never)
    assert refused.code is Code.ROBOT_STOPPED and bench.watch.refusal() is not None
    bench.driver.unlock()
    bench.driver.scaling = 1.0
    wait_for(lambda: bench.watch.stopped(ARM.name) is None)
    assert bench.arm.follow(path(), should_stop=never).ok


def test_a_stop_that_is_reported_after_the_goal_was_aborted_is_its_cause(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained = bench.arm._explained

    def reported_late(failed: Outcome) -> Outcome:
        bench.driver.report(PROTECTIVE, runs=False)
        return explained(failed)

    monkeypatch.setattr(bench.arm, "_explained", reported_late)
    bench.driver.stop_late, bench.driver.scaling = True, 0.1
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    assert bench.driver.begun.wait(60.0)
    bench.driver.protective_stop()
    thread.join(60.0)
    assert outcomes[0].code is Code.ROBOT_STOPPED
    assert "hardware error" in outcomes[0].message and "Enable Robot" in outcomes[0].message


def test_a_stopped_driver_that_never_ends_its_goal_is_named(bench: Bench) -> None:
    bench.driver.ignores_cancel, bench.driver.scaling = True, 0.1
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    assert bench.driver.begun.wait(60.0)
    bench.driver.protective_stop()
    thread.join(60.0)
    assert outcomes[0].code is Code.ROBOT_STOPPED
    assert "has not confirmed the cancel" in outcomes[0].message


def test_a_program_that_does_not_run_is_a_stop(bench: Bench) -> None:
    bench.driver.report(NORMAL, runs=False)
    wait_for(lambda: bench.watch.stopped(ARM.name) is not None)
    refused = bench.arm.follow(path(), should_stop=never)
    assert refused.code is Code.ROBOT_STOPPED and "External Control" in refused.message


def test_a_type_that_is_not_installed_is_named() -> None:
    with stage() as made:
        node = Node("client", context=made.context)
        robot = replace(ROBOT, arms={ARM.name: replace(ARM, driver=DRIVERS["franka"])})
        watch = DriverWatch(node, robot)
        made.add(node)
        (topic,) = watch.unreadable
        assert topic == "franka_robot_state_broadcaster/robot_state" and watch.stopped(ARM.name) is None
