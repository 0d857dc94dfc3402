"""Bodies as cells of a grid along their own axes. A cell that a shape overlaps is solid, so thin walls have no gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import hull_points

CELLS = 64
"""Cells along the longest edge of a body's box."""
PAD = 4
"""Free cells around the box."""
HOLE_CELLS = 1.5
"""Radius of the ball that must pass an opening, in cells: a drain, a mesh of wire or a hand hole lets nothing out."""
TOUCH = 1e-6
"""Share of a cell that a shape may reach into it without being in it: the grid ends where flat shapes end."""
STEPS_PER_CELL = 2.0
"""Points of a surface along the edge of a cell."""
MOST_STEPS = 256
MOST_POINTS = 500_000
"""Points that are laid out at once."""
TINY_M = 1e-12

Cells = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Voxels:
    """The cells of a body and those around it.

    Attributes:
        open: The cells that a ball of ``HOLE_CELLS`` reaches from outside, (a, b, c).
        low: Lowest corner of cell (0, 0, 0) in the body's frame, (3,), m.
        cell: Edges of a cell, (3,), m.
        fullness: Share of the body's convex hull that nothing reaches from outside, 0 to 1.
    """

    open: Cells
    low: Array
    cell: Array
    fullness: float


def voxels(item: WorldObject) -> Voxels:
    """Return the cells of a body.

    Args:
        item: The body; its shapes have volume.
    """
    points = np.vstack([hull_points(shape) for shape in item.shapes])
    low, edges = points.min(axis=0), np.ptp(points, axis=0)
    counts = np.clip(np.ceil(edges / (edges.max() / CELLS) - TOUCH), 1, CELLS).astype(int)
    cell = edges / counts
    low = low - PAD * cell
    solid = np.zeros(tuple(counts + 2 * PAD), dtype=bool)
    for shape in item.shapes:
        (_mark_surface if shape.kind is ShapeKind.MESH else _mark_convex)(solid, shape, low, cell)
    reached = _reached(~solid)
    whole = np.zeros_like(solid)
    _mark_points(whole, points, low, cell)
    return Voxels(reached, low, cell, float((whole & ~reached).sum() / max(1, whole.sum())))


def _reached(free: Cells) -> Cells:
    """Return the free cells that a ball covers which comes from outside."""
    passable = ndimage.distance_transform_edt(free) > HOLE_CELLS
    parts, _ = ndimage.label(passable)
    passable = parts == parts[0, 0, 0]
    return np.asarray(free & (ndimage.distance_transform_edt(~passable) <= HOLE_CELLS))


def _mark_convex(solid: Cells, shape: Shape, low: Array, cell: Array) -> None:
    _mark_points(solid, hull_points(shape), low, cell)


def _mark_points(solid: Cells, points: Array, low: Array, cell: Array) -> None:
    """Mark the cells that the hull of points overlaps; a flat hull marks its box."""
    first = np.clip(np.floor((points.min(axis=0) - low) / cell + TOUCH), 0, None).astype(int)
    last = np.ceil((points.max(axis=0) - low) / cell - TOUCH).astype(int)
    last = np.maximum(last, first + 1)
    part = tuple(slice(a, b) for a, b in zip(first, last, strict=True))
    try:
        planes = np.unique(ConvexHull(points).equations.round(9), axis=0)
    except QhullError:
        solid[part] = True
        return
    axes = [low[i] + (np.arange(first[i], last[i]) + 0.5) * cell[i] for i in range(3)]
    inside = np.ones([len(axis) for axis in axes], dtype=bool)
    for *normal, offset in planes.tolist():
        reach = (0.5 - TOUCH) * float(np.abs(normal) @ cell)
        x, y, z = (normal[i] * axes[i] for i in range(3))
        inside &= x[:, None, None] + y[:, None] + z <= reach - offset
    solid[part] |= inside


def _mark_surface(solid: Cells, shape: Shape, low: Array, cell: Array) -> None:
    """Mark the cells that a mesh's surface passes; what it encloses is not reached from outside."""
    assert shape.vertices is not None
    assert shape.triangles is not None
    corners = shape.object_T_shape.apply(shape.vertices)[shape.triangles]
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
    # The longest side first, since points lie in rows along it.
    order = (np.argmax(sides, axis=1)[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(corners, order[:, :, None], axis=1), 1, 0)
    length = sides.max(axis=1)
    width = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(length, TINY_M)
    steps = np.ceil(np.log2(np.clip(STEPS_PER_CELL * np.stack([length, width]) / cell.min(), 1, MOST_STEPS)))
    for kind in np.unique(steps, axis=1).T:
        some = (steps == kind[:, None]).all(axis=0)
        s, t = (np.linspace(0.0, 1.0, int(2**k) + 1) for k in kind)
        along = ((1.0 - t)[:, None] * s)[..., None]
        for i in np.array_split(np.flatnonzero(some), 1 + int(some.sum()) * along.size // MOST_POINTS):
            rows = a[i, None] + t[:, None] * (c - a)[i, None]
            points = rows[:, :, None] + along * (b - a)[i, None, None]
            # A face that lies on the end of the grid belongs to the last cell within.
            at = np.floor((points.reshape(-1, 3) - low) / cell).astype(int)
            solid[tuple(np.clip(at, PAD, np.array(solid.shape) - PAD - 1).T)] = True
