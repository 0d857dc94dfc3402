"""Moves a simulated parallel gripper; closing on an object ends in a stall that is reported as such."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.robot.robot import GripperSpec

STALL_VELOCITY = 0.001
STALL_TIME_S = 0.3
REACHED_M = 0.0005
FINGER_SPEED = 0.1
DEFAULT_FORCE_N = 40.0


@dataclass(frozen=True, slots=True)
class GripperGoal:
    """A goal of a gripper.

    Attributes:
        position: Joint position, m or rad.
        max_force_n: Largest force of a finger while it moves, N; 0 for the default.
        max_speed: Largest speed of a finger, m/s; 0 for the default.
    """

    position: float
    max_force_n: float = 0.0
    max_speed: float = 0.0


@dataclass(frozen=True, slots=True)
class GripperResult:
    """The end of one goal; at most one of ``stalled`` and ``reached`` is true.

    Attributes:
        ending: Ending of the goal.
        position: Measured joint position, m or rad.
        stalled: True if the fingers stopped before the goal, as on an object.
        reached: True if the fingers are at the goal.
        message: The reason in words, if something went wrong.
    """

    ending: Ending
    position: float
    stalled: bool
    reached: bool
    message: str = ""


def joint_per_finger(spec: GripperSpec) -> float:
    """Return the travel of the gripper's joint for each metre of a finger's travel, m/m or rad/m.

    Args:
        spec: The gripper.
    """
    return 2.0 / abs(spec.mean_width_rate)


def joint_speed(spec: GripperSpec, velocity_limit: float, finger_speed: float = 0.0) -> float:
    """Return the speed of the gripper's joint on its way, m/s or rad/s.

    Args:
        spec: The gripper.
        velocity_limit: Velocity limit of its joint, m/s or rad/s.
        finger_speed: Speed of a finger that a goal asks for, m/s; 0 for the default.
    """
    return min((finger_speed or FINGER_SPEED) * joint_per_finger(spec), velocity_limit)


class GripperController:
    """The controller of one gripper.

    A stall counts once the finger has moved by no more than 0.3 mm in 0.3 s of simulated time. The velocity is
    useless for this decision: contacts chatter, by micrometres but fast.

    Args:
        spec: Limits of the gripper.
        velocity_limit: Velocity limit of the gripper's joint, m/s or rad/s.
        position: Present position of the gripper's joint, m or rad.
    """

    def __init__(self, spec: GripperSpec, velocity_limit: float, position: float) -> None:
        self.spec, self.velocity_limit = spec, velocity_limit
        self.reference, self.force_n = position, min(DEFAULT_FORCE_N, spec.max_force_n)
        self.busy = False
        self.result: GripperResult | None = None
        self._per_m = joint_per_finger(spec)
        self._goal, self._speed = GripperGoal(position), FINGER_SPEED * self._per_m
        self._still_at, self._still_s = position, 0.0

    def check(self, goal: GripperGoal) -> str:
        """Return the fault of a goal in one sentence.

        Args:
            goal: The goal.

        Returns:
            The fault; empty for a valid goal.
        """
        ends = (self.spec.position(width) for width in (self.spec.min_width_m, self.spec.max_width_m))
        lower, upper = sorted(ends)
        if not all(np.isfinite(v) for v in (goal.position, goal.max_force_n, goal.max_speed)):
            return f"gripper {self.spec.name}: position, effort and velocity must be finite, not {goal}"
        if not lower - 1e-4 * self._per_m <= goal.position <= upper + 1e-4 * self._per_m:
            return (
                f"joint {self.spec.joint}: position {goal.position:.4f} is outside {lower:.4f} to {upper:.4f}"
            )
        if goal.max_force_n < 0.0 or goal.max_speed < 0.0:
            return f"gripper {self.spec.name}: force {goal.max_force_n} and speed {goal.max_speed} must not be negative"
        return ""

    def start(self, goal: GripperGoal, position: float) -> None:
        """Begin a goal that passed ``check``; a running one must have ended.

        The reference starts at the finger unless it already pushes that way, so that a grip is not released.

        Args:
            goal: The goal.
            position: Measured position of the gripper's joint, m or rad.
        """
        pushes_on = (goal.position - position) * (self.reference - position) > 0.0
        self.reference = self.reference if pushes_on else position
        self.force_n = min(goal.max_force_n or DEFAULT_FORCE_N, self.spec.max_force_n)
        self._speed = joint_speed(self.spec, self.velocity_limit, goal.max_speed)
        self._goal, self.busy, self.result = goal, True, None
        self._still_at, self._still_s = position, 0.0

    def stop(self, ending: Ending, position: float, message: str = "") -> None:
        """End the goal now; the gripper keeps its reference, so that a held object stays held.

        Args:
            ending: Ending of the goal.
            position: Measured position of the gripper's joint, m or rad.
            message: The reason in words.
        """
        if self.busy:
            self._end(GripperResult(ending, position, stalled=False, reached=False, message=message))

    def hold(self, position: float) -> None:
        """Hold a position from now on, in a world that was reset; a running goal is aborted.

        Args:
            position: Position of the gripper's joint, m or rad.
        """
        self.stop(Ending.ABORTED, position, "the world was reset")
        self.reference = position

    def update(self, position: float, velocity: float, step_s: float) -> float:
        """Advance by one physics step.

        Args:
            position: Measured position of the gripper's joint, m or rad.
            velocity: Measured velocity of the gripper's joint, m/s or rad/s.
            step_s: Duration of the step, s.

        Returns:
            The reference position, m or rad.
        """
        if not self.busy:
            return self.reference
        step = self._speed * step_s
        self.reference += float(np.clip(self._goal.position - self.reference, -step, step))
        arrived = abs(position - self._goal.position) <= REACHED_M * self._per_m
        if abs(position - self._still_at) > STALL_VELOCITY * self._per_m * STALL_TIME_S:
            self._still_at, self._still_s = position, 0.0
        self._still_s += step_s
        is_still = self._still_s >= STALL_TIME_S
        if is_still or (arrived and abs(velocity) < STALL_VELOCITY * self._per_m):
            self._end(GripperResult(Ending.SUCCEEDED, position, stalled=not arrived, reached=arrived))
        return self.reference

    def _end(self, result: GripperResult) -> None:
        self.busy, self.result = False, result
