"""Primitives, meshes and planes become shapes of the world."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import ShapeKind
from moveit_facade.model.error_codes import RequestError
from moveit_facade.scene.shapes import Primitive, mesh_shape, plane_shape, solid

HERE = Pose.identity()
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def test_the_order_of_a_cylinders_dimensions_is_turned() -> None:
    assert solid(Primitive.CYLINDER, (0.4, 0.1), HERE, (), "f").size.tolist() == [0.1, 0.4]


def test_the_hull_of_a_cone_contains_the_cone_and_little_more() -> None:
    points = solid(Primitive.CONE, (0.4, 0.1), HERE, (), "f").vertices
    assert points is not None
    radii = np.linalg.norm(points[:-1, :2], axis=1)
    assert radii.min() * np.cos(np.pi / 24) >= 0.1 - 1e-9 and radii.max() < 0.102
    assert points[-1].tolist() == [0.0, 0.0, 0.2]


def test_a_prism_extends_its_polygon_to_both_sides() -> None:
    points = solid(Primitive.PRISM, (0.2,), HERE, [(0, 0, 0), (1, 0, 0), (0, 1, 0)], "f").vertices
    assert points is not None and len(points) == 6 and set(points[:, 2]) == {-0.1, 0.1}


@pytest.mark.parametrize(
    ("kind", "sizes", "words"),
    [
        (9, (1.0,), "type is 9"),
        (1, (1.0, 1.0), "a box has 3"),
        (2, (-1.0,), "above 0"),
        (2, (float("nan"),), "above 0"),
    ],
)
def test_bad_primitives_are_refused(kind: int, sizes: tuple[float, ...], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        solid(kind, sizes, HERE, (), "primitives[0]")


def test_a_prism_without_a_polygon_is_refused() -> None:
    with pytest.raises(RequestError, match="at least 3"):
        solid(Primitive.PRISM, (1.0,), HERE, (), "f")


def test_a_closed_mesh_stays_a_mesh_and_an_open_one_becomes_its_hull() -> None:
    assert mesh_shape(CORNERS, FACES, HERE, "m")[0].kind is ShapeKind.MESH
    shape, note = mesh_shape(CORNERS, FACES[:3], HERE, "m")
    assert shape.kind is ShapeKind.CONVEX and "hull" in note


def test_a_flat_mesh_is_refused() -> None:
    flat = CORNERS * np.array([1.0, 1.0, 0.0]) + np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]])
    with pytest.raises(RequestError, match="flat"):
        mesh_shape(flat, FACES, HERE, "m")


def test_the_top_of_a_planes_box_lies_in_the_plane() -> None:
    shape = plane_shape((0.0, 0.0, 2.0, -1.0), HERE, "p")
    top = shape.object_T_shape.apply((0.0, 0.0, 0.5 * shape.size[2]))
    assert np.allclose(top, (0.0, 0.0, 0.5))
    with pytest.raises(RequestError, match="normal"):
        plane_shape((0.0, 0.0, 0.0, 1.0), HERE, "p")
