"""The inner loop over the points of an object in a cavity, for one world or for many; see ``cavities.Cavity``."""

from __future__ import annotations

import math

import numba
import numpy as np

from conditionals_node.spaces.cavities import Levels
from handiwork_core.model.geometry import Array

from .kernels import F8, OUT1, V1, V2, V3, compiled, turned

FIELD = numba.types.Array(numba.float32, 3, "C", readonly=True)


@numba.njit(inline="always")
def _along(frame: Array, row: int, x: float, y: float, z: float) -> float:
    return frame[row, 0] * x + frame[row, 1] * y + frame[row, 2] * z


@numba.njit
def _cell(at: float, count: int) -> tuple[int, float]:
    """Return the cell before a place between the middles of cells, and the share of the next one."""
    first = min(max(math.floor(at), 0), max(count - 2, 0))
    return first, min(max(at - first, 0.0), 1.0)


@numba.njit
def _within_walls(walls: Levels, frame: Array, a: float, b: float, c: float) -> float:
    """Return the distance of a point, along the grid's axes, to the nearest wall; less than 0 outside."""
    u, v, w = (
        (a - frame[3, 0]) / frame[4, 0],
        (b - frame[3, 1]) / frame[4, 1],
        (c - frame[3, 2]) / frame[4, 2],
    )
    i, r = _cell(u, walls.shape[0])
    j, s = _cell(v, walls.shape[1])
    k, t = _cell(w, walls.shape[2])
    near = (1.0 - s) * ((1.0 - t) * walls[i, j, k] + t * walls[i, j, k + 1]) + s * (
        (1.0 - t) * walls[i, j + 1, k] + t * walls[i, j + 1, k + 1]
    )
    far = (1.0 - s) * ((1.0 - t) * walls[i + 1, j, k] + t * walls[i + 1, j, k + 1]) + s * (
        (1.0 - t) * walls[i + 1, j + 1, k] + t * walls[i + 1, j + 1, k + 1]
    )
    # Beyond the grid, which ends some cells outside of the body, the distance grows; not so over the opening.
    x = (u - i - r) * frame[4, 0]
    y = (v - j - s) * frame[4, 1]
    z = min(w - k - t, 0.0) * frame[4, 2]
    return (1.0 - r) * near + r * far - math.sqrt(x * x + y * y + z * z)


