"""Placements of an object on supports: stable orientations at free spots, turned about the vertical."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import World
from handiwork_core.scene.bounds import hull_points, world_aabb
from skill_server.geometry.vertical_spans import body_triangles, moved_triangles, vertical_spans
from skill_server.placing.support import Surroundings

from .stable_placements import StablePlacement

SPOTS, TURNS = 6, 4
"""The number of spots for each orientation, and of turns about the vertical at each of them."""
DRAWN = 40
"""Points that are drawn for the spots of one orientation."""
EDGE_M = 0.01
"""An object keeps this distance from the edge of what it is put down on."""
FLAT_M = 0.003
"""A support is level where its surface differs by less than this, m."""
NEARER, FARTHER = 0.6, 1.1
"""Spots are between these shares of the distances of object and container from the arm's base."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """One placement of the object; also its present one.

    Attributes:
        pose: world_T_object, at rest.
        support: Name of what it rests on; empty for the present placement.
        face: Index of the stable orientation; -1 for the present placement.
    """

    pose: Pose
    support: str = ""
    face: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """The placements, and how many points were not free.

    Attributes:
        placements: The placements; orientations take turns.
        taken: Number of points that were drawn and could not be used.
    """

    placements: tuple[Spot, ...]
    taken: int


def free_spots(
    world: World,
    name: str,
    supports: Sequence[str],
    faces: Sequence[StablePlacement],
    near: tuple[Array, ...],
    base: Array,
    rng: np.random.Generator,
) -> Spots:
    """Draw free spots on supports for each stable orientation.

    Args:
        world: Snapshot of the world.
        name: The object.
        supports: What it may be put down on.
        faces: Its stable orientations.
        near: Points that the arm reaches, such as those of the object and of the container, (3,) each in the world, m.
        base: Position of the arm's base in the world, (3,), m.
        rng: Source of the points.

    Returns:
        The placements, at most ``SPOTS`` times ``TURNS`` for each orientation.
    """
    far = [float(np.linalg.norm((point - base)[:2])) for point in near]
    ring = NEARER * min(far), FARTHER * max(far)
    found, taken = list[list[Spot]](), 0
    for index, face in enumerate(faces):
        made, lost = _of_face(world, name, supports, index, face, ring, base, rng)
        found.append(made)
        taken += lost
    in_turn = (spot for row in zip_longest(*found) for spot in row if spot is not None)
    return Spots(tuple(in_turn), taken)


def _of_face(
    world: World,
    name: str,
    supports: Sequence[str],
    index: int,
    face: StablePlacement,
    ring: tuple[float, float],
    base: Array,
    rng: np.random.Generator,
) -> tuple[list[Spot], int]:
    """Return the placements in one orientation, and the number of points that were of no use."""
    around = {one: _surroundings(world, one, name) for one in supports}
    spots, taken = list[list[Spot]](), 0
    for i in range(DRAWN if supports else 0):
        if len(spots) >= SPOTS:
            break
        on, first = supports[i % len(supports)], float(rng.uniform(0.0, 2.0 * math.pi / TURNS))
        at = _point(world, on, ring, base, rng)
        turns = (first + k * 2.0 * math.pi / TURNS for k in range(TURNS))
        poses = (
            [] if at is None else [_at_rest(world, name, on, around[on], face, at, turn) for turn in turns]
        )
        free = [Spot(pose, on, index) for pose in poses if pose is not None]
        taken += not free
        if free:
            spots.append(free)
    # The turns of one spot come far apart: a spot that is out of reach in one turn is so in most.
    return [spot for row in zip_longest(*spots) for spot in row if spot is not None], taken


def _at_rest(
    world: World,
    name: str,
    on: str,
    around: Surroundings,
    face: StablePlacement,
    at: Array,
    turn_rad: float,
) -> Pose | None:
    """Return the pose in which the object rests at a point (2,); None where the point is not free."""
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), turn_rad) @ face.rotation
    rest = around.rest(world.objects[name], turn, at)
    if not (rest.is_carried and rest.is_even and rest.is_over_container):
        return None
    pose = Pose.of((*at, rest.height_m), turn)
    return pose if _is_on(world, name, on, pose) else None


def _surroundings(world: World, support: str, name: str) -> Surroundings:
    low, _ = world_aabb(world.objects[support], world.states[support].world_T_object)
    return Surroundings(world, world.objects[support], name, float(low[2]))


def _point(
    world: World, support: str, ring: tuple[float, float], base: Array, rng: np.random.Generator
) -> Array | None:
    """Draw a point (2,) over a support at the distances that the arm reaches; None where none was found."""
    low, high = world_aabb(world.objects[support], world.states[support].world_T_object)
    low, high = np.maximum(low[:2], base[:2] - ring[1]), np.minimum(high[:2], base[:2] + ring[1])
    if (low >= high).any():
        return None
    points = rng.uniform(low, high, (32, 2))
    distance = np.linalg.norm(points - base[:2], axis=1)
    good = points[(distance >= ring[0]) & (distance <= ring[1])]
    return np.asarray(good[0]) if len(good) else None


def _is_on(world: World, name: str, support: str, pose: Pose) -> bool:
    """Return True when the object is inside of the edges of a support, and the support is below its whole foot."""
    low, high = world_aabb(world.objects[name], pose)
    least, most = world_aabb(world.objects[support], world.states[support].world_T_object)
    if (low[:2] < least[:2] + EDGE_M).any() or (high[:2] > most[:2] - EDGE_M).any():
        return False
    # The bounds of a support that is round or turned are larger than it is.
    points = np.concatenate([pose.apply(hull_points(shape)) for shape in world.objects[name].shapes])
    foot = points[points[:, 2] < low[2] + FLAT_M, :2]
    out = foot - (foot.min(axis=0) + foot.max(axis=0)) / 2.0
    wider = foot + EDGE_M * out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), FLAT_M)
    surface = moved_triangles(body_triangles(world.objects[support]), world.states[support].world_T_object)
    return bool((np.abs(vertical_spans(surface, wider)[1] - low[2]) < FLAT_M).all())
