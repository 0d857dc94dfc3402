"""Implements the Arm and Gripper ports over the controllers' actions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.control.contact_guard import FORCE_TOLERANCES
from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, BaseSpec, GripperSpec
from handiwork_ros.conversions import trajectory_to_msg
from handiwork_ros.conversions.gripper import gripper_action, gripper_goal
from handiwork_ros.rclpy_support.action_call import RESPONSE_S, ActionCall, GoalSequence
from handiwork_ros.rclpy_support.ros_clock import RosClock
from handiwork_ros.safety.names import STATE

from .braking import POLL_S, Brake
from .driver_watch import DriverWatch
from .robot_watch import RobotWatch
from .sim_time_deadline import Patience, StretchedPatience
from .world import RosWorldSource

SETTLE_S = 4.0
"""The longest wait for the answer to an earlier goal before the next one is sent, s of steady time."""
OVERTIME_S = 5.0
"""The time that a motion may stand still beyond its trajectory, s of the world's time."""
REPORT_S = 0.5
"""The time by which a driver's report of a stop may come after the end of the goal, s of steady time."""
GRIPPER_S = 10.0
"""The longest time of a gripper's motion, s of the world's time."""
GRIPPER_STOP_S = 5.0
"""The longest wait for a gripper's answer to a cancel, s of steady time."""

CAUSES = {
    FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED: Code.PATH_TOLERANCE,
    FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED: Code.GOAL_TOLERANCE,
    int(ErrorCode.PROTECTIVE_STOP): Code.PROTECTIVE_STOP,
    int(ErrorCode.EMERGENCY_STOP): Code.EMERGENCY_STOP,
    int(ErrorCode.CONTACT): Code.CONTACT,
}
"""Error code of FollowJointTrajectory -> code of the outcome; CONTROLLER_REFUSED for all others."""


