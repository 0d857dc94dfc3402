"""The cavity of a container: what stays in it when its opening looks up, as sand would.

For each of the six directions along the body's axes, a free cell is held when every way from it to the outside leads
higher than the cell itself, the direction being up. The direction that holds most is that of the opening; the cells
that it holds are the cavity, whose rim is the height over which they would run out. So the space under a table, in a
handle or beside a shoulder is no cavity, and a shelf with a back is one that opens to the front.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.world import WorldObject
from handiwork_core.scene.bounds import hull_points

from .hulls import Hull, Points, hull
from .voxels import PAD, Cells, voxels

LEAST_SHARE = 0.01
"""Share of the box around a body from which what it holds is a cavity, not a dent."""
FULL_SHARE = 0.9
"""Share of its hull from which a body without a cavity counts as convex."""
UPWARDS = ((2, 1.0), (0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0), (2, -1.0))
"""Axis and sign of the directions in which an opening may look; the first of equals is taken."""
KEPT = 64

Levels = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Cavity:
    """The cavity of a container as a field on a grid whose third axis looks out of the opening.

    Attributes:
        walls: Distance to the nearest wall or floor at the middle of each cell, m, less than 0 outside; the columns
            over the opening are inside, (a, b, c).
        rims: Height of the rim in each column along the third axis, m, (a, b).
        frame: Axes of the grid in the container's frame in rows, then the middle of cell (0, 0, 0) along them, then the
            edges of a cell, (5, 3), m.
        depth: Greatest depth below the rim, m.
        opening: Direction out of the opening in the container's frame, (3,).
        own_tilt: Angle of the opening from the container's own z, at most 90 degrees, rad.
    """

    walls: Levels
    rims: Array
    frame: Array
    depth: float
    opening: Array
    own_tilt: float


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """What the inside of a container is.

    Attributes:
        hull: The container's convex hull, which stands for the inside of a container that is convex.
        cavity: The cavity; None: there is none.
        is_convex: True without a cavity, when the body fills its hull.
    """

    hull: Hull
    cavity: Cavity | None
    is_convex: bool


@functools.lru_cache(maxsize=1024)
def inside_of(item: WorldObject) -> Inside:
    """Return the inside of a container; equal geometry is computed once, also for different containers.

    Args:
        item: The container.

    Raises:
        GeometryError: The geometry is flat, tiny or empty.
    """
    outer = hull(item)
    if len(item.shapes) == 1 and item.shapes[0].triangles is None:
        return Inside(outer, None, True)
    cavity, fullness = _built(_Key(item))
    return Inside(outer, cavity, cavity is None and fullness >= FULL_SHARE)


class _Key(Points):
    """A body with the hash of its shapes."""

    __slots__ = ("item",)

    def __init__(self, item: WorldObject) -> None:
        parts: list[NDArray[Any]] = [np.zeros(0)]
        for shape in item.shapes:
            points, triangles = hull_points(shape), shape.triangles
            parts += [np.array([shape.kind, len(points)]), points.ravel()]
            parts += [] if triangles is None else [triangles.ravel()]
        super().__init__(np.concatenate(parts))
        self.item = item


@functools.lru_cache(maxsize=KEPT)
def _built(key: _Key) -> tuple[Cavity | None, float]:
    """Return the cavity, and the share of the hull that the body fills."""
    grid = voxels(key.item)
    found = [_held(_turned(grid.open, axis, sign)) for axis, sign in UPWARDS]
    counts = [int(held.sum()) for held in found]
    best = int(np.argmax(counts))
    if counts[best] < max(1.0, LEAST_SHARE * math.prod(n - 2 * PAD for n in grid.open.shape)):
        return None, grid.fullness
    (axis, sign), held = UPWARDS[best], found[best]
    turn = _axes(axis, sign)
    cell = np.abs(turn) @ grid.cell
    middle = grid.low + 0.5 * grid.cell
    far = grid.low + (np.array(grid.open.shape) - 0.5) * grid.cell
    origin = np.minimum(turn @ middle, turn @ far)
    frame = frozen(np.vstack([turn, origin, cell]))
    return _cavity(_turned(grid.open, axis, sign), held, frame), grid.fullness


def _axes(axis: int, sign: float) -> Array:
    """Return axes of a right-handed grid in rows, the third along the given direction."""
    up = np.zeros(3)
    up[axis] = sign
    first = np.zeros(3)
    first[(axis + 1) % 3] = 1.0
    return np.stack([first, np.cross(up, first), up])


def _turned(cells: Cells, axis: int, sign: float) -> Cells:
    """Return cells along the axes of ``_axes``."""
    found = np.transpose(cells, ((axis + 1) % 3, (axis + 2) % 3, axis))
    # The second axis is the third one crossed with the first: it points back when the third does.
    return found if sign > 0.0 else found[:, ::-1, ::-1]


def _held(open_cells: Cells) -> Cells:
    """Return the cells that hold sand: of each layer, the parts without a way out at or below it."""
    within = np.zeros((3, 3, 3), dtype=bool)
    within[:, 1, 1] = within[1, :, 1] = True
    parts, count = ndimage.label(open_cells, structure=within)
    leads = np.arange(count + 1)

    def root(part: int) -> int:
        while leads[part] != part:
            leads[part] = leads[leads[part]]
            part = int(leads[part])
        return part

    outside, held = int(parts[0, 0, 0]), np.zeros(count + 1, dtype=bool)
    for layer in range(1, parts.shape[2]):
        below, here = parts[:, :, layer - 1], parts[:, :, layer]
        pairs = np.unique(below.astype(np.int64) * (count + 1) + here)
        for a, b in zip(*(side.tolist() for side in divmod(pairs, count + 1)), strict=True):
            if a > 0 and b > 0:
                leads[root(a)] = root(b)
        for part in np.unique(here).tolist():
            held[part] = root(part) != root(outside)
    held[0] = False
    return np.asarray(held[parts])


def _cavity(open_cells: Cells, held: Cells, frame: Array) -> Cavity:
    """Return the field of a cavity, given its cells on the grid that ``frame`` describes."""
    turn, origin, cell = frame[:3], frame[3], frame[4]
    above = np.roll(open_cells & ~held, -1, axis=2)
    mouth = held & above
    mouth[:, :, -1] = False
    inside = held | np.logical_or.accumulate(mouth, axis=2)
    nearest = ndimage.distance_transform_edt(
        ~open_cells, sampling=cell, return_distances=False, return_indices=True
    )
    inside = inside[tuple(nearest)]
    half = 0.5 * float(cell.min())
    within = ndimage.distance_transform_edt(inside, sampling=cell) - half
    beyond = ndimage.distance_transform_edt(~inside, sampling=cell) - half
    top = mouth.shape[2] - 1 - np.argmax(mouth[:, :, ::-1], axis=2)
    has = mouth.any(axis=2)
    near = ndimage.distance_transform_edt(
        ~has, sampling=cell[:2], return_distances=False, return_indices=True
    )
    rims = origin[2] + (top[tuple(near)] + 0.5) * cell[2]
    lowest = origin[2] + (np.flatnonzero(held.any(axis=(0, 1)))[0] - 0.5) * cell[2]
    opening = turn[2]
    return Cavity(
        np.ascontiguousarray(np.where(inside, within, -beyond), dtype=np.float32),
        frozen(rims),
        frame,
        float(rims[has].max() - lowest),
        frozen(opening),
        min(math.acos(float(np.clip(opening[2], -1.0, 1.0))), math.pi / 2),
    )
