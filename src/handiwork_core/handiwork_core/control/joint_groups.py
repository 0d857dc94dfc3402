"""The interface of the controllers to arms and grippers: the indices of their joints, and the laws of mimic joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from handiwork_core.control.finger_drives import FingerDrive, finger_drives
from handiwork_core.control.goal_refusal import GoalRefused
from handiwork_core.control.gripper_controller import GripperController
from handiwork_core.control.tolerances import Tolerances
from handiwork_core.control.trajectory_controller import TrajectoryController
from handiwork_core.control.trajectory_goal import JointLimits
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import GripperSpec, Joint, Robot

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class JointArrays:
    """Measured joints in an order that their owner defines.

    Attributes:
        stamp_s: Time of the measurement, s of the plant's time.
        position: Positions, (n,), rad or m.
        velocity: Velocities, (n,), rad/s or m/s.
        effort: Forces of the servos, (n,), Nm or N.
    """

    stamp_s: float
    position: Array
    velocity: Array
    effort: Array


class ArmAxis:
    """An arm's controller and the indices of its joints.

    Args:
        controller: The controller.
        indices: Indices of the joints in the plant's order, (dof,).
    """

    def __init__(self, controller: TrajectoryController, indices: Indices) -> None:
        self.controller, self.indices = controller, indices


class GripperAxis:
    """A gripper's controller and the indices of its joints, the leading one first; each follows it by its own law.

    Args:
        controller: The controller.
        indices: Indices of the joints in the plant's order, (n,).
        joints: The joints, (n,).
        drives: Their drives, (n,).
    """

    def __init__(
        self,
        controller: GripperController,
        indices: Indices,
        joints: Sequence[Joint],
        drives: Sequence[FingerDrive],
    ) -> None:
        self.controller, self.indices, self.drives = controller, indices, tuple(drives)
        self._per_grip = np.array([drive.force_per_grip for drive in drives])
        laws = [(1.0, 0.0) if j.mimic is None else (j.mimic.multiplier, j.mimic.offset) for j in joints]
        self._multiplier, self._offset = np.array(laws).T

    def positions(self, lead: float) -> Array:
        """Return the positions of all joints for a position of the leading one.

        Args:
            lead: Position of the leading joint, m or rad.

        Returns:
            Positions, (n,), m or rad.
        """
        return np.asarray(self._multiplier * lead + self._offset)

    def forces(self) -> Array:
        """Return the greatest forces (n,) of the servos at the controller's grip, N or Nm."""
        return self._per_grip * self.controller.force_n


class MotionGuard(Protocol):
    """Decides whether motions may begin."""

    def refusal(self) -> GoalRefused | None:
        """Return the reason why no motion may begin now; None if motions may begin."""
        ...


class Plant(Protocol):
    """The controlled system: a simulation, or a robot behind an interface."""

    arms: dict[str, ArmAxis]
    grippers: dict[str, GripperAxis]

    @property
    def safety(self) -> MotionGuard:
        """The safety layer, which must allow every new motion."""
        ...

    def joints(self) -> JointArrays:
        """Return the newest measurement."""
        ...


def arm_axes(robot: Robot, names: Sequence[str], start: Array) -> dict[str, ArmAxis]:
    """Return the axes of all arms and of a mobile base, which follows trajectories as an arm does.

    Args:
        robot: The robot.
        names: Names of the joints in the plant's order, (n,).
        start: Present positions in this order, (n,), rad or m.

    Returns:
        Axes by the name of the arm or base.
    """
    axes = {}
    base = () if robot.base is None else (robot.base,)
    for spec in (*base, *robot.arms.values()):
        indices = _indices(names, spec.joint_names)
        profile = Tolerances.of(spec.controller_profile)
        controller = TrajectoryController(JointLimits.of(robot, spec), start[indices], profile)
        axes[spec.name] = ArmAxis(controller, indices)
    return axes


def gripper_axes(robot: Robot, names: Sequence[str], start: Array) -> dict[str, GripperAxis]:
    """Return the axes of all grippers that have fingers; a suction cup has none.

    Args:
        robot: The robot.
        names: Names of the joints in the plant's order, (n,).
        start: Present positions in this order, (n,), rad or m.

    Returns:
        Axes by the name of the gripper.
    """
    tools = (arm.gripper for arm in robot.arms.values() if arm.gripper is not None)
    return {tool.name: _gripper(robot, tool, names, start) for tool in tools if tool.suction is None}


def _gripper(robot: Robot, tool: GripperSpec, names: Sequence[str], start: Array) -> GripperAxis:
    drives = finger_drives(robot, tool)
    joints = [robot.joints[drive.joint] for drive in drives]
    fingers = _indices(names, [joint.name for joint in joints])
    controller = GripperController(tool, robot.joints[tool.joint].velocity, float(start[fingers[0]]))
    return GripperAxis(controller, fingers, joints, drives)


def _indices(names: Sequence[str], wanted: Sequence[str]) -> Indices:
    return np.array([names.index(name) for name in wanted], dtype=np.intp)


def any_busy(arms: Mapping[str, ArmAxis], grippers: Mapping[str, GripperAxis]) -> bool:
    """Check whether any controller follows a goal.

    Args:
        arms: Axes of the arms.
        grippers: Axes of the grippers.

    Returns:
        True while one does.
    """
    return any(a.controller.busy for a in arms.values()) or any(g.controller.busy for g in grippers.values())