class ArmClient:
    """Client of an arm's or a mobile base's action. Its methods block: call them from a worker thread.

    Args:
        node: Hosts the client; another thread spins it.
        arm: Description of the arm or base.
        world: Provides the measured joints.
        watch: Detects the loss of the robot; None: a new one.
        on_follow: Called with each motion before it is sent.
        driver: Reports stops of the robot itself and the speed scaling; None for none.
    """

    def __init__(
        self,
        node: Node,
        arm: ArmSpec | BaseSpec,
        world: RosWorldSource,
        watch: RobotWatch | None = None,
        on_follow: Callable[[Trajectory], None] = lambda _trajectory: None,
        driver: DriverWatch | None = None,
    ) -> None:
        self._on_follow, self._driver = on_follow, driver
        self._node, self._arm, self._world, self._clock = node, arm, world, RosClock(node)
        self._watch = watch or RobotWatch(node, world)
        self._name = f"{arm.controller}/follow_joint_trajectory"
        self._client = ActionClient(node, FollowJointTrajectory, self._name)
        self._goals = GoalSequence(node, self._client)
        self._to_rest = Brake(
            self._goals, self._watch, world, arm.joint_names, self._name, "the arm", arm.controller
        )

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """Follow a trajectory; see ``Arm.follow``. After a call of ``stop`` a call that began before it sends nothing.

        Args:
            trajectory: The path of the arm's joints.
            should_stop: Returns True when the motion must stop.

        Returns:
            OK at the end of the trajectory, otherwise the cause.
        """
        generation = self._goals.generation
        if should_stop():
            return Outcome(Code.CANCELED, "stopped before the motion began")
        if (stopped := self._stopped()) is not None:
            return stopped
        if trajectory.stop_force is not None and not self._node.count_publishers(STATE):
            # joint_trajectory_controller ignores a tolerance of a name that it does not know, and would press on.
            text = (
                f"the motion is to end by contact, and {self._name} has no safety layer, which watches the force; "
                "command the robot through safety_node"
            )
            return Outcome(Code.CONTROLLER_REFUSED, text)
        if not self._goals.settle(generation, SETTLE_S, should_stop):
            if should_stop():
                return self._brake(generation, Outcome(Code.CANCELED, "stopped before the motion began"))
            text = f"{self._name} does not answer an earlier goal; is the controller running?"
            return Outcome(Code.CONTROLLER_REFUSED, text)
        self._on_follow(trajectory)
        run = self._goals.start(trajectory_goal(trajectory), generation, should_stop)
        if run is None:
            return Outcome(Code.CANCELED, "stopped before the motion began")
        if not run.answered.is_set():
            if should_stop() or self._goals.generation != generation:
                return self._brake(generation, Outcome(Code.CANCELED, "stopped before the motion began"))
            return Outcome(
                Code.CONTROLLER_REFUSED, f"{self._name} did not answer; is the controller running?"
            )
        if not run.accepted:
            text = f"{self._name} refused the goal; see the controller's log"
            return self._explained(Outcome(Code.CONTROLLER_REFUSED, text))
        return self._until_end(run, trajectory.duration_s, should_stop)

    def _until_end(self, run: ActionCall, lasts_s: float, should_stop: ShouldStop) -> Outcome:
        patience = StretchedPatience(lasts_s, OVERTIME_S, self._clock.now_s)
        while not run.done.wait(POLL_S):
            if why := self._watch.why_lost:
                run.cancel()
                return self._to_rest.lost(f"{why}; ")
            if should_stop():
                return self._brake(run.generation, Outcome(Code.CANCELED, "stopped during the motion"))
            if (stopped := self._stopped()) is not None:
                return self._brake(run.generation, stopped)
            if patience.is_over(self._measured(), self._scaling()):
                text = f"{self._name} did not end {OVERTIME_S:.0f} s after the trajectory's {lasts_s:.1f} s"
                return self._brake(run.generation, Outcome(Code.UNRESPONSIVE, text))
        if run.is_cancelled and _was_canceled(run):  # its answer came late; the arm may still brake
            rest = self._brake(run.generation, OK)
            is_stopped = self._goals.generation != run.generation or should_stop()  # also while it braked
            stopped = Outcome(Code.CANCELED, "stopped during the motion")
            return rest if not rest.ok else stopped if is_stopped else self._verdict(run)
        if self._goals.generation != run.generation:
            return Outcome(Code.CANCELED, "stopped during the motion")
        return self._verdict(run)

    def stop(self) -> Outcome:
        """Bring the arm to rest; see ``Arm.stop``. Once this returns OK no earlier trajectory moves the arm."""
        return self._brake(self._goals.close(), OK)

    def _brake(self, generation: int, then: Outcome) -> Outcome:
        """Cancel, then wait until all goals up to a generation have ended and the joints are at rest."""
        ended = self._to_rest.to_rest(generation, then)
        is_slow = ended is not then and self._to_rest.is_slow(self._world.snapshot().joints)
        if then.code is Code.ROBOT_STOPPED and ended.code is Code.UNRESPONSIVE and is_slow:
            text = (
                f"{then.message} ({self._name} has not confirmed the cancel of its goal; the arm is at rest)"
            )
            return replace(then, message=text)
        return ended

    def _stopped(self) -> Outcome | None:
        """Return why the robot itself has stopped the arm; None while it has not."""
        return None if self._driver is None else self._driver.stopped(self._arm.name)

    def _explained(self, failed: Outcome) -> Outcome:
        """Return a failure with the stop of the robot that has caused it, whose report may come a moment later."""
        end_s = time.monotonic() + REPORT_S
        while self._driver is not None and (isinstance(self._arm, ArmSpec) and self._arm.driver is not None):
            if (stopped := self._stopped()) is not None:
                return replace(stopped, message=f"{stopped.message} ({failed.message})")
            if time.monotonic() > end_s:
                break
            time.sleep(POLL_S)  # noqa: TID251 - polled by a timer of the node
        return failed

    def _scaling(self) -> float | None:
        return None if self._driver is None else self._driver.scaling(self._arm.name)

    def _measured(self) -> Array:
        position = self._world.snapshot().joints.position
        return np.array([position.get(name, math.nan) for name in self._arm.joint_names])

    def _verdict(self, run: ActionCall) -> Outcome:
        if run.result is None:
            return Outcome(
                Code.INTERNAL, f"{self._name} gave no result; see the log of {self._node.get_name()}"
            )
        status, result = run.result.status, run.result.result
        if (
            status == GoalStatus.STATUS_SUCCEEDED
            and result.error_code == FollowJointTrajectory.Result.SUCCESSFUL
        ):
            return OK
        text = result.error_string or f"goal status {status}, error code {result.error_code}"
        if run.is_cancelled and _was_canceled(run):
            text = f"the goal was not answered within {RESPONSE_S:g} s, so it was cancelled ({text})"
        failed = Outcome(CAUSES.get(result.error_code, Code.CONTROLLER_REFUSED), f"{self._name}: {text}")
        return self._explained(failed)


