"""How a simulated gripper is driven: sliding fingers each by a servo, a linkage by one at the joint that leads it."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.robot.robot import GripperSpec, JointType, Robot

INERTIA_KG = 0.2
"""Reflected inertia of a finger's drive."""

STIFFNESS = 12000.0
"""Of a finger's servo [N/m]: a 4 mm gap between reference and finger gives a grip of about 50 N."""


@dataclass(frozen=True, slots=True)
class FingerDrive:
    """A joint of a gripper. ``armature`` [kg or kg*m^2]; ``stiffness`` [N/m or Nm/rad], 0 where no servo drives it.

    ``force_per_grip``: what the servo gives [N or Nm] for each newton with which a finger presses.
    """

    joint: str
    armature: float
    stiffness: float
    force_per_grip: float

    @property
    def damping(self) -> float:
        """Of the servo: critical for the drive's own inertia."""
        return 2.0 * float((self.stiffness * self.armature) ** 0.5)


def finger_joints(robot: Robot, gripper: GripperSpec) -> tuple[str, ...]:
    """The gripper's joint and those that mimic it; none for a suction cup."""
    if not gripper.joint:
        return ()
    followers = (
        j.name for j in robot.joints.values() if j.mimic is not None and j.mimic.joint == gripper.joint
    )
    return (gripper.joint, *followers)


def finger_drives(robot: Robot, gripper: GripperSpec) -> tuple[FingerDrive, ...]:
    """One for each of ``finger_joints``; the work of a servo is the work of the fingers that it drives."""
    names = finger_joints(robot, gripper)
    sliding = all(robot.joints[name].type is JointType.PRISMATIC for name in names)
    drives = []
    for name in names:
        lever = 1.0 if sliding else abs(gripper.mean_width_rate) / 2.0
        # A linkage moves as one, so that its leading joint drives both fingers.
        fingers = 1.0 if sliding else 2.0 * float(name == gripper.joint)
        drives.append(
            FingerDrive(name, INERTIA_KG * lever**2, STIFFNESS * fingers * lever**2, fingers * lever)
        )
    return tuple(drives)
