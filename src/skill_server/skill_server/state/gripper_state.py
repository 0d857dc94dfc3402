"""The objects that the gripper holds, by measurement, and the lengths of the gripper, by the robot's description."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.outcome import (
    OK,
    BodyPair,
    Code,
    Outcome,
)
from handiwork_core.model.suction import no_seal
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot

SPHERES_OUT_M = 0.003
"""The distance by which the spheres of a linkage may stick out of it towards the object."""
LINKAGE_ROWS = 12
"""Openings at which the linkage of a gripper is measured."""
EMPTY_WIDTH_M = 0.001
"""A gripper closed to less than this above its least width holds nothing, m."""


@dataclass(frozen=True, slots=True, eq=False)
class GripperReach:
    """How far the hand reaches, by its collision spheres.

    Attributes:
        palm_m: End of the hand's body along the approach axis, from the EE origin, m.
        tip_m: End of the fingers, m.
        palm: Spheres of the hand's body, without fingers: centres in the EE frame and radii, (n, 4), m.
        linkage: End of the moving parts beside the fingers, such as knuckles, along the approach axis, as far as they
            are between the pads: openings in ascending order and the end at each, (n, 2), m.
    """

    palm_m: float
    tip_m: float
    palm: Array = field(default_factory=lambda: np.zeros((0, 4)))
    linkage: Array = field(default_factory=lambda: np.zeros((0, 2)))

    def body_end_m(self, width_m: float) -> float:
        """Return the end of what is between the pads, palm or linkage, from the EE origin along the approach axis, m.

        Args:
            width_m: Opening of the fingers, m.
        """
        if not len(self.linkage):
            return self.palm_m
        above = int(np.searchsorted(self.linkage[:, 0], width_m))
        near = self.linkage[max(above - 1, 0) : above + 1, 1]
        return max(self.palm_m, float(near.max()))


def reach(robot: Robot, arm: ArmSpec, gripper: GripperSpec) -> GripperReach:
    """Return how far the hand reaches, by the collision spheres of the EE link and of the finger links.

    Fingers of a linkage reach further at some openings than at others; the furthest counts.

    Args:
        robot: Robot with the spheres.
        arm: Arm with the gripper.
        gripper: Gripper of the arm.

    Returns:
        The lengths of palm and fingers, and the palm's spheres.
    """
    tip, hand = gripper.tcp_offset_m, hand_links(robot, arm, gripper.finger_links)
    palm: dict[str, Array] = {}
    widths = (gripper.min_width_m, 0.5 * gripper.max_width_m, gripper.max_width_m)
    for width in widths if gripper.joint else widths[-1:]:
        poses = link_poses(robot, {gripper.joint: gripper.position(width)})
        ee_T_root = poses[arm.ee_link].inverse()
        for spheres in robot.spheres:
            if spheres.link not in hand and spheres.link not in gripper.finger_links:
                continue
            centers = (ee_T_root @ poses[spheres.link]).apply(spheres.centers)
            if spheres.link in hand:
                palm[spheres.link] = np.column_stack([centers, spheres.radii])
            else:
                tip = float(np.max(centers[:, gripper.ee_axis] + spheres.radii, initial=tip))
    body = np.concatenate([np.zeros((0, 4)), *palm.values()])
    end = float(np.max(body[:, gripper.ee_axis] + body[:, 3], initial=0.0))
    return GripperReach(end, tip, body, _linkage(robot, arm, gripper, hand))


def _linkage(robot: Robot, arm: ArmSpec, gripper: GripperSpec, hand: Collection[str]) -> Array:
    """Return ``GripperReach.linkage``."""
    links = _linkage_links(robot, gripper, hand)
    if not links:
        return np.zeros((0, 2))
    rows = []
    for width in np.linspace(gripper.min_width_m, gripper.max_width_m, LINKAGE_ROWS).tolist():
        poses, end = link_poses(robot, {gripper.joint: gripper.position(width)}), 0.0
        ee_T_root = poses[arm.ee_link].inverse()
        for spheres in robot.spheres:
            if spheres.link in links:
                centers = (ee_T_root @ poses[spheres.link]).apply(spheres.centers)
                sides = np.abs(centers[:, gripper.closing_axis]) - spheres.radii + SPHERES_OUT_M
                ends = (centers[:, gripper.ee_axis] + spheres.radii)[sides < 0.5 * width]
                end = float(np.max(ends, initial=end))
        rows.append((width, end))
    return np.array(rows)


def _linkage_links(robot: Robot, gripper: GripperSpec, hand: Collection[str]) -> set[str]:
    """Return the links that the gripper's joint moves, without fingers and what is fixed to them."""
    driven = {gripper.joint} | {
        joint.name
        for joint in robot.joints.values()
        if joint.mimic is not None and joint.mimic.joint == gripper.joint
    }
    moved, fingers = set[str](), {*gripper.finger_links}
    for joint in robot.joints.values():  # in tree order
        if joint.type is JointKind.FIXED and joint.parent in fingers:
            fingers.add(joint.child)
        elif joint.name in driven or joint.parent in moved:
            moved.add(joint.child)
    return moved - fingers - {*hand}


def hand_links(robot: Robot, arm: ArmSpec, without: Collection[str] = ()) -> tuple[str, ...]:
    """Return the EE link and all links that are fixed to it, directly or not.

    Args:
        robot: Robot with the joints.
        arm: Arm with the hand.
        without: Links that do not belong to the hand, such as fingers; links that are fixed to them do not either.

    Returns:
        Names of the links.
    """
    hand = [arm.ee_link]
    for joint in robot.joints.values():  # in tree order
        if joint.type is JointKind.FIXED and joint.parent in hand and joint.child not in without:
            hand.append(joint.child)
    return tuple(hand)


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
