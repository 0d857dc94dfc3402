"""Arm, gripper, clock and frames with small real action servers whose behaviour the test controls."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from handiwork_core.intake.robot_watchdog import SILENCE_S
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros import conversions as to
from handiwork_ros.ports.arm_and_gripper import ArmClient, GripperClient
from handiwork_ros.ports.frames import FrameBuffer, StaleFrame, UnknownFrame
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.qos import LATEST, TF, TF_STATIC
from handiwork_ros.rclpy_support.ros_clock import RosClock
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
GRIPPER = ARM.gripper
assert GRIPPER is not None
SWING_RAD_S = 30.0
"""Angular frequency of an arm that swings out, rad/s."""


def never() -> bool:
    return False


def path() -> Trajectory:
    q = np.stack([ARM.home_q, ARM.home_q + 0.1])
    return Trajectory(ARM.joint_names, np.array([0.0, 0.5]), q, q * 0, q * 0)


@dataclass
class Robot:
    """Controllers: a goal ends with ``error_code`` at once, or runs on until cancelled when ``endless``.

    ``holds``: a goal that has arrived is not answered as long as this is true; ``brakes``: a gripper's goal does not
    end as long as this is true, cancelled or not; ``moving`` counts goals that run.
    """

    node: Node
    accept: bool = True
    endless: bool = False
    error_code: int = 0
    stalled: bool = False
    speed: float = 0.0
    swings: bool = False
    silent: bool = False
    stamp_s: float = 0.0
    holds: bool = False
    brakes: bool = False
    moving: int = 0
    moved: int = 0
    arrived: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)
    asked_position: float = -1.0
    goal_tolerance: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        common: dict[str, Any] = {
            "goal_callback": self._on_goal,
            "callback_group": ReentrantCallbackGroup(),
            "cancel_callback": self._on_cancel,
            "result_timeout": 10,
        }
        self._servers = [
            ActionServer(
                self.node,
                FollowJointTrajectory,
                f"{ARM.controller}/follow_joint_trajectory",
                self._follow,
                **common,
            ),
            ActionServer(
                self.node,
                ParallelGripperCommand,
                f"{GRIPPER.name}_controller/gripper_cmd",
                self._grip,
                **common,
            ),
        ]
        self._pub = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)
        self.node.create_timer(0.01, self._publish)

    def _publish(self) -> None:
        if not self.silent:
            position = dict.fromkeys(ARM.joint_names, 0.0)
            now_s = self.stamp_s or 1e-9 * self.node.get_clock().now().nanoseconds
            speed = self.speed * math.cos(SWING_RAD_S * now_s) if self.swings else self.speed
            velocity = dict.fromkeys(ARM.joint_names, speed)
            self._pub.publish(to.joint_state_to_msg(JointState(now_s, position, velocity)))

    async def _on_goal(self, _goal: Any) -> GoalResponse:
        self.arrived.set()
        while self.holds:
            await _turn()
        return GoalResponse.ACCEPT if self.accept else GoalResponse.REJECT

    def _on_cancel(self, _handle: Any) -> CancelResponse:
        self.cancelled.set()
        return CancelResponse.ACCEPT

    async def _follow(self, handle: Any) -> Any:
        self.goal_tolerance = {one.name: one.position for one in handle.request.goal_tolerance}
        self.started.set()
        self.moving, self.moved = self.moving + 1, self.moved + 1
        while self.endless and not handle.is_cancel_requested:
            await _turn()
        self.moving -= 1
        result = FollowJointTrajectory.Result(error_code=self.error_code, error_string="planted")
        if self.endless:
            handle.canceled()
        elif self.error_code:
            handle.abort()
        else:
            handle.succeed()
        return result

    async def _grip(self, handle: Any) -> Any:
        self.asked_position = handle.request.command.position[0]
        self.started.set()
        self.moving += 1
        while self.brakes or (self.endless and not handle.is_cancel_requested):
            await _turn()
        self.moving -= 1
        if self.endless:
            handle.canceled()
        else:
            handle.succeed()
        return ParallelGripperCommand.Result(stalled=self.stalled, reached_goal=False)


class _turn:
    """Wait for one turn of the executor."""

    def __await__(self) -> Iterator[None]:
        yield


@dataclass
class Bench:
    stage: Stage
    robot: Robot
    arm: ArmClient
    gripper: GripperClient
    node: Node
    world: RosWorldSource


@pytest.fixture
def bench(nothing_left_over: None) -> Iterator[Bench]:
    with stage() as made:
        node = Node("client", context=made.context)
        world = RosWorldSource(node, ROBOT)
        arm, gripper = ArmClient(node, ARM, world), GripperClient(node, GRIPPER)
        robot = Robot(Node("robot", context=made.context))
        made.add(node)
        made.add(robot.node)
        wait_for(lambda: world.joint_age_s() < 1.0)
        wait_for(lambda: arm._client.server_is_ready() and gripper._client.server_is_ready())
        yield Bench(made, robot, arm, gripper, node, world)
        robot.endless = robot.holds = robot.brakes = False


def in_thread(call: Callable[[], Outcome]) -> tuple[threading.Thread, list[Outcome]]:
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(call()))
    thread.start()
    return thread, outcomes


@pytest.mark.parametrize(
    ("error_code", "code"),
    [(0, Code.OK), (-4, Code.PATH_TOLERANCE), (-5, Code.GOAL_TOLERANCE), (-1, Code.CONTROLLER_REFUSED)],
)
def test_the_controllers_verdict_becomes_a_cause(bench: Bench, error_code: int, code: Code) -> None:
    bench.robot.error_code = error_code
    outcome = bench.arm.follow(path(), should_stop=never)
    assert outcome.code is code
    assert error_code == 0 or "planted" in outcome.message


def test_the_tolerances_of_a_trajectory_reach_the_controller(bench: Bench) -> None:
    wanted = np.linspace(0.001, 0.006, len(ARM.joint_names))
    assert bench.arm.follow(replace(path(), goal_tolerance=wanted), should_stop=never).ok
    assert bench.robot.goal_tolerance == dict(zip(ARM.joint_names, wanted.tolist(), strict=True))
    assert bench.arm.follow(path(), should_stop=never).ok
    assert not bench.robot.goal_tolerance


def test_a_motion_that_ends_by_contact_is_not_sent_to_a_controller_that_would_press_on(bench: Bench) -> None:
    guarded = replace(path(), stop_force=np.array((0.0, 0.0, 10.0)))
    before = bench.robot.moved
    refused = bench.arm.follow(guarded, should_stop=never)
    assert refused.code is Code.CONTROLLER_REFUSED
    assert "command the robot through safety_node" in refused.message
    assert bench.robot.moved == before


def test_a_rejected_goal_is_refused(bench: Bench) -> None:
    bench.robot.accept = False
    assert bench.arm.follow(path(), should_stop=never).code is Code.CONTROLLER_REFUSED


def test_a_stop_cancels_and_waits_for_rest(bench: Bench) -> None:
    bench.robot.endless, bench.robot.speed = True, 0.5
    stop = threading.Event()
    wait_for(lambda: bench.world.snapshot().joints.velocity[ARM.joint_names[0]] == 0.5)
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=stop.is_set))
    assert bench.robot.started.wait(60.0)
    stop.set()
    assert bench.robot.cancelled.wait(60.0)
    thread.join(0.3)
    assert thread.is_alive(), f"the arm still moves: {outcomes}"
    bench.robot.speed = 0.0
    thread.join(60.0)
    assert outcomes[0].code is Code.CANCELED
    assert bench.arm.stop().ok


def test_an_arm_that_swings_out_is_not_at_rest_at_the_end_of_a_swing(bench: Bench) -> None:
    bench.robot.swings, bench.robot.speed = True, 2.0 * JOINT_REST
    wait_for(lambda: 0.0 < abs(bench.world.snapshot().joints.velocity[ARM.joint_names[0]]) < JOINT_REST)
    thread, outcomes = in_thread(bench.arm.stop)
    thread.join(4.0 * np.pi / SWING_RAD_S)
    assert thread.is_alive(), f"the arm swings: {outcomes}"
    bench.robot.swings, bench.robot.speed = False, 0.0
    thread.join(60.0)
    assert outcomes[0].ok


def test_silence_of_the_joints_is_a_lost_robot(bench: Bench) -> None:
    bench.robot.endless = True
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    assert bench.robot.started.wait(60.0)
    bench.robot.silent = True
    thread.join(60.0)
    assert outcomes[0].code is Code.ROBOT_LOST


def test_an_executor_that_was_held_up_does_not_blame_the_robot(bench: Bench) -> None:
    """Block the executor, so that no message of the robot is received."""
    bench.robot.endless = True
    stop = threading.Event()
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=stop.is_set))
    assert bench.robot.started.wait(60.0)
    bench.stage.executor.create_task(threading.Event().wait, 2.0 * SILENCE_S)
    wait_for(lambda: bench.world.joint_age_s() > 1.5 * SILENCE_S)
    wait_for(lambda: bench.world.joint_age_s() < 0.5 * SILENCE_S)
    assert thread.is_alive(), outcomes
    stop.set()
    thread.join(60.0)
    assert outcomes[0].code is Code.CANCELED


def test_a_robot_whose_stamps_stand_still_is_lost(bench: Bench) -> None:
    bench.robot.endless = True
    thread, outcomes = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    assert bench.robot.started.wait(60.0)
    bench.robot.stamp_s = 1.0
    thread.join(60.0)
    assert outcomes[0].code is Code.ROBOT_LOST
    assert "repeats the stamp 1.000 s" in outcomes[0].message
    assert "joints were at rest" in outcomes[0].message


def test_a_stop_after_time_jumped_back_waits_for_the_joints(bench: Bench) -> None:
    bench.robot.silent = True
    wait_for(lambda: bench.world.joint_age_s() > 0.1)
    bench.world.drop()
    thread, outcomes = in_thread(bench.arm.stop)
    thread.join(0.1)
    assert thread.is_alive(), "joints that were only dropped are no lost robot"
    bench.robot.silent = False
    thread.join(60.0)
    assert outcomes[0].ok


def test_a_stop_without_any_joints_is_a_lost_robot(bench: Bench) -> None:
    bench.robot.silent = True
    wait_for(lambda: bench.world.joint_age_s() > 0.1)
    bench.world.drop()
    assert bench.arm.stop().code is Code.ROBOT_LOST


def test_the_gripper_maps_width_and_takes_a_stall_for_ok(bench: Bench) -> None:
    bench.robot.stalled = True
    assert bench.gripper.move(0.04, should_stop=never).ok
    assert bench.robot.asked_position == pytest.approx(0.04 / GRIPPER.width_per_joint)
    bench.robot.stalled = False
    assert bench.gripper.move(0.04, should_stop=never).code is Code.GRIPPER_FAILED
    outside = bench.gripper.move(1.0, should_stop=never)
    assert (outside.code, outside.field_name) == (Code.BAD_NUMBER, "gripper_width")


def test_a_stopped_gripper_is_reported_once_its_controller_has_ended_the_goal(bench: Bench) -> None:
    bench.robot.endless = bench.robot.brakes = True
    stop = threading.Event()
    thread, outcomes = in_thread(lambda: bench.gripper.move(0.04, should_stop=stop.is_set))
    assert bench.robot.started.wait(60.0)
    stop.set()
    assert bench.robot.cancelled.wait(60.0)
    thread.join(0.3)
    assert thread.is_alive(), f"the gripper still moves: {outcomes}"
    bench.robot.brakes = False
    thread.join(60.0)
    assert outcomes[0].code is Code.CANCELED and not bench.robot.moving


def test_a_gripper_that_does_not_confirm_its_stop_may_still_move(bench: Bench) -> None:
    bench.robot.endless = bench.robot.brakes = True
    stopped = bench.gripper.move(0.04, should_stop=bench.robot.started.is_set)
    assert stopped.code is Code.UNRESPONSIVE and "may still move" in stopped.message


def test_the_clock_wakes_on_a_stop(bench: Bench) -> None:
    begun = time.monotonic()
    RosClock(bench.node).sleep(60.0, should_stop=lambda: time.monotonic() - begun > 0.1)
    assert time.monotonic() - begun < 5.0


def test_a_world_that_jumps_back_forgets_what_moved(bench: Bench) -> None:
    bench.robot.silent = True
    wait_for(lambda: bench.world.joint_age_s() > 0.1)
    bench.world.drop()
    assert bench.world.snapshot().joints.position == {}
    assert bench.world.joint_age_s() == float("inf")


def test_frames_chain_and_unknown_ones_are_named(bench: Bench) -> None:
    frames = FrameBuffer(bench.node)
    links = []
    for parent, child in (("world", "base"), ("base", "hand"), ("world", "cube")):
        link = TransformStamped(child_frame_id=child)
        link.header.frame_id = parent
        link.transform.translation.x = 1.0
        links.append(link)
    bench.node.create_publisher(TFMessage, "/tf_static", TF_STATIC).publish(TFMessage(transforms=links))
    wait_for(lambda: "cube" in frames.known())
    assert frames.lookup("cube", "hand").translation_m[0] == pytest.approx(1.0)
    with pytest.raises(UnknownFrame, match="did you mean 'cube'"):
        frames.lookup("world", "cub")
    moving = TransformStamped(child_frame_id="lid")
    moving.header.frame_id = "world"
    bench.node.create_publisher(TFMessage, "/tf", TF).publish(TFMessage(transforms=[moving]))
    wait_for(lambda: "lid" in frames.known())
    frames.forget_dynamic()
    assert "lid" not in frames.known()
    assert "cube" in frames.known()


def test_a_moving_frame_that_is_not_sent_any_more_is_refused_with_its_age(bench: Bench) -> None:
    frames, patient = FrameBuffer(bench.node, max_age_s=1.0), FrameBuffer(bench.node)
    publisher = bench.node.create_publisher(TFMessage, "/tf", TF)
    now = bench.node.get_clock().now()

    def send(age_s: int, child: str) -> None:
        link = TransformStamped(child_frame_id=child)
        link.header.frame_id = "world"
        link.header.stamp = (now - Duration(seconds=age_s)).to_msg()
        publisher.publish(TFMessage(transforms=[link]))

    send(0, "fresh")
    send(30, "old")
    wait_for(lambda: {"fresh", "old"} <= set(frames.known()) & set(patient.known()))
    assert frames.lookup("world", "fresh").translation_m[0] == 0.0
    assert patient.lookup("world", "old").translation_m[0] == 0.0
    with pytest.raises(
        StaleFrame, match=r"transform of frame 'old' is 3\d\.\d s old, more than 1 s"
    ) as refused:
        frames.lookup("world", "old", "frame")
    assert (refused.value.outcome.code, refused.value.outcome.field_name) == (Code.STALE_WORLD, "frame")
