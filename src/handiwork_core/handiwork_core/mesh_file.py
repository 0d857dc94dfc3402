"""Convex hulls of mesh files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from .geometry import Array

STL_RECORD = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def hull_vertices(path: Path) -> Array:
    """Vertices (n, 3) of the convex hull of an .obj or .stl file, in the file's units.

    Raises:
        ValueError: the file cannot be read, has another ending, or is flat.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"mesh {path} cannot be read: {error.strerror}; check the path") from error
    if path.suffix.lower() == ".obj":
        points = _rows(data, b"v")
    elif path.suffix.lower() == ".stl":
        points = (
            _rows(data, b"vertex") if data[:5] == b"solid" and b"facet" in data[:1000] else _binary_stl(data)
        )
    else:
        raise ValueError(f"mesh {path} is no .obj or .stl; convert it")
    if len(points) < 4 or not np.isfinite(points).all():
        raise ValueError(f"mesh {path} holds {len(points)} usable vertices; export it again")
    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=np.float64)
    except QhullError as error:
        raise ValueError(f"mesh {path} is flat and has no hull; give it thickness") from error


def _rows(data: bytes, keyword: bytes) -> Array:
    rows = [line.split()[1:4] for line in data.splitlines() if line.split()[:1] == [keyword]]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _binary_stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], "little")
    if len(data) < 84 + count * STL_RECORD.itemsize:
        raise ValueError(f"binary STL says {count} triangles but holds {len(data)} bytes; export it again")
    records = np.frombuffer(data, STL_RECORD, count, offset=84)
    return records["corners"].reshape(-1, 3).astype(np.float64)
