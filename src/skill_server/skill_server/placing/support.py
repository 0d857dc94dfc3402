"""Heights at which a held object rests on what is below it: the container, and what lies on or stands around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import World, WorldObject
from handiwork_core.scene.bounds import hull_points, world_aabb
from skill_server.geometry.vertical_spans import (
    body_triangles,
    moved_triangles,
    vertical_spans,
)

LINES = 9
"""Vertical lines along each side of the object's bounds."""
CARRIED_SHARE = 0.5
"""The part of the object's underside that must have a surface below it."""
EVEN_M = 0.01
"""A surface that is lower than the highest one by less than this carries the object evenly."""
RISE_M = 0.005
"""An object beside a container may be higher than it by this much and still carry the held one there."""
TOUCH_M = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """A held object that is let down at one point.

    Attributes:
        height_m: Height of its origin in the world at which it touches what is below it, m.
        underside_m: Height of its lowest point over its origin, m; below 0.
        is_carried: True when enough of its underside has a surface below it.
        is_even: True when it rests on a level surface of no loose object.
        is_over_container: True when the container itself is below it.
        missing_m: Height of the lowest allowed surface over the next one below, m; inf without one.
    """

    height_m: float
    underside_m: float
    is_carried: bool
    is_even: bool
    is_over_container: bool
    missing_m: float


class Surroundings:
    """The surfaces around a container on which an object may come to rest."""

    def __init__(self, world: World, container: WorldObject, held: str, floor_m: float) -> None:
        """Collect the surfaces.

        Args:
            world: Snapshot with the poses.
            container: The container, or the part of it that is meant.
            held: Name of the object in the hand, which carries nothing.
            floor_m: Height in the world of the lowest surface that may carry the object, m.
        """
        pose = world.states[container.name].world_T_object
        self._container = moved_triangles(body_triangles(container), pose)
        self._top_m = float(world_aabb(container, pose)[1][2])
        self._floor_m = floor_m
        self._others = list[tuple[Array, Array, Array]]()
        for name, body in world.objects.items():
            if name in (held, container.name) or name not in world.states or not body.shapes:
                continue
            surface = moved_triangles(body_triangles(body), world.states[name].world_T_object)
            flat = surface[:, :, :2].reshape(-1, 2)
            self._others.append((surface, flat.min(axis=0), flat.max(axis=0)))

    def rest(self, body: WorldObject, turn: Rotation, at: Array) -> Rest:
        """Let an object down at a point.

        Args:
            body: Object in the hand. Its shapes count by their convex hulls.
            turn: Its orientation in the world.
            at: Where its origin comes down, x and y in the world, (2,), m.

        Returns:
            How it comes to rest.
        """
        pose = Pose.of((at[0], at[1], 0.0), turn)
        points, n_lattice = underside_lines(body, pose)
        own = moved_triangles(body_triangles(body, as_hulls=True), pose)
        under, over = vertical_spans(own, points)
        meets = np.isfinite(under)
        is_lattice = (np.arange(len(points)) < n_lattice)[meets]
        points, under, over = points[meets], under[meets], over[meets]
        below = vertical_spans(self._container, points)[1]
        others = [vertical_spans(one, points) for one in self._near(points)]
        is_over = bool(np.isfinite(below).any())
        if not is_over:
            below = _highest(
                [np.where(high <= self._top_m + RISE_M, high, -np.inf) for _, high in others], below
            )
        height = float(np.max(below - under, initial=-np.inf))
        raised = _raised(height, under, over, others)
        beside = [np.where(high <= under + raised + TOUCH_M, high, -np.inf) for _, high in others]
        carrier = _highest(beside, below)
        share = float(np.mean((carrier >= self._floor_m)[is_lattice]))
        even = float(np.mean((carrier - under >= raised - EVEN_M)[is_lattice]))
        return Rest(
            raised,
            float(world_aabb(body, pose)[0][2]),
            share >= CARRIED_SHARE,
            even >= CARRIED_SHARE and raised == height,
            is_over,
            self._floor_m - float(carrier.max(initial=-np.inf)),
        )

    def _near(self, points: Array) -> Iterator[Array]:
        """Yield the surfaces of the other bodies whose bounds reach between the lines."""
        least, most = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)
        for triangles, low, high in self._others:
            if (high >= least).all() and (low <= most).all():
                yield triangles


def underside_lines(body: WorldObject, pose: Pose) -> tuple[Array, int]:
    """Return points on a lattice over the bounds of a body, then below its lowest ones, and the number of the first.

    Args:
        body: The body.
        pose: Its pose in the world.

    Returns:
        Points, x and y in the world, (n, 2), m; and how many of them are on the lattice.
    """
    low, high = world_aabb(body, pose)
    middle, half = (low + high)[:2] / 2.0, (high - low)[:2] / 2.0
    steps = np.linspace(-1.0, 1.0, LINES) * (1.0 - 1e-6)
    lattice = middle + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) * half
    corners = [pose.apply(hull_points(shape)) for shape in body.shapes]
    lowest = np.array([points[np.argmin(points[:, 2]), :2] for points in corners])
    # Slightly inwards, so that rounding does not put a corner's line beside the body.
    return np.concatenate([lattice, middle + (lowest - middle) * (1.0 - 1e-6)]), len(lattice)


def _highest(heights: list[Array], least: Array) -> Array:
    return np.asarray(np.max([least, *heights], axis=0))


def _raised(height: float, under: Array, over: Array, others: list[tuple[Array, Array]]) -> float:
    """Return the height of the origin at which no other body is in the object, at or over a height."""
    if not np.isfinite(height):
        return height
    for _ in range(len(others) + 1):
        before = height
        for low, high in others:
            inside = (high > under + height + TOUCH_M) & (low < over + height)
            height = max(height, float(np.max((high - under)[inside], initial=-np.inf)))
        if height == before:
            break
    return height
