"""Scenes for the planner: the held objects, the pairs that may touch, and the opening of the gripper."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from handiwork_core.scene.bounds import world_aabb

from .gripper_state import gripper_bodies

TOUCHING_GAP_M = 0.01


def gripper_joints(robot: Robot, gripper: GripperSpec, width_m: float) -> tuple[tuple[str, float], ...]:
    """Return the positions of the gripper's joints at an opening, including mimic joints.

    Args:
        robot: Robot with the joints.
        gripper: Gripper.
        width_m: Opening, m.

    Returns:
        Joints with their positions, rad or m; empty for a suction cup.
    """
    if gripper.suction is not None:
        return ()
    position = gripper.position(width_m)
    mimics = [(j.name, j.mimic) for j in robot.joints.values() if j.mimic and j.mimic.joint == gripper.joint]
    followers = ((name, mimic.multiplier * position + mimic.offset) for name, mimic in mimics)
    return ((gripper.joint, position), *followers)


def measured_gripper_joints(
    world: World, robot: Robot, gripper: GripperSpec | None
) -> tuple[tuple[str, float], ...]:
    """Return the positions of the gripper's joints by the measured one.

    Args:
        world: Snapshot with the joints.
        robot: Robot with the joints.
        gripper: Gripper; None for an arm without one.

    Returns:
        Joints with their positions, rad or m; empty where the joint is not measured.
    """
    if gripper is None or gripper.joint not in world.joints.position:
        return ()
    return gripper_joints(robot, gripper, gripper.width(world.joints.position[gripper.joint]))


def width_across(world: World, name: str, world_T_ee: Pose, gripper: GripperSpec) -> float:
    """Return the width of an object between the fingers of a hand, by its bounds in the frame of the hand.

    Args:
        world: Snapshot of the world.
        name: Name of the object.
        world_T_ee: Pose of the hand.
        gripper: Gripper of the hand.

    Returns:
        The width, m.
    """
    ee_T_object = world_T_ee.inverse() @ world.states[name].world_T_object
    low, high = world_aabb(world.objects[name], ee_T_object)
    return float((high - low)[gripper.closing_axis])


def touch_pairs(
    robot: Robot, arm: ArmSpec, held: Collection[str], touching: frozenset[str]
) -> frozenset[BodyPair]:
    """Return the pairs of bodies that may touch.

    These are the gripper with the objects that it holds, and the held objects, or the open fingers, with
    ``touching``; never links that the arm forbids to touch anything.

    Args:
        robot: Robot with the gripper.
        arm: Arm with the gripper.
        held: Names of the held objects.
        touching: Objects that may be touched.

    Returns:
        The pairs.
    """
    forbidden = {f"{robot.name}/{link}" for link in arm.forbid_collision_links}
    hand = [body for body in gripper_bodies(robot, arm) if body not in forbidden]
    pairs = {BodyPair(body, name) for body in hand for name in held}
    for name in touching - frozenset(held):
        pairs |= {BodyPair(body, name) for body in (tuple(held) or hand)}
    return frozenset(pairs)


def scene_for(
    world: World,
    robot: Robot,
    arm: ArmSpec,
    held: Mapping[str, Attachment],
    ignored: frozenset[str],
    touching: frozenset[str],
) -> SceneQuery:
    """Return the scene of a motion from the robot's present configuration.

    Args:
        world: Snapshot of the world.
        robot: Robot.
        arm: Arm that moves.
        held: Held objects.
        ignored: Objects that are no obstacles.
        touching: Objects that may be touched.

    Returns:
        The scene.
    """
    return SceneQuery(
        ignored=ignored,
        attached=tuple(held.values()),
        allowed=touch_pairs(robot, arm, held, touching),
        gripper_m=measured_gripper_joints(world, robot, arm.gripper),
    )


def supports(world: World, name: str) -> frozenset[str]:
    """Return the objects on which an object rests or against which it leans.

    Args:
        world: Snapshot of the world.
        name: Name of the object.

    Returns:
        Names of the objects whose bounds come within ``TOUCHING_GAP_M`` of its bounds.
    """
    low, high = world_aabb(world.objects[name], world.states[name].world_T_object)
    found = set()
    for other, body in world.objects.items():
        if other == name or other not in world.states:
            continue
        other_low, other_high = world_aabb(body, world.states[other].world_T_object)
        if (low <= other_high + TOUCHING_GAP_M).all() and (high >= other_low - TOUCHING_GAP_M).all():
            found.add(other)
    return frozenset(found)


def objects_inside(world: World, name: str) -> frozenset[str]:
    """Return the names of the other objects whose origin lies within the bounds of the named one.

    Args:
        world: The objects and where they are.
        name: The object that the others lie in.
    """
    low, high = world_aabb(world.objects[name], world.states[name].world_T_object)
    places = {other: state.world_T_object.translation_m for other, state in world.states.items()}
    return frozenset(n for n, p in places.items() if n != name and (low < p).all() and (p < high).all())


def ignored_objects(substrings: Sequence[str], world: World) -> frozenset[str]:
    """Return the objects whose name contains one of some texts.

    Args:
        substrings: Texts; an empty one matches nothing.
        world: Snapshot of the world.

    Returns:
        Names of the objects.
    """
    return frozenset(name for name in world.objects if any(part and part in name for part in substrings))
