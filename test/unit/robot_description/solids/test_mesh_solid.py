"""Distances to a mesh and the points in it are those of its solid."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.scene.mesh_file import surface_mesh
from robot_description.solids.link_solids import link_solids
from robot_description.solids.mesh_solid import (
    MeshSolid,
    surface_points,
)
from robot_description.solids.primitives import union_distance
from robot_description.solids.winding_number import WindingTree
from robot_description.spheres.link_spheres import Allowance, fit_link, worst_gap
from robot_description.spheres.sphere_cover import coverage, fitted
from support.paths import DATA

BENCH = DATA / "robots" / "bench_arm"
VERTICES, TRIANGLES = surface_mesh(BENCH / "elbow.obj")
ELBOW = MeshSolid.of(VERTICES, TRIANGLES, 0.003)
# The L as two boxes: x from, to and z from, to; y is 0.035 to both sides.
BARS = (((-0.04, 0.22), (0.0, 0.07)), ((-0.04, 0.04), (0.07, 0.2)))


def in_the_l(points: np.ndarray) -> np.ndarray:
    x, y, z = points.T
    inside = [(x >= a) & (x <= b) & (z >= c) & (z <= d) & (np.abs(y) <= 0.035) for (a, b), (c, d) in BARS]
    return inside[0] | inside[1]


def test_what_is_inside_an_l_is_inside_one_of_its_bars() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform((-0.1, -0.1, -0.1), (0.3, 0.1, 0.3), (4000, 3))
    expected = in_the_l(points)
    assert 200 < expected.sum() < 3000
    assert (ELBOW.winding.is_inside(points) == expected).all()


def test_a_mesh_with_a_hole_keeps_its_inside() -> None:
    middle = np.array([[0.1, 0.0, 0.035], [0.1, 0.0, 0.12]])
    assert WindingTree.of(VERTICES[TRIANGLES][1:]).is_inside(middle).tolist() == [True, False]


def test_distances_are_off_by_less_than_the_spacing() -> None:
    # In the long bar's middle the faces at y are nearest; above the tip the top is.
    points = np.array([[0.1, 0.01, 0.035], [0.0, 0.0, 0.25], [0.5, 0.0, 0.03]])
    assert ELBOW.distance(points) == pytest.approx([-0.025, 0.05, 0.28], abs=0.001)


def test_samples_lie_on_the_surface_as_densely_as_asked() -> None:
    rng = np.random.default_rng(1)
    weights = rng.dirichlet((1, 1, 1), (len(TRIANGLES), 50))
    on_it = np.einsum("mkw,mwx->mkx", weights, VERTICES[TRIANGLES]).reshape(-1, 3)
    samples = surface_points(VERTICES[TRIANGLES], 0.003)
    assert max(np.linalg.norm(samples - p, axis=1).min() for p in on_it) < 0.003


@pytest.mark.parametrize("step_m", [0.01, 0.05, 1.0])
def test_few_points_are_as_wide_apart_as_many(step_m: float) -> None:
    np.testing.assert_allclose(np.ptp(ELBOW.grid(step_m), axis=0), np.ptp(VERTICES, axis=0), atol=1e-9)


@pytest.mark.slow
def test_spheres_cover_a_mesh_and_leave_its_notch_free() -> None:
    centers, radii = fit_link((ELBOW,), Allowance(0.012, 0.003), 0.01, rounds=1)
    assert worst_gap((ELBOW,), centers, radii, 0.005) <= 0.005
    assert (union_distance((ELBOW,), centers) + radii).max() <= 0.02
    assert np.linalg.norm(centers - (0.15, 0.0, 0.15), axis=1).min() > radii.max()


def test_a_mesh_is_scaled_and_placed_as_the_urdf_says() -> None:
    mesh = '<mesh filename="elbow.obj" scale="2 1 1"/>'
    text = f'<collision><origin xyz="0 0 1" rpy="0 0 1.5707963"/><geometry>{mesh}</geometry></collision>'
    root = ET.fromstring(f'<robot><link name="a">{text}</link></robot>')
    (solid,) = link_solids(root, "a", BENCH)
    points = np.array([[0.0, 0.40, 1.03], [0.0, 0.46, 1.03]])
    assert (solid.distance(points) < 0.0).tolist() == [True, False]


def test_a_mesh_without_triangles_is_named(tmp_path: Path) -> None:
    (tmp_path / "dots.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n")
    with pytest.raises(ValueError, match=r"dots.obj holds no triangle; export it again"):
        surface_mesh(tmp_path / "dots.obj")


def test_the_tree_of_many_triangles_keeps_every_detail() -> None:
    fine = VERTICES[TRIANGLES]
    for _ in range(5):  # each into four
        a, b, c = fine[:, 0], fine[:, 1], fine[:, 2]
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        fine = np.concatenate([np.stack(part, axis=1) for part in parts])
    assert len(fine) > 10_000
    rng = np.random.default_rng(2)
    points = rng.uniform((-0.1, -0.1, -0.1), (0.3, 0.1, 0.3), (20_000, 3))
    assert (WindingTree.of(fine).is_inside(points) == in_the_l(points)).all()


@pytest.mark.slow
def test_no_sphere_of_overlapping_meshes_sticks_out_further_than_promised() -> None:
    moved = MeshSolid.of(VERTICES + (0.03, 0.02, 0.01), TRIANGLES, 0.003)
    (spheres,) = fitted({"elbow": (ELBOW, moved)}, 0.01)
    rng = np.random.default_rng(3)
    rays = rng.normal(size=(500, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    points = (spheres.centers[:, None] + spheres.radii[:, None, None] * rays).reshape(-1, 3)
    out = np.minimum(off_the_l(points), off_the_l(points - (0.03, 0.02, 0.01)))
    assert 0.008 < out.max() <= 0.0101
    assert coverage(spheres, (ELBOW, moved)).protrusion_m == pytest.approx(out.max(), abs=0.0005)


def off_the_l(points: np.ndarray) -> np.ndarray:
    """Return the distance of points from the L, 0 inside."""
    found = []
    for (x0, x1), (z0, z1) in BARS:
        low, high = np.array([x0, -0.035, z0]), np.array([x1, 0.035, z1])
        found.append(np.linalg.norm(np.maximum(np.maximum(low - points, points - high), 0.0), axis=1))
    return np.asarray(np.min(found, axis=0))
