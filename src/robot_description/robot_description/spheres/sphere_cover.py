"""Spheres for all links of a URDF, and a measure of their quality."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array, frozen
from handiwork_core.robot.robot import Spheres
from robot_description.solids.link_solids import link_solids
from robot_description.solids.primitives import Solid, union_distance

from .link_spheres import STEPS, Allowance, fit_link, gaps, surface_of, worst_gap

STEP_M = 0.01
COVER_M = 0.004
"""Largest distance of a surface point from the nearest sphere, m."""
BARE_M = 0.0045
"""Distance of a surface point from the nearest sphere above which it gets one of its own, m."""
DIRECTIONS = 400
"""Number of points on a sphere at which its protrusion is measured; others stick out by 0.4 % of the radius more."""
SHRINKS = 20
"""Largest number of times that spheres are made smaller: of a mesh with holes one may reach through a wall."""
ROUNDS = 1
"""Rounds of the search for fewer spheres; few, because a user waits for the result."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The quality of a link's spheres.

    Attributes:
        link: Name of the link.
        count: Number of spheres.
        protrusion_m: Largest protrusion of the spheres out of the shapes, m.
        gap_m: Largest protrusion of the shapes out of the spheres, m.
    """

    link: str
    count: int
    protrusion_m: float
    gap_m: float


def all_solids(root: ET.Element, source: Path) -> dict[str, tuple[Solid, ...]]:
    """Return the collision solids of every link that has some.

    Args:
        root: The URDF.
        source: Its file, for mesh paths and error texts.

    Returns:
        Solids by link, in its frame.

    Raises:
        ConfigError: Shapes cannot be read; the error lists all.
    """
    found, faults = {}, []
    for link in root.findall("link"):
        name = link.get("name", "")
        try:
            solids = link_solids(root, name, source.parent)
        except ValueError as error:
            faults.append(f"link {name}: {error}")
            continue
        if solids:
            found[name] = solids
    if faults:
        raise ConfigError(str(source), faults)
    return found


def fitted(
    solids: Mapping[str, tuple[Solid, ...]],
    protrusion_m: float,
    progress: Callable[[str], None] = lambda _: None,
    coarseness: float = 1.0,
) -> tuple[Spheres, ...]:
    """Return spheres that cover each link, with radii in whole tenths of a millimetre.

    Args:
        solids: Solids by link, in its frame.
        protrusion_m: Largest protrusion of a sphere, m.
        progress: Called with each link before its spheres are fitted.
        coarseness: Factor of the distances of samples; wider ones need less time and give fewer spheres.
    """
    made = []
    for number, (link, shapes) in enumerate(solids.items(), 1):
        progress(f"fitting spheres to {link} ({number} of {len(solids)})")
        allowance = Allowance(protrusion_m, COVER_M)
        centers, radii = fit_link(
            shapes, allowance, coarseness * STEP_M, rounds=ROUNDS, steps=STEPS / coarseness
        )
        centers, radii = centers.round(4), np.ceil(radii * 1e4) / 1e4
        # Samples and rounding add some tenths of a millimetre; the promised length holds for the written spheres.
        left: NDArray[np.int64] = np.arange(len(radii), dtype=np.int64)
        for _ in range(SHRINKS):
            excess = protrusions(shapes, centers[left], radii[left]) - protrusion_m
            left, excess = left[excess > 0.0], excess[excess > 0.0]
            radii[left] = np.floor((radii[left] - np.maximum(excess, 1e-4) + 1e-9) * 1e4) / 1e4
            left = left[radii[left] > 0.0]
            if not len(left):
                break
        centers, radii = _patched(shapes, centers[radii > 0.0], radii[radii > 0.0], protrusion_m)
        made.append(Spheres(link, frozen(centers), frozen(radii)))
    return tuple(made)


def _patched(
    solids: Sequence[Solid], centers: Array, radii: Array, protrusion_m: float
) -> tuple[Array, Array]:
    """Add spheres on the surface where the others, made smaller, leave it bare; they stick out by their radius."""
    points = surface_of(solids, 0.3 * STEP_M)
    radius = np.floor((protrusion_m - 2e-4) * 1e4) / 1e4
    bare = gaps(points, centers, radii) if len(radii) else np.full(len(points), np.inf)
    added = list[Array]()
    while radius > 0.0 and bare.max() > BARE_M:
        added.append(points[int(bare.argmax())].round(4))
        bare = np.minimum(bare, np.linalg.norm(points - added[-1], axis=1) - radius)
    if not added:
        return centers, radii
    return np.concatenate([centers, added]), np.concatenate([radii, np.full(len(added), radius)])


def protrusions(solids: Sequence[Solid], centers: Array, radii: Array) -> Array:
    """Return how far each sphere sticks out of the union of solids, found at points all over the sphere.

    Depths of the centres would not do: in overlaps of solids they are bounds.

    Args:
        solids: Solids of the link.
        centers: Centres, (k, 3), m.
        radii: Radii, (k,), m.

    Returns:
        Protrusions, (k,), m.
    """
    heights = 1.0 - (2.0 * np.arange(DIRECTIONS) + 1.0) / DIRECTIONS
    turns = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(DIRECTIONS)  # a Fibonacci lattice
    flat = np.sqrt(1.0 - heights**2)
    rays = np.column_stack([flat * np.cos(turns), flat * np.sin(turns), heights])
    points = centers[:, None] + radii[:, None, None] * rays
    farthest = union_distance(solids, points.reshape(-1, 3)).reshape(-1, DIRECTIONS).max(axis=1)
    found: Array = np.maximum(farthest, 0.0)
    return found


def coverage(spheres: Spheres, solids: tuple[Solid, ...]) -> Coverage:
    """Measure the quality of spheres, on their surface and on that of the shapes.

    Args:
        spheres: Spheres of a link.
        solids: Solids of the link.
    """
    out = float(protrusions(solids, spheres.centers, spheres.radii).max())
    gap = worst_gap(solids, spheres.centers, spheres.radii, STEP_M)
    return Coverage(spheres.link, len(spheres.radii), out, max(0.0, gap))
