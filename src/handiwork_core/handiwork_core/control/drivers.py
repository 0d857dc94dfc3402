"""The controllers of a plant as drivers of goal slots."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.joint_groups import Plant
from handiwork_core.control.trajectory_controller import Ending, Reference, TrajectoryResult
from handiwork_core.control.trajectory_goal import ErrorCode, GoalRefused, TrajectoryGoal, check
from handiwork_core.control.trajectory_start import from_now


@dataclass(frozen=True, slots=True, eq=False)
class ArmProgress:
    """Where an arm is on its path at ``stamp_s``: ``path_s`` seconds after its start [s of the plant's time]."""

    stamp_s: float
    joint_names: tuple[str, ...]
    path_s: float
    desired: Reference
    actual: Reference


class ArmDriver:
    """One arm."""

    def __init__(self, plant: Plant, arm: str) -> None:
        self._plant, self._arm = plant, arm
        self._controller = plant.arms[arm].controller

    def refusal(self, goal: TrajectoryGoal) -> TrajectoryResult | None:
        """Return why a goal cannot be begun, wherever the arm will be; None for any other."""
        controller = self._controller
        try:
            stamped = from_now(goal, self._plant.joints().stamp_s)
            check(stamped, controller.limits, None, controller.tolerances)
        except GoalRefused as refusal:
            return TrajectoryResult(Ending.ABORTED, refusal.code, str(refusal))
        return None

    def begin(self, goal: TrajectoryGoal) -> TrajectoryResult | None:
        """Start, or say why not."""
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
        """Brake."""
        self._controller.stop(ending, message)

    def progress(self) -> ArmProgress:
        """Where the arm is now."""
        joints, indices = self._plant.joints(), self._plant.arms[self._arm].indices
        controller = self._controller
        actual = Reference(joints.position[indices], joints.velocity[indices])
        names = controller.limits.names
        return ArmProgress(joints.stamp_s, names, controller.path_s, controller.reference, actual)

    def take(self) -> TrajectoryResult | None:
        """The end, once the arm is at rest."""
        result, self._controller.result = self._controller.result, None
        return result

    def unstarted(self, ending: Ending, message: str) -> TrajectoryResult:
        """Nothing moved."""
        return TrajectoryResult(
            ending, ErrorCode.SUCCESSFUL if ending is Ending.CANCELED else ErrorCode.INVALID_GOAL, message
        )


class GripperDriver:
    """One gripper."""

    def __init__(self, plant: Plant, gripper: str) -> None:
        self._plant, self._gripper = plant, gripper
        self._controller = plant.grippers[gripper].controller

    def refusal(self, goal: GripperGoal) -> GripperResult | None:
        """Return why a goal cannot be begun; None for any other."""
        message = self._controller.check(goal)
        return self.unstarted(Ending.ABORTED, message) if message else None

    def begin(self, goal: GripperGoal) -> GripperResult | None:
        """Start, or say why not."""
        refusal = self._plant.safety.refusal()
        message = str(refusal) if refusal is not None else self._controller.check(goal)
        if message:
            return self.unstarted(Ending.ABORTED, message)
        self._controller.start(goal, self._position())
        return None

    def stop(self, ending: Ending, message: str) -> None:
        """Stay as it is."""
        self._controller.stop(ending, self._position(), message)

    def take(self) -> GripperResult | None:
        """The end."""
        result, self._controller.result = self._controller.result, None
        return result

    def unstarted(self, ending: Ending, message: str) -> GripperResult:
        """Nothing moved."""
        return GripperResult(ending, self._position(), stalled=False, reached=False, message=message)

    def _position(self) -> float:
        lead = self._plant.grippers[self._gripper].indices[0]
        return float(self._plant.joints().position[lead])
