"""Cuts meshes into convex parts: simulators take the hull of each mesh, which fills the space between two jaws."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices

Part = tuple[Array, Indices]
"""Vertices, (n, 3), m, and triangles, (m, 3), outwards, of a convex solid."""

CONCAVITY = 0.1
"""Largest concavity of a part, as the library measures it, in half widths of the mesh."""
CELLS, VERTICES = 40, 64
"""Cells of the widest side at which a mesh is closed before it is cut, and largest number of corners of a part."""
SEARCH = {"resolution": 1000, "mcts_nodes": 10, "mcts_iterations": 50, "mcts_max_depth": 2}
"""A shallow search for each cut: some seconds of processor time for a jaw, and more parts than the deepest one."""


def convex_parts(vertices: Array, triangles: Indices) -> list[Part]:
    """Cut a mesh into convex parts that cover it; the same mesh always gives the same parts.

    Args:
        vertices: Vertices, (n, 3), m.
        triangles: Indices of the corners, (m, 3); the surface need not be closed.

    Returns:
        The parts; one where the mesh is convex within ``CONCAVITY``.
    """
    import coacd  # a large library, and needed by this command alone

    coacd.set_log_level("error")
    found = coacd.run_coacd(
        coacd.Mesh(np.asarray(vertices, dtype=np.float64), np.asarray(triangles, dtype=np.int32)),
        threshold=CONCAVITY,
        preprocess_mode="on",
        preprocess_resolution=CELLS,
        decimate=True,
        max_ch_vertex=VERTICES,
        seed=0,
        **SEARCH,
    )
    return [(np.asarray(points), np.asarray(faces, dtype=np.int64)) for points, faces in found]


def write_stl(path: Path, part: Part) -> None:
    """Write a part as a binary STL file.

    Args:
        path: The file.
        part: The part.

    Raises:
        OSError: The file cannot be written.
    """
    corners = np.asarray(part[0], dtype="<f4")[part[1]]
    rows = np.zeros(len(corners), dtype=np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
    rows["v"] = corners
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(rows)) + rows.tobytes())
