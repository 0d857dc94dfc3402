"""Check whether a robot on a moving base keeps clear of all obstacles: its spheres against boxes around the shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.world import World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from skill_server.geometry.solids import shape_box

CLEARANCE_M = 0.01
"""The free space to all obstacles on the way, m."""


@dataclass(frozen=True, slots=True)
class Touch:
    """The first bodies that come too near to each other.

    Attributes:
        pair: Body of the robot or held object, and the obstacle.
        share: Travelled part of the path, 0 to 1.
    """

    pair: BodyPair
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class _Ball:
    """Spheres of one body in the frame of the base: ``centers`` (n, 3) and ``radii`` (n,), m."""

    name: str
    centers: Array
    radii: Array


def first_touch(
    robot: Robot,
    world: World,
    world_T_root: Pose,
    path: Array,
    ignored: frozenset[str],
    held: Mapping[str, Attachment],
) -> Touch | None:
    """Find the first place on a path of the base where a body comes too near to an obstacle.

    All other joints are as measured. Shapes are judged by the boxes around them, which are never smaller than the
    shapes. Bodies that touch at the start, as wheels do the floor, may go on touching.

    Args:
        robot: Robot with a base.
        world: Snapshot of the world, with the planner's own obstacles.
        world_T_root: Pose of the root link.
        path: Positions of the base, (n, 3), m and rad.
        ignored: Objects that are no obstacles; the planner's own obstacles always count.
        held: Held and attached objects; each has geometry in the world or among the planner's own obstacles, or it is
            left out.

    Returns:
        The pair and the travelled part; None when the whole path is clear.
    """
    assert robot.base is not None
    balls = _balls(robot, world, held)
    names = robot.base.joint_names
    bases = [
        world_T_root @ link_poses(robot, dict(zip(names, row.tolist(), strict=True)))[robot.base.link]
        for row in path
    ]
    obstacles = _obstacles(world, ignored | frozenset(held), frozenset(held) - world.objects.keys())
    found: Touch | None = None
    for ball in balls:
        centers = np.array([base.apply(ball.centers) for base in bases])
        for name, item, pose in obstacles:
            near = (_gaps(item, pose, centers) - ball.radii).min(axis=1)
            index = int(np.argmax(near < CLEARANCE_M))
            if near[0] < CLEARANCE_M or not near[index] < CLEARANCE_M:
                continue
            share = index / max(len(path) - 1, 1)
            if found is None or share < found.share:
                found = Touch(BodyPair(ball.name, name), share)
    return found


def _obstacles(
    world: World, excluded: frozenset[str], attached: frozenset[str]
) -> list[tuple[str, WorldObject, Pose]]:
    """Return names, shapes and world_T_object of the objects that count, and of the planner's own obstacles."""
    names = [name for name in world.objects if name in world.states and name not in excluded]
    received = [(name, world.objects[name], world.states[name].world_T_object) for name in names]
    own = {name: item for name, item in world.planner_objects.items() if name not in attached}
    return received + [(name, item, Pose.identity()) for name, item in own.items()]


def geometry_of(world: World, name: str) -> WorldObject | None:
    """Return the geometry of an object of the world, or else of the planner's own obstacles; None if it has none.

    Args:
        world: Snapshot of the world.
        name: Name of the object.
    """
    return world.objects.get(name) or world.planner_objects.get(name)


def _balls(robot: Robot, world: World, held: Mapping[str, Attachment]) -> list[_Ball]:
    """Return the spheres of every link, and one around each held object."""
    assert robot.base is not None
    poses = link_poses(robot, world.joints.position)
    base_T_root = poses[robot.base.link].inverse()
    made = [
        _Ball(f"{robot.name}/{s.link}", (base_T_root @ poses[s.link]).apply(s.centers), s.radii)
        for s in robot.spheres
        if len(s.radii)
    ]
    for name, grip in held.items():
        item = geometry_of(world, name)
        if item is not None:
            shapes = item.shapes
            corners = np.concatenate([s.object_T_shape.apply(shape_box(s).corners()) for s in shapes])
            middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
            radius = np.linalg.norm(corners - middle, axis=1).max()
            there = base_T_root @ poses[grip.link] @ grip.link_T_object
            made.append(_Ball(name, there.apply(middle[None, :]), np.array([radius])))
    return made


def _gaps(item: WorldObject, pose: Pose, points: Array) -> Array:
    """Return the distances (n, m) of points (n, m, 3) to the nearest box of an object; 0 inside, m."""
    gaps = []
    for shape in item.shapes:
        box = shape_box(shape)
        local = (pose @ shape.object_T_shape @ box.pose).inverse().apply(points)
        gaps.append(np.linalg.norm(np.maximum(np.abs(local) - box.size / 2.0, 0.0), axis=-1))
    return np.asarray(np.min(gaps, axis=0))
