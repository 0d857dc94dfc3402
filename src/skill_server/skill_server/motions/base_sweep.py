"""Whether a robot on a driving base keeps clear of everything: its spheres against the boxes around all shapes."""

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
"""Free space to everything on the way."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Which bodies come too near first, and after which ``share`` of the way."""

    pair: BodyPair
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class _Ball:
    """In the frame of the base: ``centers`` (n, 3) and ``radii`` (n,) of one body [m]."""

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
    """Look at base positions ``path`` (n, 3), all other joints as measured.

    Shapes count with the boxes around them, which is never less than they are. What touches already at the start, as
    wheels do the floor, may go on touching.
    """
    assert robot.base is not None
    balls = _balls(robot, world, held)
    names = robot.base.joint_names
    bases = [
        world_T_root @ link_poses(robot, dict(zip(names, row.tolist(), strict=True)))[robot.base.link]
        for row in path
    ]
    obstacles = [n for n in world.objects if n in world.states and n not in ignored and n not in held]
    found: Touch | None = None
    for ball in balls:
        centers = np.array([base.apply(ball.centers) for base in bases])
        for name in obstacles:
            pose = world.states[name].world_T_object
            near = (_gaps(world.objects[name], pose, centers) - ball.radii).min(axis=1)
            index = int(np.argmax(near < CLEARANCE_M))
            if near[0] < CLEARANCE_M or not near[index] < CLEARANCE_M:
                continue
            share = index / max(len(path) - 1, 1)
            if found is None or share < found.share:
                found = Touch(BodyPair(ball.name, name), share)
    return found


def _balls(robot: Robot, world: World, held: Mapping[str, Attachment]) -> list[_Ball]:
    """Of every link, and one around each held object."""
    assert robot.base is not None
    poses = link_poses(robot, world.joints.position)
    base_T_root = poses[robot.base.link].inverse()
    made = [
        _Ball(f"{robot.name}/{s.link}", (base_T_root @ poses[s.link]).apply(s.centers), s.radii)
        for s in robot.spheres
        if len(s.radii)
    ]
    for name, grip in held.items():
        if name in world.objects:
            corners = np.concatenate([shape_box(shape).corners() for shape in world.objects[name].shapes])
            middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
            radius = np.linalg.norm(corners - middle, axis=1).max()
            there = base_T_root @ poses[grip.link] @ grip.link_T_object
            made.append(_Ball(name, there.apply(middle[None, :]), np.array([radius])))
    return made


def _gaps(item: WorldObject, pose: Pose, points: Array) -> Array:
    """Distances (n, m) of points (n, m, 3) to the nearest box of an object; 0 inside [m]."""
    gaps = []
    for shape in item.shapes:
        box = shape_box(shape)
        local = (pose @ box.pose).inverse().apply(points)
        gaps.append(np.linalg.norm(np.maximum(np.abs(local) - box.size / 2.0, 0.0), axis=-1))
    return np.asarray(np.min(gaps, axis=0))
