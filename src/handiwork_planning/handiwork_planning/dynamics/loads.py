"""What an arm carries on a motion: objects in its hand, and its share of one that another arm carries with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from handiwork_core.contracts.planning import Attachment, OtherArm, SceneQuery
from handiwork_core.dynamics.payload import object_mass
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot

LEAST_SHARE = 0.5
"""The least share of each of two arms: hands that grip firmly may pass weight on to each other by moments."""
ONE_ABOVE_ANOTHER_M = 0.01
"""Hands whose distance on the floor plan is less do not share a load by leverage: each may have to carry all of it."""


class Load(NamedTuple):
    """An object with a mass in the hand of an arm.

    Attributes:
        attachment: Where it is.
        body: The object, with the share of its mass that the arm carries.
        is_shared: Another arm that moves in the same motion carries it, too.
    """

    attachment: Attachment
    body: WorldObject
    is_shared: bool


class _Carrier(NamedTuple):
    """Another arm in the same motion, and where its hand is on the object."""

    arm: OtherArm
    link: str


def loads_of(
    robot: Robot, arm: ArmSpec, trajectory: Trajectory, scene: SceneQuery, world: World, world_T_root: Pose
) -> tuple[Load, ...]:
    """Return the objects with a mass that an arm carries.

    An arm carries what is attached to it. It also carries what is attached to another arm that moves in the same motion
    (``OtherArm.t_s``), where its own hand may touch that object. Such an object counts with the share that leverage
    gives the hand between both hands, at least ``LEAST_SHARE``, and with its centre of mass where it is.

    Args:
        robot: The robot.
        arm: The arm.
        trajectory: Its motion, at whose beginning the hands are compared.
        scene: The scene that it is planned or judged in.
        world: The world with the masses of the objects.
        world_T_root: Pose of the robot's root link, for the direction of gravity.
    """
    own = {one.object: one for one in scene.attached}
    found = list[Load]()
    for one in scene.attached:
        body = _weighed(world, one.object)
        if body is None:
            continue
        carriers = [
            _Carrier(other, robot.arm(other.arm).ee_link)
            for other in scene.others
            if other.t_s is not None and _has_hand_on(robot, other.arm, one.object, scene)
        ]
        found.append(_load(robot, arm, trajectory, scene, one, body, carriers, world_T_root))
    for other, theirs in _of_others(scene):
        body = _weighed(world, theirs.object)
        if body is None or theirs.object in own or not _has_hand_on(robot, arm.name, theirs.object, scene):
            continue
        here = _poses(robot, arm, trajectory, scene, other)
        held = Attachment(
            theirs.object, arm.ee_link, here[arm.ee_link].inverse() @ here[theirs.link] @ theirs.link_T_object
        )
        carriers = [_Carrier(other, theirs.link)]
        found.append(_load(robot, arm, trajectory, scene, held, body, carriers, world_T_root))
    return tuple(found)


def _of_others(scene: SceneQuery) -> Iterator[tuple[OtherArm, Attachment]]:
    """Yield what arms that move in the same motion hold."""
    for other in scene.others:
        if other.t_s is not None:
            for theirs in other.attached:
                yield other, theirs


def _weighed(world: World, name: str) -> WorldObject | None:
    body = world.objects.get(name)
    return body if body is not None and body.mass_kg > 0.0 else None


def _has_hand_on(robot: Robot, arm: str, name: str, scene: SceneQuery) -> bool:
    hand = f"{robot.name}/{robot.arm(arm).ee_link}"
    return any({hand, name} == set(pair) for pair in scene.allowed)


def _load(
    robot: Robot,
    arm: ArmSpec,
    trajectory: Trajectory,
    scene: SceneQuery,
    held: Attachment,
    body: WorldObject,
    carriers: list[_Carrier],
    world_T_root: Pose,
) -> Load:
    """Return a load with the greatest share that the arm has with any one of the others."""
    if not carriers:
        return Load(held, body, is_shared=False)
    shares = list[float]()
    for one in carriers:
        here = _poses(robot, arm, trajectory, scene, one.arm)
        centre = object_mass(body, world_T_root @ here[held.link] @ held.link_T_object).centre
        own, other = ((world_T_root @ here[link]).translation_m for link in (held.link, one.link))
        shares.append(share_of(own, other, centre))
    return Load(held, replace(body, mass_kg=max(shares) * body.mass_kg), is_shared=True)


def _poses(
    robot: Robot, arm: ArmSpec, trajectory: Trajectory, scene: SceneQuery, other: OtherArm
) -> dict[str, Pose]:
    """Return the poses of all links in the root link's frame where both arms begin the motion."""
    rows = zip(trajectory.joint_names, trajectory.q[0].tolist(), strict=True)
    theirs = zip(robot.arm(other.arm).joint_names, other.q[0].tolist(), strict=True)
    return link_poses(robot, {**dict(scene.gripper_m), **dict(theirs), **dict(rows)})


def share_of(own: Array, other: Array, centre: Array) -> float:
    """Return the share of a weight that one of two hands carries, by leverage between them.

    Args:
        own: Position of the hand in the world, (3,), m.
        other: Position of the other hand, (3,), m.
        centre: Centre of mass, (3,), m.

    Returns:
        ``LEAST_SHARE`` to 1. All of it where the centre of mass is not between the hands, or one is above the other.
    """
    between = (own - other)[:2]
    length = float(np.linalg.norm(between))
    if length < ONE_ABOVE_ANOTHER_M:
        return 1.0
    lever = float((centre - other)[:2] @ between) / length**2
    return 1.0 if lever < 0.0 else min(max(lever, LEAST_SHARE), 1.0)
