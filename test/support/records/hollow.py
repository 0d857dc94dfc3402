"""Bodies with hollows: boxes with walls, bodies of revolution, furniture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.mesh import closed_mesh

from .pictured import solid

STEPS = 36
BOX = ShapeKind.BOX


def open_box(name: str, inner: Sequence[float], wall: float = 0.01) -> WorldObject:
    """Return a box of five panels whose floor stands at z = 0."""
    x, y, z = inner
    high = z + wall
    return WorldObject(
        name,
        (
            solid(BOX, (x + 2 * wall, y + 2 * wall, wall), (0.0, 0.0, wall / 2)),
            *[solid(BOX, (wall, y + 2 * wall, high), (s * (x + wall) / 2, 0.0, high / 2)) for s in (-1, 1)],
            *[solid(BOX, (x, wall, high), (0.0, s * (y + wall) / 2, high / 2)) for s in (-1, 1)],
        ),
    )


def revolved(profile: Sequence[tuple[float, float]]) -> Shape:
    """Return a mesh: a closed outline of (radius, z) turned about z."""
    ring = np.arange(STEPS) * (2.0 * np.pi / STEPS)
    points = np.array([(r * np.cos(a), r * np.sin(a), z) for a in ring for r, z in profile])
    n, triangles = len(profile), []
    for i in range(STEPS):
        for k in range(n):
            a, b = i * n + k, i * n + (k + 1) % n
            c, d = (a + n) % len(points), ((i + 1) % STEPS) * n + (k + 1) % n
            triangles += [(a, c, b), (b, c, d)]
    return Shape(ShapeKind.MESH, frozen(()), Pose.identity(), *closed_mesh(points.round(12), triangles))


def bowl(name: str, radius: float, height: float, wall: float = 0.004) -> WorldObject:
    """Return a bowl with sloping sides: half as wide at its floor."""
    half = radius / 2
    outline = [
        (0.0, 0.0),
        (half, 0.0),
        (radius, height),
        (radius - wall, height),
        (half - wall, wall),
        (0.0, wall),
    ]
    return WorldObject(name, (revolved(outline),))


def mug() -> WorldObject:
    """Return a mug of radius 0.04 and height 0.1 whose handle is a frame at its +x side."""
    cup = revolved([(0.0, 0.0), (0.04, 0.0), (0.04, 0.1), (0.036, 0.1), (0.036, 0.004), (0.0, 0.004)])
    handle = [
        solid(BOX, (0.04, 0.008, 0.008), (0.058, 0.0, 0.02)),
        solid(BOX, (0.04, 0.008, 0.008), (0.058, 0.0, 0.08)),
        solid(BOX, (0.008, 0.008, 0.068), (0.078, 0.0, 0.05)),
    ]
    return WorldObject("mug", (cup, *handle))


def pan() -> WorldObject:
    """Return a pan of radius 0.13 and depth 0.05 with a handle that rises outwards to z = 0.12 at x = 0.33."""
    dish = revolved([(0.0, 0.0), (0.13, 0.0), (0.13, 0.05), (0.126, 0.05), (0.126, 0.004), (0.0, 0.004)])
    turn = Rotation.from_rpy(0.0, -np.arctan2(0.08, 0.2), 0.0)
    handle = Shape(BOX, frozen((0.22, 0.02, 0.012)), Pose.of((0.23, 0.0, 0.08), turn))
    return WorldObject("pan", (dish, handle))


def basket() -> WorldObject:
    """Return a basket whose mouth is narrower than it is: a shoulder slopes down and out around it."""
    outer = [(0.0, 0.0), (0.2, 0.0), (0.2, 0.15), (0.1, 0.2)]
    inner = [(0.094, 0.198), (0.194, 0.147), (0.194, 0.006), (0.0, 0.006)]
    return WorldObject("basket", (revolved([*outer, *inner]),))


def legged(name: str = "bench") -> WorldObject:
    """Return a table whose top is at z = 0.73, with four legs and an apron under the top."""
    legs = [solid(BOX, (0.05, 0.05, 0.7), (x, y, 0.35)) for x in (-0.55, 0.55) for y in (-0.25, 0.25)]
    apron = [solid(BOX, (1.1, 0.02, 0.08), (0.0, y, 0.66)) for y in (-0.25, 0.25)]
    sides = [solid(BOX, (0.02, 0.5, 0.08), (x, 0.0, 0.66)) for x in (-0.55, 0.55)]
    return WorldObject(name, (solid(BOX, (1.2, 0.6, 0.03), (0.0, 0.0, 0.715)), *legs, *apron, *sides))


def shelf() -> WorldObject:
    """Return a shelf with a back, which opens to -y: two compartments of 0.76 x 0.29 x 0.47 m."""
    levels = [solid(BOX, (0.8, 0.3, 0.02), (0.0, 0.0, z)) for z in (0.01, 0.5, 0.99)]
    sides = [solid(BOX, (0.02, 0.3, 1.0), (x, 0.0, 0.5)) for x in (-0.39, 0.39)]
    return WorldObject("shelf", (*levels, *sides, solid(BOX, (0.8, 0.01, 1.0), (0.0, 0.145, 0.5))))


def points_of_box(size: Sequence[float]) -> Array:
    """Return the corners of a box."""
    return np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * np.array(
        size
    )
