"""Implements the Navigator port over nav2's action ``NavigateToPose``."""

from __future__ import annotations

import math
import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.ports import NavigationGoal
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import BaseSpec
from handiwork_ros.conversions import pose_to_msg, time_to_msg
from handiwork_ros.ports.braking import POLL_S, Brake
from handiwork_ros.ports.robot_watch import RobotWatch
from handiwork_ros.ports.sim_time_deadline import Patience
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.action_call import ActionCall, GoalSequence
from handiwork_ros.rclpy_support.ros_clock import RosClock

from .errors import NavigationEnd, outcome_of

WORLD = "world"
SERVER_S = 3.0
"""The longest wait for a server of the action, s of steady time."""
SETTLE_S = 4.0
"""The longest wait for the answer to an earlier goal before the next one is sent, s of steady time."""
BRAKE_S = 10.0
"""The longest time to bring the base to rest, s of steady time."""
SILENT_S = 5.0
"""Silence after the first feedback by which the server counts as lost, s of steady time; nav2 sends it at 100 Hz."""
ABSENT_S = 2.0
"""Time without any server of the action, as the ROS graph lists them, after which it is lost, s of steady time."""


class NavigatorClient:
    """Client of a navigation server. Its methods block: call them from a worker thread.

    Args:
        node: Hosts the client; another thread spins it.
        base: Base, with the server that drives it.
        world: Provides the measured joints and tf.
        watch: Detects the loss of the robot.

    Raises:
        ConfigError: The interface of nav2 is not installed.
    """

    def __init__(self, node: Node, base: BaseSpec, world: RosWorldSource, watch: RobotWatch) -> None:
        assert base.navigation is not None
        self._node, self._navigation, self._world, self._watch = node, base.navigation, world, watch
        self._clock, self._name, self._type = RosClock(node), base.navigation.action, navigate_to_pose()
        self._client = ActionClient(node, self._type, self._name)
        self._goals = GoalSequence(node, self._client, is_watched=True)
        self._brake = Brake(
            self._goals, watch, world, base.joint_names, self._name, "the base", base.name, BRAKE_S
        )

    def navigate(self, goal: NavigationGoal, *, should_stop: ShouldStop) -> Outcome:
        """Drive to a pose; see ``Navigator.navigate``. A call that began before one of ``stop`` sends nothing after it.

        Args:
            goal: The pose, and the time for it.
            should_stop: Returns True when the base must stop.

        Returns:
            OK once the server reports success and the base is at rest, otherwise the cause.
        """
        generation, before = self._goals.generation, Outcome(Code.CANCELED, "stopped before the base moved")
        if (refused := self._await_server(should_stop)) is not None:
            return refused
        try:
            message = self._message(goal.world_T_base)
        except HandiworkError as error:
            text = (
                f"{error.outcome.message}; goals of {self._name} are sent in {self._navigation.map_frame!r}"
            )
            return Outcome(error.outcome.code, text)
        if not self._goals.settle(generation, SETTLE_S, should_stop):
            if should_stop():
                return self._brake.to_rest(generation, before)
            return Outcome(
                Code.CONTROLLER_REFUSED, f"{self._name} does not answer an earlier goal; see nav2's log"
            )
        run = self._goals.start(message, generation, should_stop)
        if run is None:
            return before
        if not run.answered.is_set():
            if should_stop() or self._goals.generation != generation:
                return self._brake.to_rest(generation, before)
            return Outcome(Code.CONTROLLER_REFUSED, f"{self._name} did not answer; is nav2 running?")
        if not run.accepted:
            text = f"{self._name} refused the goal; activate nav2's bt_navigator, and see its log"
            return Outcome(Code.CONTROLLER_REFUSED, text)
        return self._until_end(run, goal.timeout_s, should_stop)

    def stop(self) -> Outcome:
        """Cancel every goal and bring the base to rest; see ``Navigator.stop``."""
        generation, silence = self._goals.close(), _Silence(self._client)
        return self._brake.to_rest(generation, OK, silence.is_absent)

    def _await_server(self, should_stop: ShouldStop) -> Outcome | None:
        """Wait for a server; return why the goal cannot be sent, else None."""
        end_s = time.monotonic() + SERVER_S
        while not self._client.server_is_ready():
            if should_stop():
                return Outcome(Code.CANCELED, "stopped before the base moved")
            if time.monotonic() > end_s:
                text = f"no node serves the action {self._name!r}; start nav2, or correct navigate_action in robot.yaml"
                return Outcome(Code.CONTROLLER_REFUSED, text)
            time.sleep(POLL_S)  # noqa: TID251 - the graph offers no event to a worker
        return Outcome(Code.CANCELED, "stopped before the base moved") if should_stop() else None

    def _message(self, world_T_base: Pose) -> Any:
        """Return the goal message, with the pose in the frame of the map.

        Raises:
            HandiworkError: The frame is not known, or not connected to ``world``.
        """
        frame, message = self._navigation.map_frame, self._type.Goal()
        map_T_world = Pose.identity() if frame == WORLD else self._world.frames.lookup(frame, WORLD)
        message.pose.header.frame_id = frame
        message.pose.header.stamp = time_to_msg(self._clock.now_s())
        message.pose.pose = pose_to_msg(map_T_world @ world_T_base)
        message.behavior_tree = self._navigation.behavior_tree
        return message

    def _until_end(self, run: ActionCall, timeout_s: float, should_stop: ShouldStop) -> Outcome:
        patience, silence = Patience(timeout_s, self._clock.now_s), _Silence(self._client)
        while not run.done.wait(POLL_S):
            if why := self._watch.why_lost:
                run.cancel()
                return self._brake.lost(f"{why}; ")
            if should_stop():
                stopped = Outcome(Code.CANCELED, "stopped while the base drove")
                return self._brake.to_rest(run.generation, stopped, silence.is_absent)
            if text := silence.why_lost(run):
                lost = Outcome(Code.UNRESPONSIVE, f"{self._name} is lost: {text}; start nav2 again")
                return self._brake.to_rest(run.generation, lost, lambda: True)
            if patience.is_over:
                text = f"{self._name} did not end within {timeout_s:g} s; allow more by timeout_s, or see nav2's log"
                return self._brake.to_rest(run.generation, Outcome(Code.TIMED_OUT, text), silence.is_absent)
        is_stopped = self._goals.generation != run.generation
        end = Outcome(Code.CANCELED, "stopped while the base drove") if is_stopped else self._verdict(run)
        return self._brake.to_rest(run.generation, end)

    def _verdict(self, run: ActionCall) -> Outcome:
        if run.result is None:
            text = f"{self._name} gave no result; see the log of {self._node.get_name()}"
            return Outcome(Code.INTERNAL, text)
        status, result = run.result.status, run.result.result
        end = NavigationEnd(
            status == GoalStatus.STATUS_SUCCEEDED,
            status == GoalStatus.STATUS_CANCELED,
            int(result.error_code),
            str(result.error_msg),
        )
        return outcome_of(end, self._name)


