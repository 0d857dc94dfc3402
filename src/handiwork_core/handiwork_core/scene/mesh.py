"""Triangle meshes that close a solid: simple faults are repaired, the others are refused with an error."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.world import Indices

SMALLEST_M3 = 1e-12
"""Least volume of a solid, m^3."""


def closed_mesh(vertices: ArrayLike, triangles: ArrayLike) -> tuple[Array, Indices]:
    """Return the mesh of a solid.

    Vertices that coincide are merged, triangles with two equal corners are left out, and triangles with the wrong
    orientation are turned round.

    Args:
        vertices: Vertices, (n, 3), m.
        triangles: Indices of the corners, (m, 3).

    Returns:
        Vertices, (n, 3), m, and triangles, (m, 3), counter-clockwise from outside; both read-only.

    Raises:
        ValueError: The mesh has numbers that are not finite, an index out of range, edges that do not have exactly two
            triangles, a surface with one side only, or no volume.
    """
    points, corners = _checked(np.asarray(vertices, dtype=np.float64), np.asarray(triangles))
    points, merged = np.unique(points, axis=0, return_inverse=True)
    corners = merged.reshape(-1)[corners]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    used, corners = np.unique(corners, return_inverse=True)
    points, corners = points[used], corners.reshape(-1, 3)
    corners = _turned_alike(corners, *_neighbours(points, corners))
    volume = signed_volume(points, corners)
    if abs(volume) < SMALLEST_M3:
        raise ValueError(f"encloses {abs(volume):.1e} m^3; give it a volume")
    if volume < 0.0:
        corners = corners[:, ::-1]
    out = np.array(corners, dtype=np.int64)
    out.setflags(write=False)
    return frozen(points), out


def signed_volume(vertices: Array, triangles: Indices) -> float:
    """Return the enclosed volume: the sum of the tetrahedra to the middle.

    Args:
        vertices: Vertices, (n, 3), m.
        triangles: Indices of the corners, (m, 3).

    Returns:
        Volume, m^3, positive if triangles are counter-clockwise from outside.
    """
    a, b, c = np.moveaxis(vertices[triangles] - vertices.mean(axis=0), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def _checked(points: Array, corners: Indices) -> tuple[Array, Indices]:
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"has vertices of shape {points.shape}, or some not finite; give x y z of each")
    if corners.ndim != 2 or corners.shape[1] != 3 or len(corners) < 4:
        raise ValueError(
            f"has triangles of shape {corners.shape}; give three vertices each, at least four of them"
        )
    wrong = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"triangle {row} is {corners[row].tolist()}, but there are {len(points)} vertices from 0 on"
        )
    return points, corners.astype(np.int64)


def _neighbours(points: Array, corners: Indices) -> tuple[Indices, Indices]:
    """Return the triangle beyond each edge 01, 12, 20, (m, 3), and 1 where both run the edge in the same direction."""
    edges = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2)
    keys = np.sort(edges, axis=1)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    ranked = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(ranked, axis=0) != 0).any(axis=1)]))
    counts = np.diff(np.concatenate([starts, [len(ranked)]]))
    bad = np.flatnonzero(counts != 2)
    if len(bad):
        edge = ranked[starts[bad[0]]]
        ends = " to ".join(str(np.round(points[i], 4).tolist()) for i in edge)
        raise ValueError(
            f"has {len(bad)} edges with one triangle or more than two, the first from {ends}; "
            "close it, or load it as its convex hull"
        )
    one, two = order[0::2], order[1::2]
    beyond, alike = np.empty(len(edges), dtype=np.int64), np.empty(len(edges), dtype=np.int64)
    beyond[one], beyond[two] = two // 3, one // 3
    rising = edges[:, 0] < edges[:, 1]
    alike[one] = alike[two] = rising[one] == rising[two]
    return beyond.reshape(-1, 3), alike.reshape(-1, 3)


def _turned_alike(corners: Indices, beyond: Indices, alike: Indices) -> Indices:
    """Return triangles turned so that each edge is run through once in each direction, part by part."""
    if not alike.any():
        return corners
    turned = np.full(len(corners), -1)
    for first in range(len(corners)):
        if turned[first] >= 0:
            continue
        turned[first], waiting = 0, deque([first])
        while waiting:
            t = waiting.popleft()
            for e, other in enumerate(beyond[t]):
                wanted = turned[t] ^ alike[t, e]
                if turned[other] < 0:
                    turned[other] = wanted
                    waiting.append(int(other))
                elif turned[other] != wanted:
                    raise ValueError("has one side only, like a Moebius band; export it again as a solid")
    return np.where(turned[:, None] == 1, corners[:, ::-1], corners)
