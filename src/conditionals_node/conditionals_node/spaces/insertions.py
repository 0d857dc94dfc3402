"""How deep objects are inside of one container, in many worlds or for many objects at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

from .cavities import Inside
from .cavity_kernels import depths_in_cavity
from .hulls import Hull
from .kernels import depth_of_many

NO_POINTS = np.zeros((1, 0, 3))
"""The points of objects where the container has no cavity, so that they are not needed."""
Placed = tuple[Array, Array, Array, Array, Array, Array]
"""Size (n,), orientation (n, 4) and position (n, 3) of the object, then of the container."""


@dataclass(frozen=True, slots=True, eq=False)
class Bulk:
    """What is needed of objects where the container is convex.

    Attributes:
        spots: Centroids of their hulls, then half the edges of their boxes along their own axes, (m, 2, 3), m.
        bulks: Edges of cubes of the same volumes, (m,), m.
    """

    spots: Array
    bulks: Array

    @classmethod
    def of(cls, hulls: Sequence[Hull]) -> Bulk:
        """Collect the numbers of hulls.

        Args:
            hulls: One hull, or one for each row.
        """
        return cls(
            np.array([found.centroid_spot for found in hulls]).reshape(-1, 2, 3),
            np.array([found.bulk for found in hulls]),
        )

    def rows(self, rows: NDArray[np.int64]) -> Bulk:
        """Return the numbers of some of the objects.

        Args:
            rows: Their indices, (n,).
        """
        return Bulk(self.spots[rows], self.bulks[rows])


def insertions(
    outer: Inside, points: Array, bulk: Bulk, placed: Placed, share: float, above_rim: float, closed: bool
) -> tuple[Array, Array | None, Array | None, Array | None, str]:
    """Return ``View.inside`` for rows of one container.

    Args:
        outer: The inside of the container.
        points: Points of the object in its frame, (1, k, 3), or of one object for each row, (n, k, 3), m.
        bulk: Of the object, or of one object for each row.
        placed: Sizes and poses.
        share: See ``View.inside``.
        above_rim: See ``View.inside``, m.
        closed: See ``View.inside``.

    Returns:
        See ``View.inside``.
    """
    depths = np.empty(len(placed[0]))
    cavity, whole = outer.cavity, outer.hull
    if cavity is not None:
        shares, needed, tilts = np.empty((3, len(depths)))
        reach = math.inf if closed else cavity.depth
        depths_in_cavity(
            cavity.walls, cavity.rims, cavity.frame, points, *placed, share, reach, above_rim,
            depths, shares, needed, tilts,
        )  # fmt: skip
        return depths, shares, needed, tilts - cavity.own_tilt, ""
    if not outer.is_convex:
        known = np.isfinite(
            sum((rows.reshape(len(depths), -1).sum(axis=1) for rows in placed), np.zeros(len(depths)))
        )
        return np.where(known, -whole.bulk * placed[3], np.nan), None, None, None, ""
    planes = (whole.closed_faces if closed else whole.open_faces).packed
    top, above, reach = (
        (whole.top_z, math.inf, math.inf) if closed else (whole.top_z, above_rim, whole.height)
    )
    size_o, q_o, p_o, size_c, q_c, p_c = placed
    depth_of_many(
        planes, bulk.spots, size_o, q_o, p_o, size_c, q_c, p_c, top, above,
        share, reach, bulk.bulks, whole.bulk, depths,
    )  # fmt: skip
    return depths, None, None, None, ""
