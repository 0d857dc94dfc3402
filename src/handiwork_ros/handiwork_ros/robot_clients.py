"""The Arm and Gripper ports over the controllers' actions."""

from __future__ import annotations

import math
import time

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from handiwork_core.outcome import OK, Code, Outcome
from handiwork_core.planning import ShouldStop
from handiwork_core.robot import ArmSpec, BaseSpec, GripperSpec
from handiwork_core.trajectory import Trajectory

from .action_call import ActionCall, start
from .conversions import trajectory_to_msg
from .liveness import SILENCE_S
from .patience import Patience
from .ros_clock import RosClock
from .world_source import RosWorldSource

POLL_S = 0.01
REST_RAD_S = 0.01
"""Measured joint speed below which the arm is at rest."""

STANDSTILL_S = 0.5
"""A world whose stamps do not go on for this long stands still, and the arm in it, whatever speed it froze with."""

BRAKE_S = 5.0
OVERTIME_S = 5.0
GRIPPER_S = 10.0

CAUSES = {
    FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED: Code.PATH_TOLERANCE,
    FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED: Code.GOAL_TOLERANCE,
}


class ArmClient:
    """An arm, or a mobile base. Blocks, so call it from a worker thread while the node is spun."""

    def __init__(self, node: Node, arm: ArmSpec | BaseSpec, world: RosWorldSource) -> None:
        self._node, self._arm, self._world, self._clock = node, arm, world, RosClock(node)
        self._name = f"{arm.controller}/follow_joint_trajectory"
        self._client = ActionClient(node, FollowJointTrajectory, self._name)
        self._running: ActionCall | None = None

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``."""
        if should_stop():
            return Outcome(Code.CANCELED, "stopped before the motion began")
        self._running = run = start(self._node, self._client, _goal(trajectory))
        if not run.answered.is_set():
            return Outcome(
                Code.CONTROLLER_REFUSED, f"{self._name} did not answer; is the controller running?"
            )
        if not run.accepted:
            return Outcome(
                Code.CONTROLLER_REFUSED, f"{self._name} refused the goal; see the controller's log"
            )
        asked_s, lasts_s = time.monotonic(), trajectory.duration_s
        patience = Patience(lasts_s + OVERTIME_S, self._clock.now_s)
        while not run.done.wait(POLL_S):
            if self._is_lost(asked_s):
                run.cancel()
                return self._lost()
            if should_stop():
                return self._brake(Outcome(Code.CANCELED, "stopped during the motion"))
            if patience.is_over:
                text = f"{self._name} did not end {OVERTIME_S:.0f} s after the trajectory's {lasts_s:.1f} s"
                return self._brake(Outcome(Code.UNRESPONSIVE, text))
        return self._verdict(run)

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        return self._brake(OK)

    def _brake(self, then: Outcome) -> Outcome:
        """Cancel, then wait until the action has ended and the joints rest."""
        asked_s, run = time.monotonic(), self._running
        stamp_s, changed_s = float("-inf"), asked_s
        while time.monotonic() < asked_s + BRAKE_S:
            if run is not None:
                run.cancel()
            if self._is_lost(asked_s):
                return self._lost()
            newest_s = self._world.snapshot().joints.stamp_s
            if newest_s != stamp_s:
                stamp_s, changed_s = newest_s, time.monotonic()
            is_frozen = time.monotonic() - changed_s > STANDSTILL_S > self._world.joint_age_s()
            if (run is None or run.done.is_set()) and (is_frozen or self._is_at_rest()):
                return then
            time.sleep(POLL_S)  # noqa: TID251 - several signals at once
        text = f"the arm is not at rest {BRAKE_S:.0f} s after the stop was asked of {self._name}"
        return Outcome(Code.UNRESPONSIVE, text)

    def _is_at_rest(self) -> bool:
        speeds = self._world.snapshot().joints.velocity
        return all(abs(speeds.get(name, float("inf"))) < REST_RAD_S for name in self._arm.joint_names)

    def _is_lost(self, since_s: float) -> bool:
        """``since_s`` is steady. Joints forgotten in a jump of time (age inf) get ``SILENCE_S`` to return."""
        age_s = self._world.joint_age_s()
        return age_s > SILENCE_S and (math.isfinite(age_s) or time.monotonic() - since_s > SILENCE_S)

    def _lost(self) -> Outcome:
        return Outcome(
            Code.ROBOT_LOST, f"no joint_states for {SILENCE_S} s; is the robot or the simulation running?"
        )

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
        return Outcome(CAUSES.get(result.error_code, Code.CONTROLLER_REFUSED), f"{self._name}: {text}")


class GripperClient:
    """Blocks, so call it from a worker thread while the node is spun."""

    def __init__(self, node: Node, gripper: GripperSpec) -> None:
        self._node, self._gripper, self._clock = node, gripper, RosClock(node)
        self._name = f"{gripper.name}_controller/gripper_cmd"
        self._client = ActionClient(node, ParallelGripperCommand, self._name)

    def move(self, width_m: float, *, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper.move``."""
        spec = self._gripper
        if not spec.min_width_m - 1e-9 <= width_m <= spec.max_width_m + 1e-9:
            text = f"width {width_m} m is outside {spec.min_width_m} to {spec.max_width_m} m of {spec.name}"
            return Outcome(Code.BAD_NUMBER, text, field_name="gripper_width")
        goal = ParallelGripperCommand.Goal()
        goal.command.name = [spec.joint]
        goal.command.position = [spec.position(width_m)]
        goal.command.effort = [spec.max_force_n]
        run = start(self._node, self._client, goal)
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
                run.cancel()
                return Outcome(Code.CANCELED, "stopped while the gripper moved")
            if patience.is_over:
                run.cancel()
                return Outcome(Code.GRIPPER_FAILED, f"{self._name} did not end within {GRIPPER_S:.0f} s")
        if run.result is None:
            return Outcome(Code.GRIPPER_FAILED, f"{self._name} gave no result")
        result = run.result.result
        if result.reached_goal or result.stalled:
            return OK
        return Outcome(
            Code.GRIPPER_FAILED,
            f"{self._name} neither reached the width nor stalled (status {run.result.status})",
        )


def _goal(trajectory: Trajectory) -> FollowJointTrajectory.Goal:
    """Tolerances are left to the controller's own limits."""
    return FollowJointTrajectory.Goal(trajectory=trajectory_to_msg(trajectory))
