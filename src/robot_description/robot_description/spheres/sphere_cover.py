"""Spheres for all links of a URDF, and a measure of their quality."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import frozen
from handiwork_core.robot.robot import Spheres
from robot_description.solids.link_solids import link_solids
from robot_description.solids.primitives import Solid, union_distance

from .link_spheres import Allowance, fit_link, worst_gap

STEP_M = 0.01
COVER_M = 0.004
"""Largest distance of a surface point from the nearest sphere, m."""
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


def fitted(solids: Mapping[str, tuple[Solid, ...]], protrusion_m: float) -> tuple[Spheres, ...]:
    """Return spheres that cover each link, with radii in whole tenths of a millimetre.

    Args:
        solids: Solids by link, in its frame.
        protrusion_m: Largest protrusion of a sphere, m.
    """
    made = []
    for link, shapes in solids.items():
        centers, radii = fit_link(shapes, Allowance(protrusion_m, COVER_M), STEP_M, rounds=ROUNDS)
        made.append(Spheres(link, frozen(centers.round(4)), frozen(np.ceil(radii * 1e4) / 1e4)))
    return tuple(made)


def coverage(spheres: Spheres, solids: tuple[Solid, ...]) -> Coverage:
    """Measure the quality of spheres at their centres and on the shapes' surface.

    Args:
        spheres: Spheres of a link.
        solids: Solids of the link.
    """
    depth = union_distance(solids, spheres.centers)
    gap = worst_gap(solids, spheres.centers, spheres.radii, STEP_M)
    return Coverage(spheres.link, len(spheres.radii), float((depth + spheres.radii).max()), max(0.0, gap))
