"""The drives of a robot's joints in a physics engine whose drives are springs with dampers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from handiwork_core.control.finger_drives import FingerDrive, finger_drives
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import followers_of_arms
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import Robot

BANDWIDTH = 100.0
"""Natural frequency of the servos of arms [rad/s], as in the MuJoCo world."""

ROTOR_INERTIA = 0.1
"""Reflected rotor inertia of a joint of an arm [kg*m^2], as in the MuJoCo world."""


@dataclass(frozen=True, slots=True)
class JointDrive:
    """A spring and a damper to a target, in SI units.

    Attributes:
        is_acceleration: Whether they give an acceleration of the joint's load; otherwise a force or a torque.
        stiffness: 1/s^2 for an acceleration, otherwise N/m or N*m/rad.
        damping: 1/s for an acceleration, otherwise N*s/m or N*m*s/rad.
        max_force: Largest force, N or N*m.
    """

    is_acceleration: bool
    stiffness: float
    damping: float
    max_force: float = math.inf


@dataclass(frozen=True, slots=True)
class DrivenJoint:
    """A joint that moves.

    Attributes:
        name: Name of the joint.
        start: Position at the start, rad or m.
        armature: kg*m^2 or kg.
        drive: Its drive. None for a joint that mimics another one, whose drive moves both.
    """

    name: str
    start: float
    armature: float
    drive: JointDrive | None


def driven_joints(robot: Robot) -> tuple[DrivenJoint, ...]:
    """Return every joint that moves, in the robot's order.

    Args:
        robot: The robot.
    """
    fingers, leaders = _finger_drives(robot)
    led, found = followers_of_arms(robot), []
    for joint in robot.joints.values():
        if joint.type is JointKind.FIXED:
            continue
        drive: JointDrive | None = JointDrive(True, BANDWIDTH**2, 2.0 * BANDWIDTH)
        if joint.mimic is not None:
            drive = None
        elif joint.name in leaders:
            drive = leaders[joint.name]
        armature = 0.0 if joint.name in led else ROTOR_INERTIA
        if joint.name in fingers:
            armature = fingers[joint.name].armature
        found.append(DrivenJoint(joint.name, joint_position(robot, joint.name, {}), armature, drive))
    return tuple(found)


def _finger_drives(robot: Robot) -> tuple[dict[str, FingerDrive], dict[str, JointDrive]]:
    """Return the drives of all joints of grippers, and of those that lead: each has the servos of its mimics, too."""
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
