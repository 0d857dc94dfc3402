"""One motion of a group on its controller, unless the robot is stopped, with the reason of its end."""

from __future__ import annotations

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_ros.safety.watch import SafetyWatch
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of
from moveit_facade.robot.groups import Group
from moveit_facade.ros.execution import START_FIELD, Execution

STOPPED = (Code.CANCELED, Code.PREEMPTED, Code.SHUTDOWN)


class ControlledMotion:
    """Moves groups.

    Args:
        execution: Executes.
        safety: Refuses motions while the robot is stopped.
    """

    def __init__(self, execution: Execution, safety: SafetyWatch) -> None:
        self.execution, self._safety = execution, safety

    async def follow(self, group: Group, trajectory: Trajectory, query: SceneQuery, token: Token) -> Outcome:
        """Follow a trajectory; a gripper moves to its end.

        Args:
            group: The group.
            trajectory: The motion.
            query: The scene with which that of an arm is judged.
            token: Stops it.

        Returns:
            OK, or the cause; the arm is at rest then.

        Raises:
            RequestError: The token was set before.
        """
        if not group.is_arm:
            return await self.move_gripper(group, float(trajectory.q[-1, 0]), 0.0, token)
        check(token)
        if (refusal := self._refusal()) is not None:
            return refusal
        return await self.execution.follow(group, trajectory, query, token)

    async def move_gripper(self, group: Group, position: float, force_n: float, token: Token) -> Outcome:
        """Move a gripper until it is there or stalls.

        Args:
            group: The group of the gripper.
            position: Position of its joint, rad or m.
            force_n: Largest force of a finger, N; 0: the gripper's greatest.
            token: Stops it.

        Returns:
            OK, or the cause.

        Raises:
            RequestError: The token was set before.
        """
        check(token)
        if (refusal := self._refusal()) is not None:
            return refusal
        return await self.execution.move_gripper(group, position, force_n, token)

    def _refusal(self) -> Outcome | None:
        if (refusal := self._safety.refusal()) is not None:
            return refusal
        if (stopped := self.execution.driver.refusal()) is not None:
            return stopped
        if why := self.execution.watch.why_refused():
            return Outcome(Code.ROBOT_LOST, why)
        return None


def check(token: Token) -> None:
    """Raise the reason of a token that was set: nothing has moved then.

    Args:
        token: The token.

    Raises:
        RequestError: PREEMPTED, or the value of the token's reason.
    """
    if token.is_set():
        text = token.detail or "stopped"
        raise error_of(Outcome(token.reason, f"{text} before the motion began"), "move_group")


def motion_error(outcome: Outcome) -> RequestError:
    """Return the error of a motion that did not reach its end.

    Args:
        outcome: Its outcome.
    """
    error = error_of(outcome, "trajectory_execution")
    if outcome.code in STOPPED:
        text = f"{outcome.message}; the arm is at rest"
        return RequestError(ErrorCode.PREEMPTED, text, error.source)
    if outcome.code is Code.TRAJECTORY_REFUSED and outcome.field_name == START_FIELD:
        return RequestError(ErrorCode.START_STATE_INVALID, error.outcome.message, error.source)
    if outcome.code is Code.TRAJECTORY_REFUSED:
        return RequestError(
            ErrorCode.INVALID_MOTION_PLAN, error.outcome.message, "planner/validate_trajectory"
        )
    return error
