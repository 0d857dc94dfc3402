"""Checks of the masses and inertias of a URDF: all moving bodies have them, and solid bodies can have such values."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np

from handiwork_core.model.geometry import Array

TERMS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ROUNDING = 1e-3
"""Tolerance of the triangle inequality of principal moments, relative to the largest: files hold rounded numbers."""


def absent_inertias(root: ET.Element) -> list[str]:
    """Return a fault for each moving body without mass or inertia, by the link that its joint moves.

    Args:
        root: The URDF.

    Returns:
        One sentence per fault.
    """
    links = {link.get("name", ""): link for link in root.findall("link")}
    above, moving = _bodies(root)
    weighed = {_top(name, above) for name, link in links.items() if _mass(link) > 0.0}
    faults = []
    for name in moving:
        if name in links and name not in weighed:
            text = (
                "moves and has no mass, nor have the links fixed to it; add <inertial> with mass and inertia"
            )
            faults.append(f"link {name}: {text}")
    for name, link in links.items():
        if _mass(link) > 0.0 and link.find("inertial/inertia") is None:
            faults.append(f"link {name}: has a mass of {_mass(link)} kg without inertia; add <inertia>")
    return faults


def impossible_inertias(root: ET.Element) -> list[str]:
    """Return a fault for each inertia that no solid body has.

    Such an inertia is not finite, not positive definite, or violates the triangle inequality.

    Args:
        root: The URDF.

    Returns:
        One sentence per fault.
    """
    faults = []
    for link in root.findall("link"):
        element = link.find("inertial/inertia")
        if element is None:
            continue
        matrix = _matrix(element)
        text = "has an inertia that is no number; write six finite numbers"
        if matrix is not None:
            text = _fault(np.linalg.eigvalsh(matrix).tolist())
        if text:
            faults.append(f"link {link.get('name')}: {text}")
    return faults


def _fault(moments: list[float]) -> str:
    a, b, c = moments
    if a <= 0.0:
        words = "is not positive definite; take it from the CAD model about the centre of mass"
    elif a + b < c * (1.0 - ROUNDING):
        words = "breaks the triangle inequality (two may not sum to less than the third); take it from the CAD model"
    else:
        return ""
    return f"inertia with principal moments {a:.3g}, {b:.3g}, {c:.3g} kg*m^2 {words}"


def _bodies(root: ET.Element) -> tuple[dict[str, str], list[str]]:
    """Return the link to which each link is fixed, and the links that a joint moves."""
    above, moving = {}, []
    for joint in root.findall("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if parent is None or child is None:
            continue
        if joint.get("type") == "fixed":
            above[child.get("link", "")] = parent.get("link", "")
        else:
            moving.append(child.get("link", ""))
    return above, moving


def _top(link: str, above: dict[str, str]) -> str:
    seen = {link}
    while link in above and above[link] not in seen:
        link = above[link]
        seen.add(link)
    return link


def _mass(link: ET.Element) -> float:
    element = link.find("inertial/mass")
    value = _number(element, "value") if element is not None else 0.0
    return value if math.isfinite(value) else 0.0


def _matrix(element: ET.Element) -> Array | None:
    xx, xy, xz, yy, yz, zz = (_number(element, term) for term in TERMS)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return matrix if np.isfinite(matrix).all() else None


def _number(element: ET.Element, key: str) -> float:
    try:
        return float(element.get(key, "0"))
    except ValueError:
        return math.nan
