"""Distances to meshes against slow versions, and motions through and around concave bodies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_planning.distance import mesh_bvh, mesh_sphere_cover, sphere_cover
from handiwork_planning.distance.shapes import to_shape
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.validation import mesh_distances, shape_distances
from support.planning.demo_world import world_of
from support.planning.solids import bowl, box_mesh, frame, revolved

TURNED = Pose.of((0.1, -0.05, 0.2), Rotation.from_rpy(0.4, -0.2, 1.1))
MESHES = {
    "bowl": bowl(pose=TURNED),
    "frame": frame(0.12, 0.07, 0.03, TURNED),
    "spindle": revolved([(0.0, -0.2), (0.15, 0.0), (0.02, 0.05), (0.1, 0.1), (0.0, 0.12)], 13, TURNED),
    "box": box_mesh(np.array([0.1, 0.3, 0.2]), TURNED),
}


def distances(shape: Shape, pose: Pose, points: Array) -> Array:
    """Return distances by the kernels, for points in the shape's frame."""
    scene = CollisionScene()
    scene.update(world_of(("thing", (shape,), pose)))
    world_T_shape = pose @ shape.object_T_shape
    return np.array([to_shape(scene.arrays, 0, *world_T_shape.apply(p)) for p in points])


def points_around(shape: Shape, count: int, seed: int) -> Array:
    """Return points near the surface, in the box, and far away."""
    rng, corners = np.random.default_rng(seed), shape.vertices
    assert corners is not None
    low, high = corners.min(axis=0), corners.max(axis=0)
    return np.concatenate(
        [
            corners[rng.integers(0, len(corners), count)] + 0.01 * rng.normal(size=(count, 3)),
            rng.uniform(low - 0.02, high + 0.02, (count, 3)),
            rng.normal(size=(count, 3)),
        ]
    )


@pytest.mark.parametrize("name", MESHES)
def test_distance_to_a_mesh_matches_the_referee(name: str) -> None:
    shape, pose = MESHES[name], Pose.of((0.3, -0.2, 0.1), Rotation.from_rpy(0.1, 1.2, -0.4))
    points = points_around(shape, 300, 1)
    fast, slow = distances(shape, pose, points), shape_distances.distance(shape, points)
    # Beyond the mesh's box the kernel may be less than the truth, never more.
    assert (fast <= slow + 1e-9).all()
    assert (fast >= slow - 0.02 * np.maximum(slow, 0.0) - 1e-9).all()
    assert shape.vertices is not None
    boxed = ((points > shape.vertices.min(axis=0)) & (points < shape.vertices.max(axis=0))).all(axis=1)
    np.testing.assert_allclose(fast[boxed], slow[boxed], atol=1e-9)
    assert (fast < -1e-3).any() and (fast[boxed] > 0.0).any() == (name != "box")


def test_a_mesh_of_a_box_is_as_far_as_the_box() -> None:
    size = np.array([0.1, 0.3, 0.2])
    solid = Shape(ShapeKind.BOX, size, TURNED)
    points = points_around(box_mesh(size), 400, 2)
    exact = shape_distances.distance(solid, points)
    np.testing.assert_allclose(shape_distances.distance(box_mesh(size), points), exact, atol=1e-12)
    mesh = distances(box_mesh(size), Pose.identity(), points)
    np.testing.assert_allclose(mesh, exact, atol=1e-9, rtol=0.02)


def test_the_solid_angle_of_a_mesh_tells_inside_from_outside() -> None:
    shape = bowl()
    assert shape.vertices is not None and shape.triangles is not None
    corners = shape.vertices[shape.triangles]
    assert mesh_distances._solid_angle(corners, np.array([0.0, 0.0, 0.003])) == pytest.approx(4.0 * np.pi)
    assert mesh_distances._solid_angle(corners, np.array([0.0, 0.0, 0.06])) == pytest.approx(0.0, abs=1e-9)


def test_a_tree_holds_each_triangle_once_inside_its_boxes() -> None:
    shape = bowl(around=50, rings=20)
    assert shape.vertices is not None and shape.triangles is not None
    nodes, faces = mesh_bvh.build(shape.vertices, shape.triangles)
    assert len(faces) == len(shape.triangles)
    wanted = {tuple(np.round(c.ravel(), 9)) for c in shape.vertices[shape.triangles]}
    assert {tuple(np.round(row[:9], 9)) for row in faces} == wanted

    def check(i: int) -> int:
        low, high, at, count = nodes[i, :3], nodes[i, 3:6], int(nodes[i, 6]), int(nodes[i, 7])
        if count:
            corners = faces[at : at + count, :9].reshape(-1, 3)
            assert (corners >= low).all() and (corners <= high).all()
            return count
        for child in (i + 1, at):
            assert (nodes[child, :3] >= low).all() and (nodes[child, 3:6] <= high).all()
        return check(i + 1) + check(at)

    assert check(0) == len(faces)
    assert mesh_bvh.tree_of(shape.vertices, shape.triangles) is mesh_bvh.tree_of(
        shape.vertices.copy(), shape.triangles.copy()
    )


def covered(shape: Shape, seed: int) -> tuple[float, float]:
    """Return the largest distance of a surface point to all spheres, and by which a sphere stands out [m]."""
    rng, balls = np.random.default_rng(seed), sphere_cover.cover(shape)
    assert shape.vertices is not None and shape.triangles is not None
    corners = shape.vertices[shape.triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    chosen = corners[rng.choice(len(corners), 3000, p=areas / areas.sum())]
    points = np.einsum("ki,kij->kj", rng.dirichlet(np.ones(3), 3000), chosen)
    local = shape.object_T_shape.inverse().apply(balls[:, :3])
    left_out = (cdist(points, local) - balls[:, 3]).min(axis=1).max()
    return float(left_out), float((shape_distances.distance(shape, local) + balls[:, 3]).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", MESHES)
def test_spheres_cover_a_held_mesh_and_stand_out_by_no_more_than_stated(name: str) -> None:
    left_out, stands_out = covered(MESHES[name], 3)
    assert left_out < 1e-9
    assert stands_out <= sphere_cover.PROTRUSION_M + 1e-6


@pytest.mark.slow
def test_a_body_that_needs_too_many_spheres_gets_larger_ones() -> None:
    wide = bowl(0.4, 0.002, 40, 12)
    left_out, stands_out = covered(wide, 4)
    assert left_out < 1e-9
    assert len(sphere_cover.cover(wide)) <= mesh_sphere_cover.MOST
    assert sphere_cover.PROTRUSION_M < stands_out < 10.0 * sphere_cover.PROTRUSION_M
