"""The objects that the gripper holds, by measurement."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import (
    OK,
    BodyPair,
    Code,
    Outcome,
)
from handiwork_core.model.suction import no_seal
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot

from .gripper_reach import hand_links

EMPTY_WIDTH_M = 0.001
"""A gripper closed to less than this above its least width holds nothing, m."""


def finger_bodies(robot: Robot, gripper: GripperSpec) -> tuple[str, ...]:
    """Return the body names of the fingers in ``world.contacts``.

    Args:
        robot: Robot with the gripper.
        gripper: Gripper.

    Returns:
        Names as ``robot/link``.
    """
    return tuple(f"{robot.name}/{link}" for link in gripper.finger_links)


def gripper_bodies(robot: Robot, arm: ArmSpec) -> tuple[str, ...]:
    """Return the body names of the fingers and of the hand, or of a suction cup and its holder.

    Args:
        robot: Robot with the gripper.
        arm: Arm with the gripper.

    Returns:
        Names as ``robot/link``.
    """
    if arm.gripper is not None and arm.gripper.suction is not None:
        return tuple(f"{robot.name}/{link}" for link in hand_links(robot, arm))
    fingers = finger_bodies(robot, arm.gripper) if arm.gripper else ()
    return (*fingers, f"{robot.name}/{arm.ee_link}")


def touching_fingers(world: World, robot: Robot, gripper: GripperSpec, name: str) -> frozenset[str]:
    """Return the fingers that touch an object; the seal of a suction cup counts as touch.

    Args:
        world: Snapshot with the contacts.
        robot: Robot with the gripper.
        gripper: Gripper.
        name: Name of the object.

    Returns:
        Body names of the fingers; empty for none, and where the world has no contact source.
    """
    fingers = finger_bodies(robot, gripper)
    if gripper.suction is not None:
        return frozenset(fingers) if _is_sealed(world, gripper, name) else frozenset()
    found = set()
    for contact in world.contacts or ():
        for finger, other in ((contact.a, contact.b), (contact.b, contact.a)):
            if finger in fingers and other == name:
                found.add(finger)
    return frozenset(found)


def width_m(world: World, gripper: GripperSpec) -> float:
    """Return the measured opening of the gripper; a suction cup that is on counts as closed.

    Args:
        world: Snapshot with the joints.
        gripper: Gripper.

    Returns:
        The opening, m; nan where it is not measured.
    """
    if gripper.suction is not None:
        cup = world.suction.get(gripper.name)
        return float("nan") if cup is None else gripper.min_width_m if cup.on else gripper.max_width_m
    return gripper.width(world.joints.position.get(gripper.joint, float("nan")))


def holds(world: World, robot: Robot, gripper: GripperSpec, name: str) -> Outcome:
    """Check whether all fingers touch the object, or, without contacts, whether they stopped before they met.

    Args:
        world: Snapshot of the world.
        robot: Robot with the gripper.
        gripper: Gripper.
        name: Name of the object.

    Returns:
        OK, or NOTHING_GRASPED or the fault of the seal.
    """
    if gripper.suction is not None:
        return OK if _is_sealed(world, gripper, name) else no_seal(world.suction.get(gripper.name), name)
    width = width_m(world, gripper)
    if world.contacts is None:
        if width > gripper.min_width_m + EMPTY_WIDTH_M:
            return OK
        text = f"the gripper closed to {width * 1e3:.1f} mm, so {name!r} is not between the fingers"
        return Outcome(Code.NOTHING_GRASPED, text)
    touching = touching_fingers(world, robot, gripper, name)
    missing = [finger for finger in finger_bodies(robot, gripper) if finger not in touching]
    if not missing:
        return OK
    text = f"{' and '.join(missing)} do not touch {name!r}; the opening is {width * 1e3:.1f} mm"
    return Outcome(Code.NOTHING_GRASPED, text, blocking=BodyPair(missing[0], name))


def _is_sealed(world: World, gripper: GripperSpec, name: str) -> bool:
    """Check the seal; a cup without a source of the object's name holds the object that is asked for."""
    cup = world.suction.get(gripper.name)
    return cup is not None and cup.sealed and cup.object in ("", name)


def stamp_s(world: World, gripper: GripperSpec) -> float:
    """Return the stamp of the newest message on the objects that the gripper touches.

    Args:
        world: Snapshot of the world.
        gripper: Gripper.

    Returns:
        The stamp in the robot's time, s.
    """
    cup = world.suction.get(gripper.name)
    return world.contacts_stamp_s if gripper.suction is None or cup is None else cup.stamp_s


def forget_lost(context: Context, world: World) -> None:
    """Remove from ``context.held`` the objects that are lost by ``is_lost``.

    Args:
        context: Context of the run.
        world: Snapshot of the world.
    """
    for name in list(context.held):
        if is_lost(world, context.robot, context.arm_spec, name):
            del context.held[name]


def is_lost(world: World, robot: Robot, arm: ArmSpec, name: str) -> bool:
    """Check whether a held object is lost.

    Args:
        world: Snapshot of the world.
        robot: Robot with the gripper.
        arm: Arm that held the object.
        name: Name of the object.

    Returns:
        True for an object that the world lacks or no finger touches, or, without contacts, that closed fingers cannot
        hold.
    """
    if name not in world.objects:
        return True
    if arm.gripper is None:
        return False
    if world.contacts is None or arm.gripper.suction is not None:
        return holds(world, robot, arm.gripper, name).code is Code.NOTHING_GRASPED
    return not touching_fingers(world, robot, arm.gripper, name)


def held_by_measurement(world: World, robot: Robot, arm: ArmSpec) -> str:
    """Return the movable object that all fingers touch.

    Args:
        world: Snapshot of the world.
        robot: Robot with the gripper.
        arm: Arm with the gripper.

    Returns:
        Name of the object; empty for none, and where the world has no contact source.
    """
    if arm.gripper is None:
        return ""
    if arm.gripper.suction is not None:
        cup = world.suction.get(arm.gripper.name)
        return cup.object if cup is not None and cup.sealed else ""
    if world.contacts is None:
        return ""
    for name, body in world.objects.items():
        if not body.is_static and holds(world, robot, arm.gripper, name).ok:
            return name
    return ""


def attachment(world: World, robot: Robot, arm: ArmSpec, world_T_base: Pose, name: str) -> Attachment:
    """Return the pose of a held object in the hand, by this snapshot.

    Args:
        world: Snapshot of the world.
        robot: Robot.
        arm: Arm.
        world_T_base: Pose of the arm's base.
        name: Name of the object.

    Returns:
        The object with its pose in the EE frame.
    """
    world_T_ee = ee_pose(world, robot, arm, world_T_base)
    return Attachment(name, arm.ee_link, world_T_ee.inverse() @ world.states[name].world_T_object)


def arm_q(world: World, arm: ArmSpec) -> Array:
    """Return the measured configuration of an arm.

    Args:
        world: Snapshot with the joints.
        arm: Arm.

    Returns:
        Configuration, (dof,), rad or m; nan for joints that are not measured.
    """
    return np.array([world.joints.position.get(name, float("nan")) for name in arm.joint_names])
