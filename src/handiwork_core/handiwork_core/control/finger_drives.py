"""The drives of a simulated gripper: one servo for each sliding finger, or one at the leading joint of a linkage."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import GripperSpec, Robot

INERTIA_KG = 0.2
"""Reflected inertia of a finger's drive."""

STIFFNESS = 12000.0
"""Stiffness of a finger's servo, N/m: a 4 mm gap between reference and finger gives a grip of about 50 N."""


@dataclass(frozen=True, slots=True)
class FingerDrive:
    """The drive of one joint of a gripper.

    Attributes:
        joint: Name of the joint.
        armature: Reflected inertia, kg or kg*m^2.
        stiffness: Stiffness of the servo, N/m or Nm/rad; 0 where no servo drives the joint.
        force_per_grip: Force of the servo, N or Nm, for each newton with which a finger presses.
    """

    joint: str
    armature: float
    stiffness: float
    force_per_grip: float

    @property
    def damping(self) -> float:
        """Damping of the servo, Ns/m or Nms/rad: critical for the drive's own inertia."""
        return 2.0 * float((self.stiffness * self.armature) ** 0.5)


def finger_joints(robot: Robot, gripper: GripperSpec) -> tuple[str, ...]:
    """Return the gripper's joint and those that mimic it.

    Args:
        robot: The robot.
        gripper: The gripper.

    Returns:
        Names of the joints, the leading one first; empty for a suction cup.
    """
    if not gripper.joint:
        return ()
    followers = (
        j.name for j in robot.joints.values() if j.mimic is not None and j.mimic.joint == gripper.joint
    )
    return (gripper.joint, *followers)


def finger_drives(robot: Robot, gripper: GripperSpec) -> tuple[FingerDrive, ...]:
    """Return a drive for each of ``finger_joints``; the work of a servo is the work of the fingers that it drives.

    Args:
        robot: The robot.
        gripper: The gripper.

    Returns:
        The drives, in the order of ``finger_joints``.
    """
    names = finger_joints(robot, gripper)
    sliding = all(robot.joints[name].type is JointKind.PRISMATIC for name in names)
    drives = []
    for name in names:
        lever = 1.0 if sliding else abs(gripper.mean_width_rate) / 2.0
        # A linkage moves as one, so that its leading joint drives both fingers.
        fingers = 1.0 if sliding else 2.0 * float(name == gripper.joint)
        drives.append(
            FingerDrive(name, INERTIA_KG * lever**2, STIFFNESS * fingers * lever**2, fingers * lever)
        )
    return tuple(drives)
