"""A tree of boxes over a mesh's triangles, as flat arrays for ``mesh_distance``."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints

LEAF = 4
"""Triangles in a leaf, at most."""
KEPT = 64
"""Number of trees that are kept; the one unused for longest goes first."""
_trees: OrderedDict[bytes, tuple[Array, Array]] = OrderedDict()


def tree_of(vertices: Array, triangles: Ints) -> tuple[Array, Array]:
    """Return ``nodes`` (b, 8) and ``faces`` (t, 31) of a closed mesh, see ``build``; equal meshes share one tree.

    Args:
        vertices: Points, (n, 3), m.
        triangles: Rows of ``vertices``, (t, 3), counter-clockwise from outside.
    """
    key = content(vertices, triangles)
    if key in _trees:
        _trees.move_to_end(key)
    else:
        _trees[key] = build(vertices, triangles)
        if len(_trees) > KEPT:
            _trees.popitem(last=False)
    return _trees[key]


def content(vertices: Array, triangles: Ints) -> bytes:
    """Return a key that is the same for equal meshes.

    Args:
        vertices: Points, (n, 3), m.
        triangles: Rows of ``vertices``, (t, 3).
    """
    return blake2b(vertices.tobytes() + triangles.tobytes(), digest_size=16).digest()


def build(vertices: Array, triangles: Ints) -> tuple[Array, Array]:
    """Build a tree of boxes, halved at the middle triangle along their longest side.

    Args:
        vertices: Points, (n, 3), m.
        triangles: Rows of ``vertices``, (t, 3), counter-clockwise from outside.

    Returns:
        ``nodes`` (b, 8) and ``faces`` (f, 31). A row of ``nodes`` is its box (low x, y, z, high x, y, z), then, in a
        leaf, its first row of ``faces`` and their count; elsewhere the row of its second half and 0: the first half is
        in the next row. A row of ``faces``: three corners, unit normal, plane offset, then three normals of the edges
        01, 12, 20 and three of the corners, not of unit length.
    """
    faces = _faces(vertices, triangles)
    corners = faces[:, :9].reshape(-1, 3, 3)
    low, high = corners.min(axis=1), corners.max(axis=1)
    middle = 0.5 * (low + high)
    rows: list[Array] = []
    order: list[Ints] = []
    filled = 0
    # Sets of triangles to make a node of, and the row whose second half that is; -1 where it is no second half.
    waiting: list[tuple[Ints, int]] = [(np.arange(len(faces)), -1)]
    while waiting:
        item, parent = waiting.pop()
        if parent >= 0:
            rows[parent][6] = len(rows)
        box = np.concatenate([low[item].min(axis=0), high[item].max(axis=0)])
        if len(item) <= LEAF:
            rows.append(np.append(box, [filled, len(item)]))
            order.append(item)
            filled += len(item)
            continue
        axis = int(np.ptp(middle[item], axis=0).argmax())
        half = len(item) // 2
        ranked = item[np.argpartition(middle[item, axis], half)]
        waiting += [(ranked[half:], len(rows)), (ranked[:half], -1)]
        rows.append(np.append(box, [0.0, 0.0]))
    return np.array(rows), np.ascontiguousarray(faces[np.concatenate(order)])


def _faces(vertices: Array, triangles: Ints) -> Array:
    """Return faces (t, 31) without triangles that have no area: their neighbours cover the same points."""
    corners = vertices[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double_area = np.linalg.norm(across, axis=1)
    longest = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(axis=1)
    flat = double_area <= 1e-9 * longest**2
    normals = np.where(flat[:, None], 0.0, across / np.where(flat, 1.0, double_area)[:, None])
    offsets = np.einsum("ij,ij->i", normals, corners[:, 0])
    table = np.concatenate(
        [
            corners.reshape(-1, 9),
            normals,
            offsets[:, None],
            _edge_normals(triangles, normals).reshape(-1, 9),
            _corner_normals(len(vertices), corners, triangles, normals)[triangles].reshape(-1, 9),
        ],
        axis=1,
    )
    return np.asarray(table[~flat])


def _edge_normals(triangles: Ints, normals: Array) -> Array:
    """Return sums (t, 3, 3) of both neighbours' normals for edges 01, 12, 20."""
    edges = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    _, place = np.unique(edges, axis=0, return_inverse=True)
    place = place.reshape(-1)
    sums = np.zeros((int(place.max()) + 1, 3))
    np.add.at(sums, place, np.repeat(normals, 3, axis=0))
    return sums[place].reshape(-1, 3, 3)


def _corner_normals(count: int, corners: Array, triangles: Ints, normals: Array) -> Array:
    """Return sums (n, 3) of normals weighted by the angle at the corner (Baerentzen, Aanaes 2005)."""
    sums = np.zeros((count, 3))
    for i in range(3):
        a, b = corners[:, (i + 1) % 3] - corners[:, i], corners[:, (i + 2) % 3] - corners[:, i]
        angles = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b))
        np.add.at(sums, triangles[:, i], angles[:, None] * normals)
    return sums
