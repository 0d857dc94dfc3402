"""Rays from points tell what is inside a closed mesh, as its winding number does."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Array
from handiwork_core.scene.mesh_file import surface_mesh
from robot_description.solids.mesh_solid import MeshSolid
from robot_description.solids.ray_crossings import RayCrossings
from robot_description.solids.winding_number import WindingTree
from support.paths import DATA

VERTICES, TRIANGLES = surface_mesh(DATA / "robots" / "bench_arm" / "elbow.obj")
ELBOW = VERTICES[TRIANGLES]
RNG = np.random.default_rng(0)
EVERYWHERE = RNG.uniform((-0.1, -0.1, -0.1), (0.3, 0.1, 0.3), (20_000, 3))


def is_inside(corners: Array, points: Array) -> Array:
    """Return what rays tell of a mesh that closes."""
    rays = RayCrossings.of(corners)
    assert rays is not None
    return rays.is_inside(points)


@pytest.mark.parametrize(
    "turn", [np.eye(3), np.linalg.qr(RNG.normal(size=(3, 3)))[0]], ids=["as it is", "turned"]
)
def test_what_is_inside_is_what_the_mesh_winds_about(turn: Array) -> None:
    corners, points = ELBOW @ turn, EVERYWHERE @ turn
    expected = WindingTree.of(corners).is_inside(points)
    assert 1000 < expected.sum() < 15_000
    assert (is_inside(corners, points) == expected).all()


def test_rays_through_corners_and_edges_are_counted_once() -> None:
    # All coordinates of the grid are those of corners or of middles of edges: each ray hits several triangles there.
    x, y, z = np.unique(VERTICES[:, 0]), np.unique(VERTICES[:, 1]), np.unique(VERTICES[:, 2])
    axes = [np.unique(np.concatenate([v, 0.5 * (v[1:] + v[:-1])])) for v in (x, y, z)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    off = np.abs(MeshSolid.of(VERTICES, TRIANGLES, 0.002).distance(points)) > 0.003
    assert off.sum() > 10
    assert (is_inside(ELBOW, points[off]) == WindingTree.of(ELBOW).is_inside(points[off])).all()


def test_two_solids_that_overlap_are_inside_where_one_is() -> None:
    both = np.concatenate([ELBOW, ELBOW + (0.03, 0.02, 0.01)])
    one = is_inside(ELBOW, EVERYWHERE) | is_inside(ELBOW, EVERYWHERE - (0.03, 0.02, 0.01))
    assert (is_inside(both, EVERYWHERE) == one).all()


def test_a_small_hole_is_closed_and_a_large_one_left_to_solid_angles() -> None:
    quarters = ELBOW
    for _ in range(4):  # each triangle into four
        a, b, c = quarters[:, 0], quarters[:, 1], quarters[:, 2]
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        quarters = np.concatenate([np.stack(part, axis=1) for part in parts])
    holed = np.delete(quarters, [7, 1000, 1001], axis=0)
    assert (is_inside(holed, EVERYWHERE) == is_inside(ELBOW, EVERYWHERE)).all()
    assert RayCrossings.of(ELBOW[1:]) is None
    assert isinstance(MeshSolid.of(VERTICES, TRIANGLES[1:], 0.003).winding, WindingTree)
    assert isinstance(MeshSolid.of(VERTICES, TRIANGLES, 0.003).winding, RayCrossings)
