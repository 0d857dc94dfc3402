"""The controllers of a plant as drivers of goal slots."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.joint_groups import Plant
from handiwork_core.control.trajectory_controller import Ending, Reference, TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal, check
from handiwork_core.control.trajectory_start import from_now


@dataclass(frozen=True, slots=True, eq=False)
class ArmProgress:
    """The progress of an arm on its path.

    Attributes:
        stamp_s: Time of the measurement, s of the plant's time.
        joint_names: Names of the joints, (dof,).
        path_s: Time on the path since its start, s.
        desired: Positions and velocities of the reference.
        actual: Measured positions and velocities.
    """

    stamp_s: float
    joint_names: tuple[str, ...]
    path_s: float
    desired: Reference
    actual: Reference


class ArmDriver:
    """The driver of one arm or base.

    Args:
        plant: The plant.
        arm: Name of the arm or base.
    """

    def __init__(self, plant: Plant, arm: str) -> None:
        self._plant, self._arm = plant, arm
        self._controller = plant.arms[arm].controller

    def refusal(self, goal: TrajectoryGoal) -> TrajectoryResult | None:
        """Return the reason why a goal cannot begin, regardless of the arm's place at that time.

        Args:
            goal: The goal.

        Returns:
            The result that reports the refusal; None for any other goal.
        """
        controller = self._controller
        try:
            stamped = from_now(goal, self._plant.joints().stamp_s)
            check(stamped, controller.limits, None, controller.tolerances)
        except GoalRefused as refusal:
            return TrajectoryResult(Ending.ABORTED, refusal.code, str(refusal))
        return None

    def begin(self, goal: TrajectoryGoal) -> TrajectoryResult | None:
        """Start a goal, or return the reason for a refusal.

        Args:
            goal: The goal.

        Returns:
            The result that reports the refusal; None when the goal has started.
        """
        try:
            if refusal := self._plant.safety.refusal():
                raise refusal
            joints = self._plant.joints()
            measured = joints.position[self._plant.arms[self._arm].indices]
            self._controller.start(from_now(goal, joints.stamp_s), measured)
        except GoalRefused as refusal:
            return TrajectoryResult(Ending.ABORTED, refusal.code, str(refusal))
        return None

    def stop(self, ending: Ending, message: str) -> None:
        """Brake along the path.

        Args:
            ending: Ending of the running goal.
            message: The reason in words.
        """
        self._controller.stop(ending, message)

    def progress(self) -> ArmProgress:
        """Return the present progress of the arm."""
        joints, indices = self._plant.joints(), self._plant.arms[self._arm].indices
        controller = self._controller
        actual = Reference(joints.position[indices], joints.velocity[indices])
        names = controller.limits.names
        return ArmProgress(joints.stamp_s, names, controller.path_s, controller.reference, actual)

    def take(self) -> TrajectoryResult | None:
        """Return the result once the arm is at rest, and forget it; None before."""
        result, self._controller.result = self._controller.result, None
        return result

    def unstarted(self, ending: Ending, message: str) -> TrajectoryResult:
        """Return the result of a goal that never moved the arm.

        Args:
            ending: Ending of the goal.
            message: The reason in words.

        Returns:
            SUCCESSFUL for a cancelled goal, else INVALID_GOAL.
        """
        return TrajectoryResult(
            ending, ErrorCode.SUCCESSFUL if ending is Ending.CANCELED else ErrorCode.INVALID_GOAL, message
        )


class GripperDriver:
    """The driver of one gripper.

    Args:
        plant: The plant.
        gripper: Name of the gripper.
    """

    def __init__(self, plant: Plant, gripper: str) -> None:
        self._plant, self._gripper = plant, gripper
        self._controller = plant.grippers[gripper].controller

    def refusal(self, goal: GripperGoal) -> GripperResult | None:
        """Return the reason why a goal cannot begin.

        Args:
            goal: The goal.

        Returns:
            The result that reports the refusal; None for any other goal.
        """
        message = self._controller.check(goal)
        return self.unstarted(Ending.ABORTED, message) if message else None

    def begin(self, goal: GripperGoal) -> GripperResult | None:
        """Start a goal, or return the reason for a refusal.

        Args:
            goal: The goal.

        Returns:
            The result that reports the refusal; None when the goal has started.
        """
        refusal = self._plant.safety.refusal()
        message = str(refusal) if refusal is not None else self._controller.check(goal)
        if message:
            return self.unstarted(Ending.ABORTED, message)
        self._controller.start(goal, self._position())
        return None

    def stop(self, ending: Ending, message: str) -> None:
        """End the running goal; the gripper keeps its reference.

        Args:
            ending: Ending of the running goal.
            message: The reason in words.
        """
        self._controller.stop(ending, self._position(), message)

    def take(self) -> GripperResult | None:
        """Return the result of the goal that has ended, and forget it; None before."""
        result, self._controller.result = self._controller.result, None
        return result

    def unstarted(self, ending: Ending, message: str) -> GripperResult:
        """Return the result of a goal that never moved the gripper.

        Args:
            ending: Ending of the goal.
            message: The reason in words.

        Returns:
            A result with the measured position, m or rad.
        """
        return GripperResult(ending, self._position(), stalled=False, reached=False, message=message)

    def _position(self) -> float:
        lead = self._plant.grippers[self._gripper].indices[0]
        return float(self._plant.joints().position[lead])
