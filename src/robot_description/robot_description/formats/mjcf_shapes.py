"""The collision shapes of a compiled MJCF model as elements of a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from handiwork_core.model.geometry import Array, Rotation
from handiwork_core.model.world import Indices
from robot_description.solids.convex_parts import write_stl

ROUND = 200
"""Number of points of a mesh that stands for an ellipsoid."""


def add_origin(element: ET.Element, position: Array, wxyz: Array) -> None:
    """Add the origin of a joint, an inertia or a shape.

    Args:
        element: The element that gets it.
        position: Its position, (3,), m.
        wxyz: Its orientation as a quaternion, (4,).
    """
    angles = _rpy(Rotation.from_wxyz(wxyz).matrix())
    xyz, rpy = (" ".join(f"{float(v):.9g}" for v in values) for values in (position, angles))
    ET.SubElement(element, "origin", xyz=xyz, rpy=rpy)


def _rpy(turn: Array) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation matrix, rad; where only their sum is determined, roll is 0."""
    level = float(np.hypot(turn[0, 0], turn[1, 0]))
    pitch = float(np.arctan2(-turn[2, 0], level))
    if level < 1e-9:
        return 0.0, pitch, float(np.arctan2(-turn[0, 1], turn[1, 1]))
    roll, yaw = np.arctan2(turn[2, 1], turn[2, 2]), np.arctan2(turn[1, 0], turn[0, 0])
    return float(roll), pitch, float(yaw)


def collision_elements(
    mujoco: Any,  # noqa: ANN401 mujoco has no types
    model: Any,  # noqa: ANN401
    geom: int,
    folder: Path,
    faults: list[str],
) -> list[ET.Element]:
    """Return the collision elements of a geom, in the frame of its body.

    A capsule is a cylinder and two spheres, an ellipsoid is a mesh of points on it.

    Args:
        mujoco: The module.
        model: The compiled model.
        geom: Index of the geom.
        folder: Folder that takes meshes.
        faults: Takes a shape that a URDF cannot show.
    """
    kinds, size = mujoco.mjtGeom, model.geom_size[geom]
    kind = kinds(int(model.geom_type[geom]))
    place = (model.geom_pos[geom], model.geom_quat[geom])
    if kind == kinds.mjGEOM_BOX:
        return [_shape(place, "box", size=" ".join(f"{2.0 * float(v):.9g}" for v in size))]
    if kind == kinds.mjGEOM_SPHERE:
        return [_shape(place, "sphere", radius=f"{size[0]:.9g}")]
    if kind in (kinds.mjGEOM_CYLINDER, kinds.mjGEOM_CAPSULE):
        radius = f"{size[0]:.9g}"
        found = [_shape(place, "cylinder", radius=radius, length=f"{2.0 * float(size[1]):.9g}")]
        along = Rotation.from_wxyz(place[1]).matrix()[:, 2] * size[1]
        ends = (along, -along) if kind == kinds.mjGEOM_CAPSULE else ()
        return found + [_shape((place[0] + end, place[1]), "sphere", radius=radius) for end in ends]
    if kind == kinds.mjGEOM_ELLIPSOID:
        return [_shape(place, "mesh", filename=_written(folder / f"ellipsoid{geom}.stl", *_ellipsoid(size)))]
    if kind == kinds.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_MESH, mesh) or f"mesh{mesh}"
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        start, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        path = folder / f"{name.replace('/', '_')}.stl"
        if not path.exists():
            vertices = model.mesh_vert[first : first + count]
            _written(path, vertices, model.mesh_face[start : start + faces])
        return [_shape(place, "mesh", filename=str(path))]
    body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.geom_bodyid[geom])) or "?"
    text = f"{kind.name.removeprefix('mjGEOM_').lower()} cannot be a link's shape; use a box or a mesh"
    faults.append(f"body {body}: {text}")
    return []


def _shape(place: tuple[Array, Array], tag: str, **attributes: str) -> ET.Element:
    element = ET.Element("collision")
    add_origin(element, *place)
    ET.SubElement(ET.SubElement(element, "geometry"), tag, attributes)
    return element


def _ellipsoid(half: Array) -> tuple[Array, Indices]:
    """Return vertices (n, 3) and triangles (m, 3) of the hull of even points on an ellipsoid, outwards."""
    heights = 1.0 - (2.0 * np.arange(ROUND) + 1.0) / ROUND
    turns = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(ROUND)
    flat = np.sqrt(1.0 - heights**2)
    ball = np.column_stack([flat * np.cos(turns), flat * np.sin(turns), heights])
    faces = ConvexHull(ball).simplices
    a, b, c = (ball[faces[:, i]] for i in range(3))
    inwards = np.einsum("ni,ni->n", np.cross(b - a, c - a), a) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return ball * half, faces


def _written(path: Path, vertices: Array, faces: Indices) -> str:
    """Write a binary STL file, and return its path."""
    write_stl(path, (vertices, faces))
    return str(path)
