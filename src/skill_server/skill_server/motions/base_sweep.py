"""Check whether a robot on a moving base keeps clear of all obstacles: its spheres against boxes around the shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


class BaseClearance:
    """Judges positions of a mobile base for one posture of the robot.

    All other joints are as measured. Shapes are judged by the boxes around them, which are never smaller than the
    shapes. Bodies that touch where the base is measured, as wheels do the floor, may go on touching.

    Args:
        robot: Robot with a base.
        world: Snapshot of the world, with the planner's own obstacles.
        world_T_root: Pose of the root link.
        ignored: Objects that are no obstacles; the planner's own obstacles always count.
        held: Held and attached objects; each has geometry in the world or among the planner's own obstacles, or it is
            left out.
        here: Position of the base at which bodies may touch, (3,), m and rad; None: the measured one.
        clearance_m: The free space to all obstacles, m.
    """

    def __init__(
        self,
        robot: Robot,
        world: World,
        world_T_root: Pose,
        ignored: frozenset[str],
        held: Mapping[str, Attachment],
        here: Array | None = None,
        clearance_m: float = CLEARANCE_M,
    ) -> None:
        assert robot.base is not None
        self._clearance_m = clearance_m
        self._root = world_T_root
        self._balls = _balls(robot, world, held)
        self._boxes = [
            (name, box)
            for name, item, pose in _obstacles(
                world, ignored | frozenset(held), frozenset(held) - world.objects.keys()
            )
            for box in _boxes(item, pose)
        ]
        self._reach_m = max(
            (float((np.linalg.norm(b.centers, axis=1) + b.radii).max()) for b in self._balls), default=0.0
        )
        if here is None:
            here = np.array([world.joints.position[name] for name in robot.base.joint_names])
        self._touching = frozenset(
            (ball, name) for ball, name, near in self._gaps(here[None, :]) if near[0] < clearance_m
        )

    def is_clear(self, path: Array) -> Array:
        """Return True for each position at which the whole robot keeps clear.

        Args:
            path: Positions of the base, (n, 3), m and rad.

        Returns:
            One verdict for each position, (n,).
        """
        clear = np.ones(len(path), bool)
        for ball, name, gaps in self._gaps(path):
            if (ball, name) not in self._touching:
                clear &= gaps >= self._clearance_m
        return clear

    def first_touch(self, path: Array) -> Touch | None:
        """Find the first place on a path where a body comes too near to an obstacle.

        Args:
            path: Positions of the base, (n, 3), m and rad.

        Returns:
            The pair and the travelled part; None when the whole path is clear.
        """
        found: Touch | None = None
        for ball, name, gaps in self._gaps(path):
            near = gaps < self._clearance_m
            if (ball, name) in self._touching or not near.any():
                continue
            share = int(np.argmax(near)) / max(len(path) - 1, 1)
            if found is None or share < found.share:
                found = Touch(BodyPair(ball, name), share)
        return found

    def _gaps(self, path: Array) -> Iterator[tuple[str, str, Array]]:
        """Yield body, obstacle and the space between them at each position (n,), m; infinite where it is large."""
        turns, origins = base_poses(self._root, path)
        centers = {
            ball.name: ball.centers @ turns.transpose(0, 2, 1) + origins[:, None] for ball in self._balls
        }
        for name, box in self._boxes:
            far = box.distances(origins) > self._reach_m + self._clearance_m
            if far.all():
                continue
            for ball in self._balls:
                gaps = np.full(len(path), np.inf)
                gaps[~far] = (box.distances(centers[ball.name][~far]) - ball.radii).min(axis=1)
                yield ball.name, name, gaps


def base_poses(world_T_root: Pose, path: Array) -> tuple[Array, Array]:
    """Return the poses of a base for positions of its joints.

    Args:
        world_T_root: Pose of the root link.
        path: Positions of the base: x, y [m] and yaw [rad], (n, 3).

    Returns:
        Rotations (n, 3, 3) and origins (n, 3), m, of the base's link in the world.
    """
    cos, sin, zero = np.cos(path[:, 2]), np.sin(path[:, 2]), np.zeros(len(path))
    turns = np.stack([cos, -sin, zero, sin, cos, zero, zero, zero, zero + 1.0], axis=1).reshape(-1, 3, 3)
    origins = world_T_root.apply(np.column_stack([path[:, :2], zero]))
    return world_T_root.rotation.matrix() @ turns, origins


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """A box by ``box_T_world`` and the half of its sides (3,), m."""

    box_T_world: Pose
    half: Array

    def distances(self, points: Array) -> Array:
        """Return the distances of points (..., 3) to the box; 0 inside, m."""
        outside = np.maximum(np.abs(self.box_T_world.apply(points)) - self.half, 0.0)
        return np.asarray(np.linalg.norm(outside, axis=-1))


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


def _boxes(item: WorldObject, pose: Pose) -> list[_Box]:
    """Return the boxes around the shapes of an object."""
    made = []
    for shape in item.shapes:
        box = shape_box(shape)
        made.append(_Box((pose @ shape.object_T_shape @ box.pose).inverse(), box.size / 2.0))
    return made
