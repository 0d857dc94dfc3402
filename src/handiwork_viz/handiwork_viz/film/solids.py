"""Surfaces of convex shapes as triangles, with rounded edges, which catch the light."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.mesh_file import hull_vertices

SEGMENTS = 40
"""Segments of a full turn."""
ARC = 3
"""Segments of a quarter turn of an edge."""
Color = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class BodyTriangles:
    """Triangles of one body in its own frame.

    Attributes:
        corners: (n, 3, 3), m.
        normals: Unit normals at the corners, (n, 3, 3).
        colors: Linear, (n, 3).
    """

    corners: Array
    normals: Array
    colors: Array

    def moved(self, pose: Pose) -> BodyTriangles:
        """Return the same triangles in another frame.

        Args:
            pose: Pose of the body in that frame.
        """
        turn = pose.matrix()[:3, :3].T
        return BodyTriangles(self.corners @ turn + pose.matrix()[:3, 3], self.normals @ turn, self.colors)


def joined(solids: Sequence[BodyTriangles]) -> BodyTriangles:
    """Return all solids as one; an empty one without any.

    Args:
        solids: Solids in the same frame.
    """
    if not solids:
        return BodyTriangles(np.empty((0, 3, 3)), np.empty((0, 3, 3)), np.empty((0, 3)))
    return BodyTriangles(
        np.concatenate([s.corners for s in solids]),
        np.concatenate([s.normals for s in solids]),
        np.concatenate([s.colors for s in solids]),
    )


def solid_of(shape: Shape, color: Color, rounding_m: float) -> BodyTriangles:
    """Return the surface of a shape in its object's frame.

    Args:
        shape: The shape.
        color: sRGB, 0 to 1.
        rounding_m: Largest radius of its edges, m.
    """
    if shape.kind is ShapeKind.CONVEX:
        corners, normals = _hull(np.asarray(shape.vertices))
    elif shape.kind is ShapeKind.MESH:
        corners, normals = _flat(np.asarray(shape.vertices)[np.asarray(shape.triangles)])
    elif shape.kind is ShapeKind.BOX:
        rounding_m = min(rounding_m, 0.45 * float(shape.size.min()))
        corners, normals = _rounded_box(shape.size / 2.0 - rounding_m, rounding_m)
    else:
        radius = float(shape.size[0])
        half = 0.0 if shape.kind is ShapeKind.SPHERE else float(shape.size[1]) / 2.0
        edge = min(rounding_m, 0.9 * radius, 0.9 * half) if shape.kind is ShapeKind.CYLINDER else radius
        core = half - edge if shape.kind is ShapeKind.CYLINDER else half
        corners, normals = _revolved(radius - edge, core, edge)
    linear = np.array(color) ** 2.2
    return BodyTriangles(corners, normals, np.tile(linear, (len(corners), 1))).moved(shape.object_T_shape)


def link_solids(robot: Robot, folder: Path) -> dict[str, BodyTriangles]:
    """Return the surface of each link by the visuals of the URDF; hand and fingers are dark.

    Meshes are drawn as their hulls.

    Args:
        robot: The robot.
        folder: Folder of its description, with the meshes.

    Returns:
        Surfaces in the links' frames, by link.
    """
    dark = {arm.ee_link for arm in robot.arms.values()}
    for arm in robot.arms.values():
        dark.update(arm.gripper.finger_links if arm.gripper is not None else ())
    solids = {}
    for link in ET.fromstring(robot.urdf).findall("link"):
        name = link.get("name", "")
        color = (0.25, 0.26, 0.29) if name in dark else (0.90, 0.90, 0.92)
        shapes = [_visual(visual, folder) for visual in link.findall("visual")]
        solids[name] = joined([solid_of(shape, color, 0.018) for shape in shapes if shape is not None])
    return solids


def _visual(visual: ET.Element, folder: Path) -> Shape | None:
    origin = visual.find("origin")
    xyz, rpy = ((0.0, 0.0, 0.0) if origin is None else _numbers(origin, key) for key in ("xyz", "rpy"))
    pose = Pose.of(xyz, Rotation.from_rpy(*rpy))
    for part in visual.iterfind("geometry/*"):
        if part.tag == "box":
            return Shape(ShapeKind.BOX, frozen(_numbers(part, "size")), pose)
        if part.tag == "cylinder":
            return Shape(
                ShapeKind.CYLINDER, frozen([*_numbers(part, "radius"), *_numbers(part, "length")]), pose
            )
        if part.tag == "sphere":
            return Shape(ShapeKind.SPHERE, frozen(_numbers(part, "radius")), pose)
        path = folder / part.get("filename", "").removeprefix("file://")
        if part.tag == "mesh" and path.suffix.lower() in (".obj", ".stl"):
            return Shape(ShapeKind.CONVEX, frozen(()), pose, frozen(hull_vertices(path)))
    return None


def _numbers(element: ET.Element, key: str) -> tuple[float, ...]:
    return tuple(float(word) for word in element.get(key, "0 0 0").split())


def _flat(corners: Array) -> tuple[Array, Array]:
    """Return triangles (k, 3, 3) as they are, each with one normal."""
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)
    return corners, np.repeat(normals[:, None], 3, axis=1)


def _grid(points: Array, normals: Array) -> tuple[Array, Array]:
    """Return triangles between neighbours in a grid (rows, columns, 3)."""

    def triangles(grid: Array) -> Array:
        a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
        both = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
        return both.reshape(-1, 3, 3)

    return triangles(points), triangles(normals)


def _polar(turns: int) -> tuple[Array, Array]:
    """Return the angle from the pole in both halves, the equator twice, and the half's sign."""
    quarter = np.linspace(0.0, np.pi / 2.0, turns + 1)
    return np.concatenate([quarter, quarter + np.pi / 2.0]), np.repeat([1.0, -1.0], turns + 1)


