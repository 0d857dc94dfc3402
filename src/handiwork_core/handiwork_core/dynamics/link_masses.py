"""Mass and inertia of the links of a robot, as its URDF gives them."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET
from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

from .mass_properties import MassProperties

TERMS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@functools.lru_cache(maxsize=16)
def link_masses(urdf: str) -> Mapping[str, MassProperties]:
    """Return the links that have a mass and an inertia.

    Args:
        urdf: The expanded description; empty where there is none, so that no mass is known.

    Returns:
        Mass properties in the link's frame, by link name.
    """
    links = ET.fromstring(urdf).findall("link") if urdf else []
    found = {link.get("name", ""): _inertial(link) for link in links}
    return {name: mass for name, mass in found.items() if mass is not None}


def _inertial(link: ET.Element) -> MassProperties | None:
    mass, inertia = link.find("inertial/mass"), link.find("inertial/inertia")
    if mass is None or inertia is None or float(mass.get("value", "0")) <= 0.0:
        return None
    xx, xy, xz, yy, yz, zz = (float(inertia.get(key, "0")) for key in TERMS)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    found = MassProperties.of(float(mass.get("value", "0")), np.zeros(3), tensor)
    return found.placed(_origin(link.find("inertial/origin")))


def _origin(element: ET.Element | None) -> Pose:
    return Pose.of(_numbers(element, "xyz"), Rotation.from_rpy(*_numbers(element, "rpy")))


def _numbers(element: ET.Element | None, key: str) -> Array:
    text = "0 0 0" if element is None else element.get(key, "0 0 0")
    return np.array([float(word) for word in text.split()])
