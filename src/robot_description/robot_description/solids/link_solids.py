"""The collision solids of a link: boxes, cylinders and balls exactly, meshes from their files."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.scene.mesh_file import surface_mesh

from .mesh_solid import MeshSolid
from .primitives import Solid, primitive_of
from .shape_numbers import check_width, scale_of, three

SPACING_M, PIECES = 0.003, 600
"""Distance of samples on meshes, m; on meshes wider than 1.8 m this part of the width, which bounds their number."""


def link_solids(root: ET.Element, link: str, folder: Path) -> tuple[Solid, ...]:
    """Return the collision solids of a link of an expanded URDF.

    Args:
        root: The URDF.
        link: Name of the link.
        folder: Folder to which its mesh paths are relative.

    Returns:
        Solids in the link's frame.

    Raises:
        ValueError: A mesh cannot be read, a shape is none of a URDF's, or it has a size that no link has.
    """
    found: list[Solid] = []
    for item in root.findall(f"./link[@name='{link}']/collision"):
        mesh = item.find("geometry/mesh")
        found.append(_mesh(item, mesh, folder) if mesh is not None else primitive_of(item))
    return tuple(found)


def _mesh(item: ET.Element, mesh: ET.Element, folder: Path) -> MeshSolid:
    vertices, triangles = surface_mesh(folder / mesh.get("filename", "").removeprefix("file://"))
    origin = item.find("origin")
    xyz, rpy = (three(origin, key, "0 0 0") for key in ("xyz", "rpy"))
    placed = Pose.of(xyz, Rotation.from_rpy(*rpy.tolist())).apply(vertices * scale_of(mesh))
    check_width(placed)
    spacing_m = max(SPACING_M, float(np.ptp(placed, axis=0).max()) / PIECES)
    return MeshSolid.of(placed, triangles, spacing_m)
