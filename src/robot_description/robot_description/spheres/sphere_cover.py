"""Spheres for all links of a URDF, and how well they cover it."""

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

from .fit_spheres import Allowance, fit_link, worst_gap

STEP_M = 0.01
COVER_M = 0.004
"""What may stay outside the spheres."""
ROUNDS = 1
"""Of the search for fewer spheres: somebody waits for it."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of a link: how far its spheres stick out of its shapes at most, and its shapes out of its spheres [m]."""

    link: str
    count: int
    protrusion_m: float
    gap_m: float


def all_solids(root: ET.Element, source: Path) -> dict[str, tuple[Solid, ...]]:
    """Collision solids of every link that has some.

    Raises:
        ConfigError: with every shape that cannot be read.
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
    """Spheres that cover each link, with radii in whole tenths of a millimetre."""
    made = []
    for link, shapes in solids.items():
        centers, radii = fit_link(shapes, Allowance(protrusion_m, COVER_M), STEP_M, rounds=ROUNDS)
        made.append(Spheres(link, frozen(centers.round(4)), frozen(np.ceil(radii * 1e4) / 1e4)))
    return tuple(made)


def coverage(spheres: Spheres, solids: tuple[Solid, ...]) -> Coverage:
    """Measured at the spheres' centres and on the shapes' surface."""
    depth = union_distance(solids, spheres.centers)
    gap = worst_gap(solids, spheres.centers, spheres.radii, STEP_M)
    return Coverage(spheres.link, len(spheres.radii), float((depth + spheres.radii).max()), max(0.0, gap))