def _revolved(core_radius: float, core_half: float, edge: float) -> tuple[Array, Array]:
    """Return a disc or line, thickened by a ball of radius ``edge``: cylinder, capsule and sphere alike."""
    theta, sign = _polar(ARC if core_radius > 0.0 else 8)
    phi = np.linspace(0.0, 2.0 * np.pi, SEGMENTS + 1)
    # The axis itself first and last, so that the ends are closed.
    radial = np.concatenate([[0.0], core_radius + edge * np.sin(theta), [0.0]])
    along = sign * core_half + edge * np.cos(theta)
    along = np.concatenate([along[:1], along, along[-1:]])
    theta = np.concatenate([[0.0], theta, [np.pi]])
    ring = np.stack([np.cos(phi), np.sin(phi), np.zeros_like(phi)], axis=-1)
    up = np.array([0.0, 0.0, 1.0])
    points = radial[:, None, None] * ring + along[:, None, None] * up
    normals = np.sin(theta)[:, None, None] * ring + np.cos(theta)[:, None, None] * up
    return _grid(points, normals)


def _rounded_box(core: Array, edge: float) -> tuple[Array, Array]:
    """Return a box of half edges ``core``, thickened by a ball of radius ``edge``."""
    theta, sign = _polar(ARC)
    quarter = np.linspace(0.0, np.pi / 2.0, ARC + 1)
    phi = np.concatenate([quarter + i * np.pi / 2.0 for i in range(5)])[: 4 * ARC + 5]
    sides = np.repeat(
        np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]]), ARC + 1, axis=0
    )
    sides = sides[: len(phi)]
    normals = np.stack(
        [
            np.sin(theta)[:, None] * np.cos(phi),
            np.sin(theta)[:, None] * np.sin(phi),
            np.broadcast_to(np.cos(theta)[:, None], (len(theta), len(phi))),
        ],
        axis=-1,
    )
    signs = np.empty_like(normals)
    signs[..., :2], signs[..., 2] = sides, sign[:, None]
    points = edge * normals + signs * core
    caps = [points[i][[0, 4, 8, 0, 8, 12]].reshape(2, 3, 3) for i in (0, -1)]
    cap_normals = [np.tile([0.0, 0.0, s], (2, 3, 1)) for s in (1.0, -1.0)]
    corners, across = _grid(points, normals)
    return np.concatenate([corners, *caps]), np.concatenate([across, *cap_normals])


def _hull(vertices: Array) -> tuple[Array, Array]:
    hull = ConvexHull(vertices)
    normals = np.repeat(hull.equations[:, None, :3], 3, axis=1)
    return np.asarray(vertices[hull.simplices], dtype=np.float64), np.asarray(normals, dtype=np.float64)
