"""The collision solids of a link: boxes, cylinders and balls exactly, meshes from their files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.scene.mesh_file import surface_mesh

from .mesh_solid import MeshSolid
from .primitives import Primitive, Solid, primitives

SPACING_M = 0.003
"""Distance of samples on meshes, m."""


def link_solids(root: ET.Element, link: str, folder: Path) -> tuple[Solid, ...]:
    """Return the collision solids of a link of an expanded URDF.

    Args:
        root: The URDF.
        link: Name of the link.
        folder: Folder to which its mesh paths are relative.

    Returns:
        Solids in the link's frame.

    Raises:
        ValueError: A mesh cannot be read, or a shape is none of a URDF's.
    """
    found: list[Solid] = []
    for item in root.findall(f"./link[@name='{link}']/collision"):
        mesh = item.find("geometry/mesh")
        found.extend([_mesh(item, mesh, folder)] if mesh is not None else _primitive(item, link))
    return tuple(found)


def _primitive(item: ET.Element, link: str) -> tuple[Primitive, ...]:
    alone = ET.Element("robot")
    ET.SubElement(alone, "link", name=link).append(item)
    return primitives(ET.tostring(alone, encoding="unicode"), link)


def _mesh(item: ET.Element, mesh: ET.Element, folder: Path) -> MeshSolid:
    vertices, triangles = surface_mesh(folder / mesh.get("filename", "").removeprefix("file://"))
    origin = item.find("origin")
    xyz, rpy = (_three(origin, key, "0 0 0") for key in ("xyz", "rpy"))
    placed = Pose.of(xyz, Rotation.from_rpy(*rpy.tolist())).apply(vertices * _three(mesh, "scale", "1 1 1"))
    return MeshSolid.of(placed, triangles, SPACING_M)


def _three(element: ET.Element | None, key: str, default: str) -> Array:
    text = default if element is None else element.get(key, default)
    return np.array([float(word) for word in text.split()])
