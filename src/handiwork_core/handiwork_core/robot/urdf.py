"""A small typed URDF reader for links, joints and their tree. The only check of geometry is that mesh files exist."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.joint_kind import JointKind

from .mesh_paths import absent, mesh_path
from .robot import Joint, Mimic
from .urdf_inertia import absent_inertias
from .urdf_tree import Connection, tree_order

SUPPORTED = {kind.word: kind for kind in JointKind}


@dataclass(frozen=True, slots=True, eq=False)
class UrdfModel:
    """A kinematic tree.

    Attributes:
        name: Name of the robot.
        links: Links in tree order, root first.
        joints: Joints by name in tree order, without acceleration and jerk.
    """

    name: str
    links: tuple[str, ...]
    joints: dict[str, Joint]


def read_urdf(text: str, source: Path, *, needs_inertia: bool = False) -> UrdfModel:
    """Read an expanded URDF.

    Args:
        text: The URDF.
        source: Its file, for error texts and for mesh files with relative paths.
        needs_inertia: True if moving bodies must have a mass and an inertia, as simulators need them.

    Raises:
        ConfigError: The URDF has faults, and the error lists all: bad XML, unknown links, several roots, a cycle,
            repeated names, a zero axis, reversed limits, a mimic of a joint that is unknown, fixed or itself a mimic, a
            missing mesh file, a body without inertia.
    """
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise ConfigError(str(source), [f"top: is not XML: {error}; correct it there"]) from error
    faults: list[str] = []
    links = [element.get("name", "") for element in root.findall("link")]
    elements = root.findall("joint")
    joints = {}
    for element in elements:
        joint = _joint(element, faults)
        if joint is not None:
            joints[joint.name] = joint
    _check_meshes(root, source.parent, faults)
    _check_mimics(elements, faults)
    connections = [Connection(e.get("name", ""), _link(e, "parent"), _link(e, "child")) for e in elements]
    order = tree_order(links, connections, faults)
    if needs_inertia:
        faults += absent_inertias(root)
    if faults:
        raise ConfigError(str(source), faults)
    by_child = {joint.child: joint for joint in joints.values()}
    ordered = [by_child[link] for link in order[1:]]
    return UrdfModel(root.get("name", ""), tuple(order), {joint.name: joint for joint in ordered})


def _joint(element: ET.Element, faults: list[str]) -> Joint | None:
    name, kind = element.get("name", ""), element.get("type", "")
    key = f"joint {name}"
    if kind not in SUPPORTED:
        remedy = "write revolute with limits" if kind == "continuous" else nearest(kind, list(SUPPORTED))
        faults.append(f"{key}: type {kind!r} is not supported; {remedy}")
        return None
    before = len(faults)
    origin = element.find("origin")
    xyz = _numbers(origin, "xyz", (0.0, 0.0, 0.0), key, faults)
    rpy = _numbers(origin, "rpy", (0.0, 0.0, 0.0), key, faults)
    axis = _numbers(element.find("axis"), "xyz", (1.0, 0.0, 0.0), key, faults)
    length = float(np.linalg.norm(axis))
    if kind != "fixed" and length < 1e-9:
        faults.append(f"{key}: axis is zero; give it a direction")
    limit = element.find("limit")
    lower, upper, velocity, effort = (
        _number(limit, n, key, faults) for n in ("lower", "upper", "velocity", "effort")
    )
    if kind != "fixed":
        if limit is None:
            faults.append(f"{key}: has no limit; add lower, upper, velocity and effort")
        elif lower > upper:
            faults.append(f"{key}: lower limit {lower} is above the upper one {upper}; swap them")
        elif velocity <= 0.0:
            faults.append(f"{key}: velocity limit {velocity} must be more than 0")
    parent, child = _link(element, "parent"), _link(element, "child")
    mimic = _mimic(element.find("mimic"), key, faults)
    if len(faults) > before:
        return None
    pose = Pose.of(xyz, Rotation.from_rpy(*rpy))
    unit = frozen(axis / length) if length > 0.0 else frozen(axis)
    return Joint(
        name, SUPPORTED[kind], parent, child, pose, unit, lower, upper, velocity, effort=effort, mimic=mimic
    )


def _mimic(element: ET.Element | None, key: str, faults: list[str]) -> Mimic | None:
    if element is None:
        return None
    multiplier = _number(element, "multiplier", key, faults, 1.0)
    return Mimic(element.get("joint", ""), multiplier, _number(element, "offset", key, faults))


def _link(element: ET.Element, tag: str) -> str:
    found = element.find(tag)
    return "" if found is None else found.get("link", "")


def _number(
    element: ET.Element | None, name: str, key: str, faults: list[str], default: float = 0.0
) -> float:
    text = None if element is None else element.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        faults.append(f"{key}: {name} is {text!r}; write a finite number")
        return default
    return value


def _numbers(
    element: ET.Element | None, name: str, default: tuple[float, ...], key: str, faults: list[str]
) -> Array:
    text = None if element is None else element.get(name)
    if text is None:
        return np.array(default)
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.empty(0)
    if values.shape != (3,) or not np.isfinite(values).all():
        faults.append(f"{key}: {name} is {text!r}; write three finite numbers")
        return np.array(default)
    return values


def _check_meshes(root: ET.Element, folder: Path, faults: list[str]) -> None:
    for link in root.findall("link"):
        for mesh in link.iter("mesh"):
            name = mesh.get("filename", "")
            if mesh_path(name, folder) is None:
                faults.append(f"link {link.get('name')}: {absent(name, folder)}")


def _check_mimics(elements: list[ET.Element], faults: list[str]) -> None:
    by_name = {element.get("name", ""): element for element in elements}
    free = [n for n, e in by_name.items() if e.get("type") != "fixed" and e.find("mimic") is None]
    for name, element in by_name.items():
        mimic = element.find("mimic")
        source = "" if mimic is None else mimic.get("joint", "")
        if mimic is None or source in free:
            continue
        what = "does not exist"
        if source in by_name:
            what = "is a mimic itself" if by_name[source].find("mimic") is not None else "is fixed"
        faults.append(f"joint {name}: mimics {source!r}, which {what}; {nearest(source, free)}")
