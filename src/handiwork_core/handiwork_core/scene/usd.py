"""Solids of OpenUSD files (.usd, .usda, .usdc, .usdz), in metres and with z up. Needs usd-core."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.intake.limits import MESH_BYTES, MESH_TRIANGLES
from handiwork_core.intake.regular_files import FileRefused, check_file
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind

from .usd_gprims import READERS, Attributes

if TYPE_CHECKING:
    from pxr import Usd

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
Z_FROM_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True, slots=True, eq=False)
class UsdPart:
    """One mesh or gprim.

    Attributes:
        path: Path of its prim.
        points: Points whose convex hull represents it, (n, 3), m.
    """

    path: str
    points: Array


def usd_shapes(file: Path, prim: str = "") -> tuple[Shape, ...]:
    """Return a convex solid for every part that has volume; if none has, one around all parts.

    Args:
        file: The OpenUSD file.
        prim: Path of a prim; empty: the default prim, else the whole file.

    Raises:
        ValueError: The file cannot be read, has no such prim or no usable geometry, or all parts together are flat.
    """
    parts = usd_parts(file, prim)
    solid = [corners for corners in (_hull_corners(part.points) for part in parts) if corners is not None]
    if not solid:
        around = _hull_corners(np.vstack([part.points for part in parts]))
        if around is None:
            raise ValueError(f"{file}: {parts[0].path} is flat or tiny; give it a volume")
        solid = [around]
    return tuple(Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), frozen(points)) for points in solid)


def usd_parts(file: Path, prim: str = "") -> tuple[UsdPart, ...]:
    """Return meshes and gprims below a prim, instances included.

    Their points are in the frame of that prim without its scale, shear or mirroring, in metres for any unit of the
    file, with z up for any axis of the file. Invisible prims and guides are left out; proxies count only if there is no
    other geometry.

    Args:
        file: The OpenUSD file.
        prim: Path of a prim; empty: the default prim, else the whole file.

    Raises:
        ValueError: The file cannot be read, has no such prim, or no usable geometry; the message names file and prim.
    """
    stage = _opened(file)
    from pxr import Usd, UsdGeom

    root = stage.GetPrimAtPath(prim) if prim else stage.GetDefaultPrim() or stage.GetPseudoRoot()
    if not root:
        raise ValueError(
            f"{file}: has no prim {prim!r}; it has {[str(p.GetPath()) for p in stage.Traverse()][:20]}"
        )
    cache = UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    up = Z_FROM_Y_UP if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y else np.eye(3)
    home = np.array(cache.GetLocalToWorldTransform(root))
    turn, place = rigid_part(home[:3, :3].T), home[3, :3]
    parts = []
    for item in _chosen(root):
        matrix = np.array(cache.GetLocalToWorldTransform(item))
        points = _local_points(file, item) @ matrix[:3, :3] + matrix[3, :3]
        parts.append(UsdPart(str(item.GetPath()), frozen((points - place) @ turn @ up.T * unit)))
    if not parts:
        raise ValueError(f"{file}: {root.GetPath()} holds no visible mesh or gprim; name another prim")
    return tuple(parts)


def rigid_part(linear: Array) -> Array:
    """Return the rotation of a linear map, without its scale, shear and mirroring (polar decomposition by SVD).

    A mirroring does not define which axis it reverses; the axis with the smallest rotation is taken.

    Args:
        linear: Linear map, (3, 3).

    Returns:
        Rotation matrix, (3, 3).

    Raises:
        ValueError: The map is flat.
    """
    if abs(np.linalg.det(linear)) < 1e-18:
        raise ValueError("a prim is scaled to nothing; give it a scale other than 0")
    left, _, right = np.linalg.svd(linear)
    turn = left @ right
    if np.linalg.det(turn) > 0.0:
        return np.asarray(turn)
    flips = [turn @ np.diag(signs) for signs in ((-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0))]
    return np.asarray(max(flips, key=np.trace))


def _opened(file: Path) -> Usd.Stage:
    try:
        from pxr import Tf, Usd
    except ImportError as error:
        raise ValueError(f"{file}: reading it needs usd-core; pip install -r requirements/usd.txt") from error
    try:
        check_file(file, MESH_BYTES)
    except FileRefused as error:
        raise ValueError(f"{file}: {error}") from error
    try:
        return Usd.Stage.Open(str(file))
    except Tf.ErrorException as error:
        raise ValueError(
            f"{file}: is no OpenUSD file, or broken: {str(error).strip().splitlines()[-1]}"
        ) from error


def _chosen(root: Usd.Prim) -> list[Any]:
    """Return the prims with geometry that counts."""
    from pxr import Usd, UsdGeom

    found: dict[str, list[Any]] = {}
    for item in Usd.PrimRange(root, Usd.TraverseInstanceProxies()):
        if item.GetTypeName() in READERS:
            image = UsdGeom.Imageable(item)
            if image.ComputeVisibility(Usd.TimeCode.EarliestTime()) != UsdGeom.Tokens.invisible:
                found.setdefault(str(image.ComputePurpose()), []).append(item)
    return [*found.get("default", []), *found.get("render", [])] or found.get("proxy", [])


def _local_points(file: Path, item: Usd.Prim) -> Array:
    try:
        points = READERS[item.GetTypeName()](Attributes(item))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {item.GetPath()} cannot be read: {error}; export it again") from error
    if not len(points) or not np.isfinite(points).all():
        raise ValueError(
            f"{file}: {item.GetPath()} has no points, or some that are no numbers; export it again"
        )
    if len(points) > 3 * MESH_TRIANGLES:
        raise ValueError(
            f"{file}: {item.GetPath()} has {len(points)} points; at most {3 * MESH_TRIANGLES} are read"
        )
    return points


def _hull_corners(points: Array) -> Array | None:
    """Return the corners of the convex hull, or None if it is flat."""
    try:
        found = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    return np.asarray(points[found.vertices]) if found.volume > 1e-15 else None
