"""The rigid bodies of a robot: links that have a mass or move, with the links that are fixed to them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from handiwork_core.dynamics.link_masses import link_masses
from handiwork_core.dynamics.mass_properties import MassProperties
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.robot import Joint, Robot
from handiwork_core.scene.mesh_file import hull_vertices

NOMINAL_KG, NOMINAL_INERTIA = 1.0, 0.01
"""The mass of a root link without one: it is fixed to the world, so this has no effect."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkPart:
    """A link on its body.

    Attributes:
        link: Name of the link.
        body_T_link: The link in the body's frame.
        shapes: Its collision shapes in its own frame.
    """

    link: str
    body_T_link: Pose
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RobotBody:
    """A rigid body with the name and the frame of its first link.

    Attributes:
        name: Name of the first link.
        mass: Mass and inertia.
        parts: Its links.
        parent: The body that carries it; empty for the root.
        joint: The joint between them; None for the root.
        parent_T_joint: The joint in the parent's frame.
    """

    name: str
    mass: MassProperties
    parts: tuple[LinkPart, ...]
    parent: str = ""
    joint: Joint | None = None
    parent_T_joint: Pose = field(default_factory=Pose.identity)


@dataclass(slots=True)
class _Growing:
    """A body to which links are still added."""

    joint: Joint | None
    parent: str
    parent_T_joint: Pose
    mass: MassProperties | None
    parts: list[LinkPart] = field(default_factory=list)


def robot_bodies(robot: Robot, folder: Path) -> tuple[RobotBody, ...]:
    """Return all bodies in tree order, the root first.

    A link that has no mass and is fixed belongs to the body before it. So does a link with a mass that is fixed to a
    moving one without: its mass is that body's.

    Args:
        robot: The robot.
        folder: Folder from which the paths of the robot's meshes start.

    Raises:
        ValueError: A mesh cannot be read, or a collision shape is missing or unknown; the message names the link.
    """
    links = {item.get("name", ""): item for item in ET.fromstring(robot.urdf).findall("link")}
    above, masses = {joint.child: joint for joint in robot.joints.values()}, link_masses(robot.urdf)
    growing: dict[str, _Growing] = {}
    seat: dict[str, tuple[str, Pose]] = {}
    for link in robot.links:
        joint, mass = above.get(link), masses.get(link)
        parent, body_T_joint = "", Pose.identity()
        if joint is not None:
            parent, body_T_link = seat[joint.parent]
            body_T_joint = body_T_link @ joint.parent_T_joint
        if joint is None or joint.type is not JointKind.FIXED or (mass and growing[parent].mass):
            seat[link] = link, Pose.identity()
            growing[link] = _Growing(joint, parent, body_T_joint, mass)
            if joint is None and mass is None:
                growing[link].mass = _nominal()
        else:
            seat[link] = parent, body_T_joint
            if mass is not None:
                growing[parent].mass = mass.placed(body_T_joint)
        body, body_T_link = seat[link]
        growing[body].parts.append(LinkPart(link, body_T_link, _shapes(links[link], link, folder)))
    return tuple(
        RobotBody(
            name, body.mass or _nominal(), tuple(body.parts), body.parent, body.joint, body.parent_T_joint
        )
        for name, body in growing.items()
    )


def _nominal() -> MassProperties:
    return MassProperties.of(NOMINAL_KG, np.zeros(3), np.eye(3) * NOMINAL_INERTIA)


def _shapes(link: ET.Element, name: str, folder: Path) -> tuple[Shape, ...]:
    try:
        return tuple(_shape(item, folder) for item in link.findall("collision"))
    except ValueError as error:
        raise ValueError(f"link {name!r}: {error}") from error


def _shape(item: ET.Element, folder: Path) -> Shape:
    pose = _origin(item.find("origin"))
    # Not the truth value of the element, which ElementTree has deprecated, and not next(): StopIteration inside a
    # generator becomes a RuntimeError, which names nothing.
    solid = item.find("geometry/*")
    if solid is None:
        raise ValueError(
            "<collision> has no shape in <geometry>; write a box, cylinder, sphere or mesh there"
        )
    if solid.tag == "mesh":
        points = hull_vertices(folder / solid.get("filename", "").removeprefix("file://"))
        return Shape(ShapeKind.CONVEX, frozen(()), pose, frozen(points * _numbers(solid, "scale", "1 1 1")))
    if solid.tag == "box":
        return Shape(ShapeKind.BOX, frozen(_numbers(solid, "size", "")), pose)
    radius = float(solid.get("radius", "nan"))
    if solid.tag == "sphere":
        return Shape(ShapeKind.SPHERE, frozen([radius]), pose)
    if solid.tag == "cylinder":
        return Shape(ShapeKind.CYLINDER, frozen([radius, float(solid.get("length", "nan"))]), pose)
    raise ValueError(
        f"collision shape <{solid.tag}> is none of box, cylinder, sphere and mesh; write one of those"
    )


def _origin(element: ET.Element | None) -> Pose:
    return Pose.of(_numbers(element, "xyz", "0 0 0"), Rotation.from_rpy(*_numbers(element, "rpy", "0 0 0")))


def _numbers(element: ET.Element | None, key: str, default: str) -> Array:
    text = default if element is None else element.get(key, default)
    return np.array([float(word) for word in text.split()])
