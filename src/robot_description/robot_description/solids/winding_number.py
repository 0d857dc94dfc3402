"""The winding number of a triangle mesh at many points, by a tree: Barill et al., Fast Winding Numbers, 2018.

A node of the tree that is far from a point counts as one dipole of its triangles' area; near triangles count by their
solid angles, after van Oosterom and Strackee, 1983. The meshes need not close.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.jit import kernel

LEAF = 16
"""Largest number of triangles of a leaf."""
FAR = 2.0
"""A node is far from points that are more than this many of its radii away; the authors' value."""
DEEPEST = 128
"""Size of the stack of nodes; the tree halves, so its depth is the logarithm of the number of triangles."""


@dataclass(frozen=True, slots=True, eq=False)
class WindingTree:
    """The triangles of a mesh in a tree.

    Attributes:
        corners: Corners in the order of the tree, (m, 3, 3), m.
        balls: Centre of the area and radius of each node, (k, 4), m.
        areas: Sum of the area vectors of each node, (k, 3), m^2.
        spans: First triangle, end of the triangles, and left child of each node, (k, 3); the right child follows the
            left one, and leaves have the child -1.
    """

    corners: Array
    balls: Array
    areas: Array
    spans: NDArray[np.int64]

    @classmethod
    def of(cls, corners: Array) -> WindingTree:
        """Build the tree.

        Args:
            corners: Corners of the triangles, (m, 3, 3), m; at least one.
        """
        order, spans = _split(np.ascontiguousarray(corners.mean(axis=1)))
        corners = np.ascontiguousarray(corners[order], dtype=np.float64)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas: Array = np.asarray(0.5 * normals, dtype=np.float64)
        balls, sums = _summed(corners, areas, spans)
        return cls(corners, balls, sums, spans)

    def is_inside(self, points: Array) -> NDArray[np.bool_]:
        """Check whether the triangles, viewed from a point, cover more than half of all directions.

        Args:
            points: Points, (n, 3), m.

        Returns:
            True for points inside, (n,).
        """
        rows = np.ascontiguousarray(points, dtype=np.float64)
        angles = _solid_angles(rows, self.corners, self.balls, self.areas, self.spans)
        inside: NDArray[np.bool_] = np.abs(angles) > 2.0 * np.pi
        return inside


def _split(middles: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order of the triangles and the spans of the nodes; each node is halved along its longest side."""
    order = np.arange(len(middles), dtype=np.int64)
    spans = [[0, len(middles), -1]]
    node = 0
    while node < len(spans):
        first, end, _ = spans[node]
        if end - first > LEAF:
            rows = order[first:end]
            side = int(np.ptp(middles[rows], axis=0).argmax())
            half = (end - first) // 2
            order[first:end] = rows[np.argpartition(middles[rows, side], half)]
            spans[node][2] = len(spans)
            spans += [[first, first + half, -1], [first + half, end, -1]]
        node += 1
    return order, np.array(spans, dtype=np.int64)


def _summed(corners: Array, areas: Array, spans: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the balls (k, 4) and area vectors (k, 3) of the nodes."""
    sizes = np.linalg.norm(areas, axis=1)
    middles = corners.mean(axis=1)
    balls, sums = np.empty((len(spans), 4)), np.empty((len(spans), 3))
    for node, (first, end, _) in enumerate(spans):
        weights = sizes[first:end] + 1e-18
        center = weights @ middles[first:end] / weights.sum()
        balls[node, :3] = center
        balls[node, 3] = np.sqrt(((corners[first:end] - center) ** 2).sum(axis=2).max())
        sums[node] = areas[first:end].sum(axis=0)
    return balls, sums


@kernel
def _solid_angles(
    points: Array, corners: Array, balls: Array, areas: Array, spans: NDArray[np.int64]
) -> Array:
    """Return the sums (n,) of the signed solid angles, sr."""
    total = np.zeros(len(points))
    stack = np.empty(DEEPEST, np.int64)
    for row in range(len(points)):
        x, y, z = points[row]
        angle, depth = 0.0, 1
        stack[0] = 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            dx, dy, dz = balls[node, 0] - x, balls[node, 1] - y, balls[node, 2] - z
            square = dx * dx + dy * dy + dz * dz
            if square > (FAR * balls[node, 3]) ** 2:
                flux = areas[node, 0] * dx + areas[node, 1] * dy + areas[node, 2] * dz
                angle += flux / (square * np.sqrt(square))
            elif spans[node, 2] >= 0:
                stack[depth], stack[depth + 1] = spans[node, 2], spans[node, 2] + 1
                depth += 2
            else:
                for i in range(spans[node, 0], spans[node, 1]):
                    ax, ay, az = corners[i, 0, 0] - x, corners[i, 0, 1] - y, corners[i, 0, 2] - z
                    bx, by, bz = corners[i, 1, 0] - x, corners[i, 1, 1] - y, corners[i, 1, 2] - z
                    cx, cy, cz = corners[i, 2, 0] - x, corners[i, 2, 1] - y, corners[i, 2, 2] - z
                    la = np.sqrt(ax * ax + ay * ay + az * az)
                    lb = np.sqrt(bx * bx + by * by + bz * bz)
                    lc = np.sqrt(cx * cx + cy * cy + cz * cz)
                    above = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
                    below = (
                        la * lb * lc
                        + (ax * bx + ay * by + az * bz) * lc
                        + (bx * cx + by * cy + bz * cz) * la
                        + (cx * ax + cy * ay + cz * az) * lb
                    )
                    angle += 2.0 * np.arctan2(above, below)
        total[row] = angle
    return total
