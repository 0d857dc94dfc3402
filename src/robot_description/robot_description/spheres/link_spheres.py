"""Collision spheres that cover the surface of one link's solids.

Greedy set cover: surface points of the union of primitives must lie in spheres, and spheres may stick out of the union
by a given length at most. Own method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices
from robot_description.collision_pairs.home_room import (
    Limit,
)
from robot_description.solids.primitives import Solid, union_distance

from .set_cover import CoverChoice
from .within_reach import within_reach

COVER_M = 0.001
"""Largest distance of a surface point from the nearest sphere, m."""
LEAST_M = 0.001
"""Smaller spheres are left out, m."""
FINEST_M, STEPS = 0.004, 24
"""Distance of samples on small links, m; approximate number of samples along the longest side of other links."""
LEVELS = 5
"""Number of grids of candidate centres, each twice as wide as its predecessor and deeper in the solids."""
DEEPEST = 6.0
"""Largest depth of a centre below the surface, in steps of its grid."""
KEY = np.array([1, 1 << 20, 1 << 40])
"""Factors that make one number of the indices of a point's cell."""
ROUNDS = 30
"""Number of times that a part of the spheres is chosen again."""
AT_ONCE = 4_000
"""Points whose distances to all spheres are held in memory at a time."""
PASSES = 3
"""Largest number of times that all spheres are chosen again, to cover points that the samples before had missed."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Largest protrusion of spheres out of the solids, and of the solids out of the spheres, m.

    ``deepest`` is the largest depth of a centre below the surface in steps of its grid. Without a bound the choice is
    larger: a few large spheres need centres far inside that lie close together.
    """

    protrusion_m: float
    cover_m: float
    deepest: float = DEEPEST


def fit(
    solids: Sequence[Solid],
    allowance: Allowance,
    step_m: float,
    rooms: Sequence[Limit] = (),
    rounds: int = ROUNDS,
) -> tuple[Array, Array]:
    """Choose spheres that cover the surface of the union of solids.

    No sphere sticks out further than ``allowance``, or into ``rooms``.

    Args:
        solids: Solids in one frame.
        allowance: Largest protrusions.
        step_m: Distance of samples, m.
        rooms: Further bounds of the spheres.
        rounds: Number of times that a part of the spheres is chosen again, 0 or more; more find slightly fewer spheres.

    Returns:
        Centres, (k, 3), and radii, (k,), m.
    """
    fine = surface_of(solids, 0.3 * step_m)
    surface = fine[np.unique((fine / (0.8 * step_m)).round().astype(np.int64) @ KEY, return_index=True)[1]]
    centers, radii = _tried(solids, allowance, step_m, fine, rooms)
    reach, chosen = radii + allowance.cover_m, list[int]()
    # The first choice is made without rounds, too: nothing would be covered otherwise.
    for _ in range(min(PASSES, max(rounds, 1))):
        chosen = CoverChoice(_held(centers, reach, surface)).best(rounds, seed=0)
        missed = fine[gaps(fine, centers[chosen], radii[chosen]) > allowance.cover_m]
        surface = np.unique(np.concatenate([surface, missed]), axis=0)
    # A few further spheres cover the points that are still missed.
    if len(missed):
        chosen += CoverChoice(_held(centers, reach, missed)).best(0, seed=0)
    return centers[chosen], radii[chosen]


def _held(centers: Array, reach: Array, points: Array) -> csr_array:
    """Return a matrix with one where a point (m,) lies within reach (n,) of a center (n, 3)."""
    ends, items = within_reach(centers, reach, points)
    ones: Indices = np.ones(len(items), dtype=np.int32)
    return csr_array((ones, items, ends), shape=(len(centers), len(points)))


def surface_of(solids: Sequence[Solid], step_m: float) -> Array:
    """Return points on the surface of the union of solids.

    Args:
        solids: Solids in one frame.
        step_m: Approximate distance of the points, m.

    Returns:
        Points in this frame, (n, 3), m.
    """
    grid = np.concatenate([solid.surface(step_m) for solid in solids])
    points: Array = grid[union_distance(solids, grid) >= -1e-6]
    return points


def gaps(points: Array, centers: Array, radii: Array) -> Array:
    """Return the distances of points from the nearest sphere.

    Args:
        points: Points, (n, 3), m.
        centers: Centres, (k, 3), m.
        radii: Radii, (k,), m.

    Returns:
        Distances, (n,), m; negative inside.
    """
    parts = [
        (cdist(points[i : i + AT_ONCE], centers) - radii).min(axis=1) for i in range(0, len(points), AT_ONCE)
    ]
    return np.concatenate(parts)


def _tried(
    solids: Sequence[Solid], allowance: Allowance, step_m: float, fine: Array, rooms: Sequence[Limit]
) -> tuple[Array, Array]:
    """Return centres and greatest radii of all spheres that may be chosen; ``fine`` (n, 3) lie on the surface."""
    tree, blur = cKDTree(fine), 0.22 * step_m
    found = []
    for level in range(LEVELS):
        step = 0.75 * step_m * 2.0**level
        grid = np.concatenate([solid.grid(step) for solid in solids])
        bound = -union_distance(solids, grid)
        deepest = allowance.deepest * step
        grid, bound = grid[bound < deepest], bound[bound < deepest]
        thinned = np.unique((grid / (0.7 * step)).round().astype(np.int64) @ KEY, return_index=True)[1]
        grid, bound = grid[thinned], bound[thinned]
        # In overlaps, the solids' own distances are too small; samples are slightly farther away than the surface.
        away = np.asarray(tree.query(grid)[0], dtype=np.float64)
        depth = np.where(bound > 0.0, np.maximum(bound, np.sqrt(np.maximum(away**2 - blur**2, 0.0))), bound)
        inside = (depth >= (step if level else -LEAST_M)) & (depth < deepest)
        found.append(np.column_stack([grid, depth])[inside])
    both = np.concatenate(found)
    radii = _within(rooms, both[:, :3], both[:, 3] + allowance.protrusion_m)
    kept = radii > LEAST_M
    return both[kept, :3], radii[kept]


def worst_gap(solids: Sequence[Solid], centers: Array, radii: Array, step_m: float) -> float:
    """Return the largest distance of a surface point from the nearest sphere.

    Args:
        solids: Solids in one frame.
        centers: Centres, (k, 3), m.
        radii: Radii, (k,), m.
        step_m: Approximate distance of the surface points, m.

    Returns:
        Distance, m; negative if all is covered.
    """
    return float(gaps(surface_of(solids, step_m), centers, radii).max())


def fit_link(
    solids: Sequence[Solid],
    allowance: Allowance,
    step_m: float,
    rooms: Sequence[Limit] = (),
    rounds: int = ROUNDS,
    steps: float = STEPS,
) -> tuple[Array, Array]:
    """Call ``fit`` with samples that are closer on small links.

    Args:
        solids: Solids of the link.
        allowance: Largest protrusions.
        step_m: Largest distance of samples, m.
        rooms: Further bounds of the spheres.
        rounds: Number of times that a part of the spheres is chosen again, 0 or more.
        steps: Approximate number of samples along the longest side of a link.

    Returns:
        Centres, (k, 3), and radii, (k,), m.
    """
    points = np.concatenate([solid.grid(1.0) for solid in solids])
    step = float(np.clip(float(np.ptp(points, axis=0).max()) / steps, FINEST_M, max(step_m, FINEST_M)))
    return fit(solids, allowance, step, rooms, rounds)


def _within(rooms: Sequence[Limit], centers: Array, radii: Array) -> Array:
    for room in rooms:
        radii = np.minimum(radii, room.limit(centers))
    return radii
