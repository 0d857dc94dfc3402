"""Loads mesh files as convex hulls, or as the solids that they enclose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from handiwork_core.intake.limits import MESH_BYTES, MESH_TRIANGLES
from handiwork_core.intake.regular_files import FileRefused, read_bytes
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices

from .collada_file import collada_mesh
from .mesh import closed_mesh

STL_RECORD = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def hull_vertices(path: Path) -> Array:
    """Return the vertices of the convex hull of a mesh file.

    Args:
        path: An .obj, .stl or .dae file.

    Returns:
        Vertices, (n, 3), in the file's units.

    Raises:
        ValueError: The file cannot be read, has another ending, or is flat.
    """
    points, _ = _read(path)
    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=np.float64)
    except QhullError as error:
        raise ValueError(f"mesh {path} is flat and has no hull; give it thickness") from error


def solid_mesh(path: Path) -> tuple[Array, Indices]:
    """Return the solid in a mesh file.

    Args:
        path: An .obj, .stl or .dae file.

    Returns:
        Vertices, (n, 3), in the file's units, and triangles, (m, 3).

    Raises:
        ValueError: The file cannot be read, has another ending, or its surface does not close (``closed_mesh``).
    """
    points, triangles = _read(path)
    try:
        return closed_mesh(points, triangles)
    except ValueError as error:
        raise ValueError(f"mesh {path} {error}") from error


def surface_mesh(path: Path) -> tuple[Array, Indices]:
    """Return the surface in a mesh file, closed or not.

    Args:
        path: An .obj, .stl or .dae file.

    Returns:
        Vertices, (n, 3), in the file's units, and triangles, (m, 3).

    Raises:
        ValueError: The file cannot be read, has another ending, or holds no triangle.
    """
    points, triangles = _read(path)
    if not len(triangles):
        raise ValueError(f"mesh {path} holds no triangle; export it again")
    return points, triangles


def _read(path: Path) -> tuple[Array, Indices]:
    """Return all vertices and triangles of a file; polygons are cut into fans."""
    try:
        data = read_bytes(path, MESH_BYTES)
    except FileRefused as error:
        raise ValueError(f"mesh {path} {error}") from error
    _check_count(path, data)
    if path.suffix.lower() == ".obj":
        points = _rows(data, b"v")
        triangles = _faces(path, data, len(points))
    elif path.suffix.lower() == ".stl":
        is_text = data[:5] == b"solid" and b"facet" in data[:1000]
        points = _rows(data, b"vertex") if is_text else _binary_stl(data)
        triangles = np.arange(len(points) // 3 * 3, dtype=np.int64).reshape(-1, 3)
    elif path.suffix.lower() == ".dae":
        points, triangles = _collada(path, data)
    else:
        raise ValueError(f"mesh {path} is no .obj, .stl or .dae; convert it")
    if len(points) < 4 or not np.isfinite(points).all():
        raise ValueError(f"mesh {path} holds {len(points)} usable vertices; export it again")
    return points, triangles


def _collada(path: Path, data: bytes) -> tuple[Array, Indices]:
    try:
        points, triangles = collada_mesh(data)
    except ValueError as error:
        raise ValueError(f"mesh {path} {error}") from error
    if len(triangles) > MESH_TRIANGLES:
        raise ValueError(
            f"mesh {path} has {len(triangles)} triangles; at most {MESH_TRIANGLES} are read, simplify it"
        )
    return points, triangles


def _check_count(path: Path, data: bytes) -> None:
    """Count the triangles roughly, before the data is parsed."""
    if path.suffix.lower() == ".dae":
        return  # its polygons are counted once they are parsed; the file's size bounds them
    is_obj = path.suffix.lower() == ".obj"
    binary = (len(data) - 84) // STL_RECORD.itemsize
    is_text = data[:5] == b"solid" and b"facet" in data[:1000]
    count = data.count(b"\nf") if is_obj else data.count(b"facet") // 2 if is_text else binary
    if count > MESH_TRIANGLES:
        raise ValueError(f"mesh {path} has {count} faces; at most {MESH_TRIANGLES} are read, simplify it")


def _faces(path: Path, data: bytes, count: int) -> Indices:
    """Return triangles (m, 3) of lines like ``f 1/1 2//5 -1``: indices from 1 on, or back from the last vertex read."""
    found, seen = [], 0
    for line in data.splitlines():
        words = line.split()
        seen += words[:1] == [b"v"]
        if words[:1] != [b"f"]:
            continue
        try:
            face = [int(word.split(b"/")[0]) for word in words[1:]]
        except ValueError as error:
            raise ValueError(f"mesh {path}: {line[:80]!r} is no face; export it again") from error
        face = [i - 1 if i > 0 else seen + i for i in face]
        if len(face) < 3 or not all(0 <= i < count for i in face):
            raise ValueError(f"mesh {path}: {line[:80]!r} is no face of {count} vertices; export it again")
        found += [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]
        if len(found) > MESH_TRIANGLES:
            raise ValueError(f"mesh {path} has more than {MESH_TRIANGLES} triangles; simplify it")
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def _rows(data: bytes, keyword: bytes) -> Array:
    rows = [line.split()[1:4] for line in data.splitlines() if line.split()[:1] == [keyword]]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _binary_stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], "little")
    if len(data) < 84 + count * STL_RECORD.itemsize:
        raise ValueError(f"binary STL says {count} triangles but holds {len(data)} bytes; export it again")
    records = np.frombuffer(data, STL_RECORD, count, offset=84)
    return records["corners"].reshape(-1, 3).astype(np.float64)