@numba.njit
def _decide(
    walls: Levels, rims: Array, frame: Array, points: Array, q_o: Array, p_o: Array, size_o: float,
    q_c: Array, p_c: Array, size_c: float, share: float, depth: float, above: float, depths: Array,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return what ``depth_in_cavity`` does; ``depths`` is scratch space."""
    n, low, high = points.shape[0], math.inf, -math.inf
    inside = 0
    for m in range(n):
        x, y, z = turned(q_o, size_o * points[m, 0], size_o * points[m, 1], size_o * points[m, 2], 1.0)
        x, y, z = turned(q_c, x + p_o[0] - p_c[0], y + p_o[1] - p_c[1], z + p_o[2] - p_c[2], -1.0)
        x, y, z = x / size_c, y / size_c, z / size_c
        a, b, c = _along(frame, 0, x, y, z), _along(frame, 1, x, y, z), _along(frame, 2, x, y, z)
        low, high = min(low, c), max(high, c)
        i, _ = _cell((a - frame[3, 0]) / frame[4, 0] + 0.5, rims.shape[0] + 1)
        j, _ = _cell((b - frame[3, 1]) / frame[4, 1] + 0.5, rims.shape[1] + 1)
        lid = (rims[i, j] - c) * size_c + above
        wall = _within_walls(walls, frame, a, b, c) * size_c
        found = min(wall, lid)
        inside += 1 if found >= 0.0 else 0
        # Sorted from the deepest, and marked by whether the rim is nearest.
        k = m
        while k > 0 and depths[k - 1, 0] < found:
            depths[k, 0], depths[k, 1] = depths[k - 1, 0], depths[k - 1, 1]
            k -= 1
        depths[k, 0], depths[k, 1] = found, 1.0 if lid < wall else 0.0
    # The outermost points are half of a point's share from the ends.
    length = (high - low) * n / max(n - 1, 1)
    needed = share * min(1.0, depth / max(length, 1e-9))
    first, next_share = _cell(needed * n - 0.5, n)
    found = (1.0 - next_share) * depths[first, 0] + next_share * depths[first + 1, 0]
    return found, inside / n, needed, depths[first, 1]


@numba.njit(inline="always")
def _tilt(frame: Array, q_c: Array) -> float:
    _, _, z = turned(q_c, frame[2, 0], frame[2, 1], frame[2, 2], 1.0)
    return math.acos(min(max(z, -1.0), 1.0))


@compiled(numba.types.UniTuple(F8, 5)(FIELD, V2, V2, V2, V1, V1, V1, V1, F8, F8, F8))
def depth_in_cavity(
    walls: Levels, rims: Array, frame: Array, points: Array, q_o: Array, p_o: Array,
    q_c: Array, p_c: Array, share: float, depth: float, above: float,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Return how deep an object is in a cavity.

    Args:
        walls: See ``Cavity``, (a, b, c), m.
        rims: See ``Cavity``, (a, b), m.
        frame: See ``Cavity``, (5, 3).
        points: Points of the object in its frame, (n, 3), m.
        q_o: Orientation of the object in world, (4,).
        p_o: Position of the object in world, (3,), m.
        q_c: Orientation of the container in world, (4,).
        p_c: Position of the container in world, (3,), m.
        share: Share of the points that is needed.
        depth: Depth of the cavity, m; of an object that reaches farther along the opening only this much counts.
        above: Height over the rim that still counts, m.

    Returns:
        The depth at which the needed share of the points is reached, deepest first, m; the share of the points that are
        inside; the share that is needed; 1 where the rim is nearer to that point than a wall; the angle of the opening
        from straight up, rad.
    """
    scratch = np.empty((points.shape[0], 2))
    found = _decide(walls, rims, frame, points, q_o, p_o, 1.0, q_c, p_c, 1.0, share, depth, above, scratch)
    return found[0], found[1], found[2], found[3], _tilt(frame, q_c)


@compiled(numba.void(FIELD, V2, V2, V3, V1, V2, V2, V1, V2, V2, F8, F8, F8, OUT1, OUT1, OUT1, OUT1))
def depths_in_cavity(
    walls: Levels, rims: Array, frame: Array, points: Array, size_o: Array, q_o: Array, p_o: Array,
    size_c: Array, q_c: Array, p_c: Array, share: float, depth: float, above: float,
    depths: Array, shares: Array, needed: Array, tilts: Array,
) -> None:  # fmt: skip
    """Write ``depth_in_cavity`` for many worlds.

    Args:
        walls: See ``Cavity``, (a, b, c), m.
        rims: See ``Cavity``, (a, b), m.
        frame: See ``Cavity``, (5, 3).
        points: Points of the object in its frame at size 1, (1, k, 3), or of one object for each world, (n, k, 3), m.
        size_o: Sizes of the object, (n,).
        q_o: Orientations of the object in world, (n, 4).
        p_o: Positions of the object in world, (n, 3), m.
        size_c: Sizes of the container, (n,).
        q_c: Orientations of the container in world, (n, 4).
        p_c: Positions of the container in world, (n, 3), m.
        share: Share of the points that is needed.
        depth: Depth of the cavity at size 1, m.
        above: Height over the rim that still counts, m; it does not grow with the container.
        depths: Output, (n,), m; nan where a pose is nan.
        shares: Output, shares of the points that are inside, (n,).
        needed: Output, shares that are needed, (n,).
        tilts: Output, angles of the opening from straight up, (n,), rad.
    """
    scratch = np.empty((points.shape[1], 2))
    for i in range(depths.shape[0]):
        total = np.sum(q_o[i]) + np.sum(p_o[i]) + np.sum(q_c[i]) + np.sum(p_c[i])
        if total - total != 0.0:
            depths[i] = shares[i] = needed[i] = tilts[i] = math.nan
            continue
        found = _decide(
            walls, rims, frame, points[min(i, points.shape[0] - 1)], q_o[i], p_o[i], size_o[i],
            q_c[i], p_c[i], size_c[i], share, depth, above, scratch,
        )  # fmt: skip
        depths[i], shares[i], needed[i] = found[0], found[1], found[2]
        tilts[i] = _tilt(frame, q_c[i])
