"""Convex hulls of world objects: built once for each content, and kept."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import hull_points

OPEN_TOP_NORMAL_Z = 0.7
"""z of the normal from which a hull's face belongs to the open top."""

MIN_THICKNESS_M = 1e-5

SAME_PLANE_DECIMALS = 9


class GeometryError(ValueError):
    """An object has no volume to decide on; the message names it."""


@dataclass(frozen=True, slots=True, eq=False)
class Faces:
    """The planes of a hull.

    Attributes:
        packed: Outward unit normals in three rows, then offsets, (4, n), m.
        labels: Name of each plane.
    """

    packed: Array
    labels: tuple[str, ...]

    @classmethod
    def of(cls, planes: Array) -> Faces:
        """Pack planes.

        Args:
            planes: Outward unit normal and offset, (n, 4), m.
        """
        return cls(frozen(np.ascontiguousarray(planes.T)), tuple(_label(plane[:3]) for plane in planes))


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """The convex hull of an object, in the object's frame.

    A point p is inside where ``normal . p + offset <= 0`` for all planes.

    Attributes:
        vertices: Corners, (n, 3), m.
        triangles: Corners of the surface by row of ``vertices``, (t, 3).
        planes: Outward unit normal and offset of each flat face, (m, 4), m.
        open_planes: The planes without the faces of the open top, (k, 4), m.
        closed_faces: ``planes``, packed.
        open_faces: ``open_planes``, packed.
        centroid: Centroid of the volume, (3,), m.
        vertex_mean: Mean of the corners, (3,), m.
        top_z: z of the highest corner, m.
        height: Height along z, m.
        half: Half the edges of the box around it along its own axes, (3,), m.
        centroid_spot: ``centroid`` and ``half`` in rows, (2, 3), m.
        mean_spot: ``vertex_mean`` and ``half`` in rows, (2, 3), m.
        bulk: Edge of a cube of the same volume, m.
    """

    vertices: Array
    triangles: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    planes: Array
    open_planes: Array
    closed_faces: Faces
    open_faces: Faces
    centroid: Array
    vertex_mean: Array
    top_z: float
    height: float
    half: Array
    centroid_spot: Array
    mean_spot: Array
    bulk: float


@functools.lru_cache(maxsize=1024)
def hull(item: WorldObject) -> Hull:
    """Return the hull over all shapes of an object. Equal geometry is built once, also for different objects.

    Args:
        item: The object.

    Raises:
        GeometryError: The geometry is flat, tiny or empty.
    """
    points = np.vstack([np.zeros((0, 3)), *(hull_points(shape) for shape in item.shapes)])
    found = _built(Points(points))
    if isinstance(found, str):
        raise GeometryError(f"object {item.name!r} {found}")
    return found


def hull_of(points: Array, name: str) -> Hull:
    """Return the hull of points.

    Args:
        points: (n, 3), m.
        name: Name of the object, for the error.

    Raises:
        GeometryError: There are fewer than four points, they are not finite, or thinner than ``MIN_THICKNESS_M`` in
            some direction.
    """
    return hull(WorldObject(name, (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), frozen(points)),)))


class Points:
    """Points with the hash of their content, as a key.

    Args:
        points: The points, or any other numbers.
    """

    __slots__ = ("digest", "points")

    def __init__(self, points: Array) -> None:
        self.points = points
        self.digest = hashlib.blake2b(np.ascontiguousarray(points).tobytes(), digest_size=16).digest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Points) and self.digest == other.digest


@functools.lru_cache(maxsize=1024)
def _built(key: Points) -> Hull | str:
    """Return the hull, or why there is none; both are kept."""
    points = key.points
    if len(points) < 4 or not np.isfinite(points).all():
        return "has no usable geometry; give it a solid with volume"
    spread = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    thickness = float(np.ptp(points @ spread.T, axis=0).min())
    if thickness < MIN_THICKNESS_M:
        return f"is flat or tiny ({thickness:.1e} m thick); give it a volume"
    try:
        found = ConvexHull(points)
    except QhullError as error:
        return f"has no convex hull: {str(error).splitlines()[0]}"
    vertices = points[found.vertices]
    row_of = np.zeros(len(points), dtype=np.int64)
    row_of[found.vertices] = np.arange(len(vertices))
    planes = found.equations
    _, first = np.unique(planes.round(SAME_PLANE_DECIMALS), axis=0, return_index=True)
    planes = planes[np.sort(first)]
    open_planes = planes[planes[:, 2] < OPEN_TOP_NORMAL_Z]
    centroid, mean = _volume_centroid(points[found.simplices], vertices.mean(axis=0)), vertices.mean(axis=0)
    half = np.ptp(vertices, axis=0) / 2.0
    return Hull(
        frozen(vertices),
        row_of[found.simplices],
        frozen(planes),
        frozen(open_planes),
        Faces.of(planes),
        Faces.of(open_planes),
        frozen(centroid),
        frozen(mean),
        float(vertices[:, 2].max()),
        float(np.ptp(vertices[:, 2])),
        frozen(half),
        frozen(np.stack([centroid, half])),
        frozen(np.stack([mean, half])),
        float(np.cbrt(found.volume)),
    )


def _volume_centroid(triangles: Array, inner: Array) -> Array:
    """Return the centroid (3,) of the body between ``triangles`` (n, 3, 3) and the point ``inner`` (3,) within it."""
    edges = triangles - inner
    volumes = np.abs(np.einsum("ij,ij->i", edges[:, 0], np.cross(edges[:, 1], edges[:, 2])))
    middles = (triangles.sum(axis=1) + inner) / 4.0
    return np.asarray(volumes @ middles / volumes.sum(), dtype=np.float64)


def _label(normal: Array) -> str:
    """Return a name such as "+x" for a face along an axis, else its normal."""
    axis = int(np.argmax(np.abs(normal)))
    if abs(normal[axis]) > 0.999:
        return f"{'+' if normal[axis] > 0.0 else '-'}{'xyz'[axis]}"
    return f"({normal[0]:.2f}, {normal[1]:.2f}, {normal[2]:.2f})"
