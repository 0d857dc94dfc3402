"""Which points lie in which spheres, as the rows of a sparse matrix."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices
from handiwork_planning.kernels.jit import kernel


def within_reach(centers: Array, reach: Array, points: Array) -> tuple[Indices, Indices]:
    """Return the points within reach of each centre.

    Args:
        centers: Centres, (n, 3), m.
        reach: Largest distance of each, (n,), m.
        points: Points, (m, 3), m; at least one.

    Returns:
        Where the points of each centre begin and end among all, (n + 1,), and the indices of the points, in any order
        for each centre, (k,).
    """
    axis = int(np.ptp(points, axis=0).argmax())
    order = np.argsort(points[:, axis])
    rows, middles = np.ascontiguousarray(points[order]), np.ascontiguousarray(centers)
    # Only the points of a slab of each sphere's width are looked at.
    first = np.searchsorted(rows[:, axis], middles[:, axis] - reach, "left")
    last = np.searchsorted(rows[:, axis], middles[:, axis] + reach, "right")
    ends, items = _held(middles, np.ascontiguousarray(reach), rows, first, last)
    return ends, np.asarray(order[items])


@kernel
def _held(
    centers: Array, reach: Array, points: Array, first: Indices, last: Indices
) -> tuple[Indices, Indices]:
    ends = np.zeros(len(centers) + 1, np.int64)
    items = np.empty(max(1024, 8 * len(centers)), np.int64)
    count = 0
    for i in range(len(centers)):
        if count + last[i] - first[i] > len(items):
            more = np.empty(2 * len(items) + last[i] - first[i], np.int64)
            more[:count] = items[:count]
            items = more
        x, y, z, most = centers[i, 0], centers[i, 1], centers[i, 2], reach[i] * reach[i]
        for j in range(first[i], last[i]):
            dx, dy, dz = points[j, 0] - x, points[j, 1] - y, points[j, 2] - z
            items[count] = j
            count += dx * dx + dy * dy + dz * dz <= most
        ends[i + 1] = count
    return ends, items[:count]
