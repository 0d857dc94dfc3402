"""A mesh with a space between two jaws is cut into convex parts that leave the space free."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices
from handiwork_core.scene.mesh_file import hull_vertices
from robot_description.import_robot.output_files.portable_urdf import PortableUrdf
from robot_description.solids.convex_hulls import VERTICES
from robot_description.solids.convex_parts import CONCAVITY, MOST, convex_parts, write_stl

OUTLINE = ((-0.03, -0.03), (0.03, -0.03), (0.03, 0.03), (0.02, 0.03), (0.02, -0.02), (-0.02, -0.02),
           (-0.02, 0.03), (-0.03, 0.03))  # fmt: skip
"""A fork of two jaws of 10 mm with 40 mm between them, x and y, m."""
BETWEEN = np.array([(x, 0.01, 0.0) for x in (-0.012, 0.0, 0.012)])
JAWS = np.array([(x, 0.01, 0.0) for x in (-0.025, 0.025)])


def fork() -> tuple[Array, Indices]:
    """Return the fork, 20 mm thick, with outward triangles."""
    flat, n = np.array(OUTLINE), len(OUTLINE)
    vertices = np.concatenate([np.column_stack([flat, np.full(n, z)]) for z in (-0.01, 0.01)])
    sides = [face for a, b in pairwise([*range(n), 0]) for face in ((a, b, n + b), (a, n + b, n + a))]
    caps = [(0, 4, 5), (0, 1, 4), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)]
    faces = [*sides, *((c, b, a) for a, b, c in caps), *((a + n, b + n, c + n) for a, b, c in caps)]
    return vertices, np.array(faces)


def covered(hulls: list[Array], points: Array) -> list[bool]:
    """Return which points lie in the hull of some of the sets of points."""
    inside = [Delaunay(hull).find_simplex(points) >= 0 for hull in hulls]
    return [bool(any(row[i] for row in inside)) for i in range(len(points))]


def test_the_space_between_the_jaws_is_free_and_the_jaws_stay() -> None:
    vertices, triangles = fork()
    assert all(covered([vertices], BETWEEN)), "the hull of the whole fills the space"
    hulls = [points for points, _ in convex_parts(vertices, triangles)]
    assert not any(covered(hulls, BETWEEN))
    assert all(covered(hulls, JAWS))
    every = np.concatenate(hulls)
    np.testing.assert_allclose(np.ptp(every, axis=0), np.ptp(vertices, axis=0), atol=0.002)


def test_a_convex_mesh_stays_one() -> None:
    corners = np.random.default_rng(0).normal(size=(60, 3)) * 0.02
    hull = ConvexHull(corners)
    assert len(convex_parts(corners, hull.simplices)) == 1


def test_parts_cover_a_round_mesh_and_stick_out_little() -> None:
    turns = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    tube = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    around, about = np.meshgrid(turns, tube, indexing="ij")
    far = 0.03 + 0.008 * np.cos(about)
    ring = np.stack([far * np.cos(around), far * np.sin(around), 0.008 * np.sin(about)], axis=2).reshape(
        -1, 3
    )
    i, j = np.meshgrid(np.arange(60), np.arange(24), indexing="ij")
    a, b, c, d = (((i + x) % 60 * 24 + (j + y) % 24).ravel() for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    parts = convex_parts(ring, triangles)
    assert 3 < len(parts) <= MOST
    assert max(len(points) for points, _ in parts) <= VERTICES
    on_it = ring[triangles].mean(axis=1)
    grown = [points + 1e-6 * (points - points.mean(axis=0)) / 0.01 for points, _ in parts]
    assert all(covered(grown, on_it[::7]))
    for points, faces in parts:
        corners = points[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (np.einsum("ij,ij->i", normals, corners.mean(axis=1) - points.mean(axis=0)) > 0.0).all()
        middles = corners.mean(axis=1)
        out = np.hypot(np.hypot(middles[:, 0], middles[:, 1]) - 0.03, middles[:, 2]) - 0.008
        assert out.max() <= 0.5 * CONCAVITY * 0.076 + 0.0005


def test_a_urdf_gets_the_parts_where_the_mesh_was(tmp_path: Path) -> None:
    vertices, triangles = fork()
    write_stl(tmp_path / "fork.stl", (1e3 * vertices, triangles))
    shape = (
        '<origin xyz="0.1 0 0"/><geometry><mesh filename="fork.stl" scale="0.001 0.001 0.001"/></geometry>'
    )
    link = '<link name="{}"><visual>{}</visual><collision>{}</collision></link>'
    text = f'<robot name="r">{link.format("hand", shape, shape)}{link.format("palm", shape, shape)}</robot>'
    portable = PortableUrdf(text, tmp_path / "r.urdf")
    portable.cut({"hand"})
    (tmp_path / "out").mkdir()
    portable.write(tmp_path / "out", "r.urdf")
    root = ET.fromstring(portable.text)
    hand, palm = root.findall("link")
    assert len(palm.findall("collision")) == 1
    assert len(hand.findall("visual")) == 1
    meshes = hand.findall("collision/geometry/mesh")
    assert len(meshes) > 2
    assert [mesh.get("scale") for mesh in meshes] == [None] * len(meshes)
    assert {origin.get("xyz") for origin in hand.findall("collision/origin")} == {"0.1 0 0"}
    hulls = [hull_vertices(tmp_path / "out" / mesh.get("filename", "")) for mesh in meshes]
    assert covered(hulls, BETWEEN) == [False] * 3
    assert covered(hulls, JAWS) == [True] * 2
    (note,) = portable.assumed
    assert note.startswith(f"link hand: a mesh of it is cut into {len(meshes)} convex parts")


def test_a_thin_plate_keeps_its_thickness() -> None:
    half = np.array([0.03, 0.01, 0.00025])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    (part,) = convex_parts(corners, ConvexHull(corners).simplices)
    assert np.ptp(part[0], axis=0) == pytest.approx(2.0 * half)