class GripperClient:
    """Client of a gripper's action. Its methods block: call them from a worker thread.

    Args:
        node: Hosts the client; another thread spins it.
        gripper: Description of the gripper.
        watch: Detects the loss of the robot, from which no answer is awaited; None: nobody does.
    """

    def __init__(self, node: Node, gripper: GripperSpec, watch: RobotWatch | None = None) -> None:
        self._node, self._gripper, self._clock = node, gripper, RosClock(node)
        self._watch = watch
        self._name = gripper.action_name
        self._client = ActionClient(node, gripper_action(gripper), self._name)
        self._goals = GoalSequence(node, self._client)

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """Move to a width; see ``Gripper.move``.

        Args:
            width_m: Opening between the pads, m.
            force_n: Largest force of a finger, N; 0: the gripper's greatest.
            should_stop: Returns True when the motion must stop.

        Returns:
            OK when the width is reached or the gripper stalls on an object, otherwise the cause.
        """
        spec = self._gripper
        if not spec.min_width_m - 1e-9 <= width_m <= spec.max_width_m + 1e-9:
            text = f"width {width_m} m is outside {spec.min_width_m} to {spec.max_width_m} m of {spec.name}"
            return Outcome(Code.BAD_NUMBER, text, field_name="gripper_width")
        if not 0.0 <= force_n <= spec.max_force_n:
            text = f"force {force_n} N is outside 0 to {spec.max_force_n} N of {spec.name}"
            return Outcome(Code.BAD_NUMBER, text, field_name="grip_force")
        goal = gripper_goal(spec, spec.position(width_m), force_n or spec.max_force_n)
        generation = self._goals.generation
        if not self._goals.settle(generation, SETTLE_S, should_stop) and not should_stop():
            text = f"{self._name} does not answer an earlier goal; is the controller running?"
            return Outcome(Code.GRIPPER_FAILED, text)
        run = self._goals.start(goal, generation, should_stop)
        if run is None or (not run.answered.is_set() and should_stop()):
            return Outcome(Code.CANCELED, "stopped before the gripper moved")
        if not run.accepted:
            what = (
                "refused the goal" if run.answered.is_set() else "did not answer; is the controller running?"
            )
            return Outcome(Code.GRIPPER_FAILED, f"{self._name} {what}")
        return self._wait(run, should_stop)

    def _wait(self, run: ActionCall, should_stop: ShouldStop) -> Outcome:
        patience = Patience(GRIPPER_S, self._clock.now_s)
        while not run.done.wait(POLL_S):
            if should_stop():
                return self._stop(run, Outcome(Code.CANCELED, "stopped while the gripper moved"))
            if patience.is_over:
                text = f"{self._name} did not end within {GRIPPER_S:.0f} s"
                return self._stop(run, Outcome(Code.GRIPPER_FAILED, text))
        if run.result is None:
            return Outcome(Code.GRIPPER_FAILED, f"{self._name} gave no result")
        result = run.result.result
        if result.reached_goal or result.stalled:
            return OK
        return Outcome(
            Code.GRIPPER_FAILED,
            f"{self._name} neither reached the width nor stalled (status {run.result.status})",
        )

    def _stop(self, run: ActionCall, then: Outcome) -> Outcome:
        """Cancel, and wait until the controller has ended the goal: the gripper may move until then."""
        asked_s = time.monotonic()
        while not run.done.wait(POLL_S):
            run.cancel()
            if self._watch is not None and self._watch.why_lost:
                return then
            if time.monotonic() > asked_s + GRIPPER_STOP_S:
                text = (
                    f"{self._name} did not confirm the stop within {GRIPPER_STOP_S:.0f} s ({then.message}); "
                    "the gripper may still move"
                )
                return Outcome(Code.UNRESPONSIVE, text)
        return then


def _was_canceled(run: ActionCall) -> bool:
    return run.result is not None and run.result.status == GoalStatus.STATUS_CANCELED


def trajectory_goal(trajectory: Trajectory) -> FollowJointTrajectory.Goal:
    """Return the goal message; where the trajectory has no tolerances, the controller uses its own.

    Args:
        trajectory: The motion; its bound of the force is written as path tolerances of the sensor.
    """
    goal = FollowJointTrajectory.Goal(trajectory=trajectory_to_msg(trajectory))
    if trajectory.goal_tolerance is not None:
        goal.goal_tolerance = [
            JointTolerance(name=name, position=tolerance)
            for name, tolerance in zip(
                trajectory.joint_names, trajectory.goal_tolerance.tolist(), strict=True
            )
        ]
    if trajectory.stop_force is not None:
        bound = zip(FORCE_TOLERANCES, trajectory.stop_force.tolist(), strict=True)
        goal.path_tolerance = [JointTolerance(name=name, position=force) for name, force in bound]
    return goal