class _Silence:
    """Notices that the server of a goal is gone: no node serves the action, or its feedback has stopped."""

    def __init__(self, client: ActionClient) -> None:
        self._client = client
        self._there_s = time.monotonic()

    def is_absent(self) -> bool:
        """Return True once no node has served the action for ``ABSENT_S``. Call it often."""
        now_s = time.monotonic()
        if self._client.server_is_ready():
            self._there_s = now_s
        return now_s - self._there_s > ABSENT_S

    def why_lost(self, run: ActionCall) -> str:
        """Return why the server is lost; empty while it is not.

        Args:
            run: The goal.
        """
        if self.is_absent():
            return f"no node has served it for {ABSENT_S:g} s"
        silent_s = time.monotonic() - run.feedback_s
        if math.isfinite(silent_s) and silent_s > SILENT_S:
            return f"its feedback stopped {silent_s:.0f} s ago"
        return ""


def navigate_to_pose() -> Any:
    """Return the action type, which only robots with ``navigate_action`` need.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        from nav2_msgs.action import NavigateToPose
    except ImportError as error:
        text = "base.navigate_action: needs nav2_msgs, which is not installed; run `make setup-nav2`, or install the "
        raise ConfigError(
            "robot_dir", [f"{text}distribution's package, such as ros-jazzy-nav2-msgs"]
        ) from error
    return NavigateToPose
