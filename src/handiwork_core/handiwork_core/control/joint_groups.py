"""Arms and grippers as their controllers see them: where their joints are, and by what laws those move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from handiwork_core.control.finger_drives import FingerDrive, finger_drives
from handiwork_core.control.gripper_controller import GripperController
from handiwork_core.control.trajectory_controller import TrajectoryController
from handiwork_core.control.trajectory_goal import GoalRefused, JointLimits, Tolerances
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import GripperSpec, Joint, Robot

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class JointArrays:
    """Measured joints in an order that their owner keeps: positions, velocities, forces of the servos (n,)."""

    stamp_s: float
    position: Array
    velocity: Array
    effort: Array


class ArmAxis:
    """An arm's controller and where its joints are."""

    def __init__(self, controller: TrajectoryController, indices: Indices) -> None:
        self.controller, self.indices = controller, indices


class GripperAxis:
    """A gripper's controller and where its joints are, the leading one first; each follows it by its own law."""

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
        """Positions of all joints (n,) when the leading one is at ``lead``."""
        return np.asarray(self._multiplier * lead + self._offset)

    def forces(self) -> Array:
        """Greatest forces (n,) of the servos [N or Nm] at the controller's grip."""
        return self._per_grip * self.controller.force_n


class MotionGuard(Protocol):
    """Says whether motions may begin."""

    def refusal(self) -> GoalRefused | None:
        """Why no motion may begin now; None where it may."""
        ...


class Plant(Protocol):
    """What moves and is measured: a simulation, or a robot behind a wire."""

    arms: dict[str, ArmAxis]
    grippers: dict[str, GripperAxis]

    @property
    def safety(self) -> MotionGuard:
        """The safety layer, which every new motion has to ask."""
        ...

    def joints(self) -> JointArrays:
        """The newest measurement."""
        ...


def arm_axes(robot: Robot, names: Sequence[str], start: Array) -> dict[str, ArmAxis]:
    """All arms, and a mobile base, which follows trajectories as an arm does; ``start`` (n,) goes by ``names``."""
    axes = {}
    base = () if robot.base is None else (robot.base,)
    for spec in (*base, *robot.arms.values()):
        indices = _indices(names, spec.joint_names)
        profile = Tolerances.of(spec.controller_profile)
        controller = TrajectoryController(JointLimits.of(robot, spec), start[indices], profile)
        axes[spec.name] = ArmAxis(controller, indices)
    return axes


def gripper_axes(robot: Robot, names: Sequence[str], start: Array) -> dict[str, GripperAxis]:
    """All grippers with fingers to drive; a suction cup has none."""
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
    """True while a controller works."""
    return any(a.controller.busy for a in arms.values()) or any(g.controller.busy for g in grippers.values())
