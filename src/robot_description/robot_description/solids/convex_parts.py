"""Cuts meshes into convex parts: simulators take the hull of each mesh, which fills the space between two jaws.

A part is the hull of the triangles on one side of some planes. Hulls of what lies on both sides of a plane cover the
mesh together, so that parts cover it whatever the cuts are; they are chosen so that the hulls stick out little.
Own method.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices

from .convex_hulls import Part, hull_of, simplified
from .mesh_solid import MeshSolid, surface_points

CONCAVITY = 0.1
"""Length by which a part may stick out of the mesh, in half widths of the mesh."""
MOST = 24
"""Largest number of parts before neighbours are joined: a hollow finger would be cut without end."""
PLANES = 11
"""Number of planes along each axis that a piece may be cut at."""
SAMPLES = 100
"""Number of samples of the mesh along its widest side, and of cells of the mesh at which cuts are chosen."""

_Group = tuple[Part, tuple[Array, ...]]
"""A hull, and the triangles (m, 3, 3) of the pieces in it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """What lies on one side of some planes.

    Attributes:
        corners: Triangles of the mesh, (m, 3, 3), m.
        coarse: The same of the mesh with fewer triangles, at which cuts are chosen, (k, 3, 3), m.
        hull: Hull of the coarse triangles.
        out_m: Length by which that sticks out of the mesh, m.
    """

    corners: Array
    coarse: Array
    hull: Part
    out_m: float


def convex_parts(vertices: Array, triangles: Indices) -> list[Part]:
    """Cut a mesh into convex parts that cover it; the same mesh always gives the same parts.

    Args:
        vertices: Vertices, (n, 3), m.
        triangles: Indices of the corners, (m, 3); the surface need not be closed.

    Returns:
        The parts; one where the mesh is convex within ``CONCAVITY``.

    Raises:
        ValueError: The mesh is flat.
    """
    points = np.asarray(vertices, dtype=np.float64)
    turn = _aligned(points)
    corners = (points @ turn)[triangles]
    width_m = float(np.ptp(corners.reshape(-1, 3), axis=0).max())
    solid = MeshSolid.of(points @ turn, triangles, width_m / SAMPLES)
    allowed_m = 0.5 * CONCAVITY * width_m
    pieces = _cut(corners, solid, width_m / SAMPLES, allowed_m)
    whole = _joined([(piece.hull, (piece.corners,)) for piece in pieces], solid, allowed_m)
    hulls = [simplified(hull_of(np.concatenate(parts).reshape(-1, 3))) for _, parts in whole]
    return [(hull[0] @ turn.T, hull[1]) for hull in hulls]


def write_stl(path: Path, part: Part) -> None:
    """Write a part as a binary STL file.

    Args:
        path: The file.
        part: The part.

    Raises:
        OSError: The file cannot be written.
    """
    corners = np.asarray(part[0], dtype="<f4")[part[1]]
    rows = np.zeros(len(corners), dtype=np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
    rows["v"] = corners
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(rows)) + rows.tobytes())


def _aligned(points: Array) -> Array:
    """Return the turn (3, 3) of points to their own axes or to the principal ones: where their box is smaller."""
    _, axes = np.linalg.eigh(np.cov(points.T))
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    boxes = [float(np.ptp(points @ turn, axis=0).prod()) for turn in (np.eye(3), axes)]
    return np.eye(3) if boxes[0] <= 1.05 * boxes[1] else axes


def _cut(corners: Array, solid: MeshSolid, cell_m: float, allowed_m: float) -> list[_Piece]:
    """Cut what sticks out the farthest in two, again and again, until nothing sticks out farther than allowed."""
    coarse = _coarse(corners, cell_m)
    if (
        np.ptp(coarse.reshape(-1, 3), axis=0).min(initial=np.inf) < cell_m
    ):  # a thin plate: cells would flatten it
        coarse = corners
    pieces = [_piece(corners, coarse, solid, allowed_m)]
    while len(pieces) < MOST:
        worst = max(pieces, key=lambda piece: piece.out_m)
        if worst.out_m <= allowed_m:
            break
        pieces.remove(worst)
        best = _best_cut(worst.coarse)
        if best is None:  # no plane has a solid on both sides
            pieces.append(replace(worst, out_m=0.0))
            continue
        for sign in (1.0, -1.0):
            exact, coarse = (_side(each, *best, sign) for each in (worst.corners, worst.coarse))
            pieces.append(_piece(exact, coarse, solid, allowed_m))
    return pieces


def _piece(corners: Array, coarse: Array, solid: MeshSolid, allowed_m: float) -> _Piece:
    hull = hull_of(coarse.reshape(-1, 3))
    return _Piece(corners, coarse, hull, _sticking_out(solid, hull, allowed_m))


def _coarse(corners: Array, cell_m: float) -> Array:
    """Return fewer triangles: the corners in each cell become one, and triangles without an area are dropped."""
    flat = corners.reshape(-1, 3)
    cells = np.unique((flat / cell_m).round(), axis=0, return_index=True, return_inverse=True)
    ids = cells[2].reshape(-1, 3)
    wide = (ids[:, 0] != ids[:, 1]) & (ids[:, 1] != ids[:, 2]) & (ids[:, 2] != ids[:, 0])
    return np.asarray(flat[cells[1]][np.unique(np.sort(ids[wide], axis=1), axis=0)])


