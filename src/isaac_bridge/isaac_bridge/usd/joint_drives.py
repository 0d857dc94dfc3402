"""How the joints of a robot are driven in a physics engine whose drives are springs with dampers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from handiwork_core.control.finger_drives import FingerDrive, finger_drives
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import JointType, Robot

BANDWIDTH = 100.0
"""Natural frequency of the servos of arms [rad/s], as in the MuJoCo world."""

ROTOR_INERTIA = 0.1
"""Reflected rotor inertia of a joint of an arm [kg*m^2], as in the MuJoCo world."""


@dataclass(frozen=True, slots=True)
class JointDrive:
    """A spring and a damper to a target, in SI units.

    ``is_acceleration``: they give an acceleration for what the joint carries, so that ``stiffness`` is in 1/s^2 and
    ``damping`` in 1/s; otherwise a force [N/m, N*s/m] or a torque [N*m/rad, N*m*s/rad]. ``max_force`` [N or N*m].
    """

    is_acceleration: bool
    stiffness: float
    damping: float
    max_force: float = math.inf


@dataclass(frozen=True, slots=True)
class DrivenJoint:
    """A joint that moves: its position at the ``start`` [rad or m], ``armature`` [kg*m^2 or kg], drive if any.

    What mimics another joint has no drive: the joint that it mimics drives both.
    """

    name: str
    start: float
    armature: float
    drive: JointDrive | None


def driven_joints(robot: Robot) -> tuple[DrivenJoint, ...]:
    """Every joint that moves, in the robot's order."""
    fingers, leaders = _finger_drives(robot)
    found = []
    for joint in robot.joints.values():
        if joint.type is JointType.FIXED:
            continue
        drive: JointDrive | None = JointDrive(True, BANDWIDTH**2, 2.0 * BANDWIDTH)
        if joint.mimic is not None:
            drive = None
        elif joint.name in leaders:
            drive = leaders[joint.name]
        armature = fingers[joint.name].armature if joint.name in fingers else ROTOR_INERTIA
        found.append(DrivenJoint(joint.name, joint_position(robot, joint.name, {}), armature, drive))
    return tuple(found)


def _finger_drives(robot: Robot) -> tuple[dict[str, FingerDrive], dict[str, JointDrive]]:
    """Of all joints of grippers, and of those that lead: each carries the servos of what mimics it."""
    fingers: dict[str, FingerDrive] = {}
    leaders = {}
    for arm in robot.arms.values():
        tool = arm.gripper
        if tool is None or not tool.joint:
            continue
        drives = finger_drives(robot, tool)
        fingers |= {drive.joint: drive for drive in drives}
        stiffness, damping, force = (
            sum(values)
            for values in zip(
                *((d.stiffness, d.damping, tool.max_force_n * d.force_per_grip) for d in drives), strict=True
            )
        )
        leaders[tool.joint] = JointDrive(False, stiffness, damping, force)
    return fingers, leaders