def _sticking_out(solid: MeshSolid, hull: Part, allowed_m: float) -> float:
    """Return the largest distance of the surface of a hull from the solid, m; the first that is too large suffices."""
    faces = hull[0][hull[1]]
    first = float(solid.distance(faces.mean(axis=1)).max())
    if first > allowed_m:
        return first
    return float(solid.distance(surface_points(faces, 0.5 * allowed_m)).max())


def _best_cut(corners: Array) -> tuple[int, float] | None:
    """Return the axis and the place of the plane, m, that has hulls of the least volume on its sides; None for none."""
    points = corners.reshape(-1, 3)
    best: tuple[float, int, float] | None = None
    for axis in range(3):
        low, high = points[:, axis].min(), points[:, axis].max()
        planes = np.linspace(low, high, PLANES + 2)[1:-1]
        slabs = list(_slabs(corners, axis, planes))
        left = [_volume(np.concatenate(slabs[: i + 1])) for i in range(PLANES)]
        right = [_volume(np.concatenate(slabs[i + 1 :])) for i in range(PLANES)]
        for plane, volume in zip(planes, np.add(left, right), strict=True):
            if np.isfinite(volume) and (best is None or volume < best[0]):
                best = float(volume), axis, float(plane)
    return None if best is None else best[1:]


def _slabs(corners: Array, axis: int, planes: Array) -> Iterator[Array]:
    """Yield the points between neighbouring planes that count for hulls, those on the planes included."""
    starts, ends = corners.reshape(-1, 3), np.roll(corners, -1, axis=1).reshape(-1, 3)
    a, b = starts[:, axis], ends[:, axis]
    cuts = []
    for plane in planes:
        rows = np.flatnonzero((a < plane) != (b < plane))
        share = (plane - a[rows]) / (b[rows] - a[rows])
        cuts.append(starts[rows] + share[:, None] * (ends[rows] - starts[rows]))
    which = np.searchsorted(planes, a)
    for i in range(len(planes) + 1):
        found = np.concatenate([starts[which == i], *cuts[max(0, i - 1) : i + 1]])
        try:
            yield found[ConvexHull(found).vertices]
        except (QhullError, ValueError):
            yield found


def _volume(points: Array) -> float:
    try:
        return float(ConvexHull(points).volume)
    except (QhullError, ValueError):
        return np.inf


def _side(corners: Array, axis: int, plane: float, sign: float) -> Array:
    """Return the triangles (k, 3, 3) where ``sign`` times the coordinate is below that of the plane, cut there."""
    off = sign * (corners[:, :, axis] - plane)
    below = off <= 0.0
    count = below.sum(axis=1)
    found = [corners[count == 3]]
    for number in (1, 2):
        rows = np.flatnonzero(count == number)
        # The corner that is alone on its side comes first.
        alone = np.argmax(below[rows] if number == 1 else ~below[rows], axis=1)
        turned = (alone[:, None] + np.arange(3)) % 3
        p = np.take_along_axis(corners[rows], turned[:, :, None], axis=1)
        t = np.take_along_axis(off[rows], turned, axis=1)
        cut = [p[:, 0] + (t[:, 0] / (t[:, 0] - t[:, k]))[:, None] * (p[:, k] - p[:, 0]) for k in (1, 2)]
        if number == 1:
            found.append(np.stack([p[:, 0], *cut], axis=1))
        else:
            found.append(np.stack([cut[0], p[:, 1], p[:, 2]], axis=1))
            found.append(np.stack([cut[0], p[:, 2], cut[1]], axis=1))
    return np.concatenate(found)


def _joined(groups: list[_Group], solid: MeshSolid, allowed_m: float) -> list[_Group]:
    """Join groups whose common hull sticks out no further than allowed, those that gain the least volume first."""
    left = dict(enumerate(groups))
    joints = dict[tuple[int, int], tuple[float, Part]]()
    new = list(left)
    while new:
        for i, j in combinations(left, 2):
            if i in new or j in new:
                joint = _join(left[i][0], left[j][0], solid, allowed_m)
                if joint is not None:
                    joints[i, j] = joint
        joints = {pair: joint for pair, joint in joints.items() if left.keys() >= set(pair)}
        if not joints:
            break
        i, j = min(joints, key=lambda pair: (joints[pair][0], pair))
        new = [max(left) + 1]
        left[new[0]] = (joints[i, j][1], (*left.pop(i)[1], *left.pop(j)[1]))
    return list(left.values())


def _join(a: Part, b: Part, solid: MeshSolid, allowed_m: float) -> tuple[float, Part] | None:
    """Return the added volume, m^3, and the common hull of two; None if they are apart or it sticks out too far."""
    (low_a, high_a), (low_b, high_b) = ((hull[0].min(axis=0), hull[0].max(axis=0)) for hull in (a, b))
    if (np.maximum(low_a, low_b) > np.minimum(high_a, high_b) + 1e-6).any():
        return None
    hull = hull_of(np.concatenate([a[0], b[0]]))
    if _sticking_out(solid, hull, allowed_m) > allowed_m:
        return None
    return _volume(hull[0]) - _volume(a[0]) - _volume(b[0]), hull
