"""Hulls and boxes: exact where they can be, named errors elsewhere."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from conditionals_node.predicates.containment import ObjectInContainer
from conditionals_node.spaces.hulls import GeometryError, hull, hull_of
from conditionals_node.views.bounding_boxes import extent
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from support.records.pictured import at, mesh, solid


def test_extents_of_round_shapes_are_exact() -> None:
    turned = Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle((0.0, 1.0, 0.0), np.pi / 4))
    c = np.sqrt(0.5)
    for kind, size, reach in (
        (ShapeKind.SPHERE, (0.1,), (0.1, 0.1, 0.1)),
        (ShapeKind.CAPSULE, (0.1, 1.0), (0.1 + 0.5 * c, 0.1, 0.1 + 0.5 * c)),
        (ShapeKind.CYLINDER, (0.1, 1.0), (0.6 * c, 0.1, 0.6 * c)),
        (ShapeKind.BOX, (1.0, 0.2, 1.0), (c, 0.1, c)),
    ):
        low, high = extent(WorldObject("x", (solid(kind, size),)), turned)
        assert np.allclose(high, reach), kind
        assert np.allclose(low, -np.array(reach)), kind


def test_centroid_is_that_of_the_volume() -> None:
    half_ball = mesh(
        "x", (hull(WorldObject("b", (solid(ShapeKind.SPHERE, (1.0,)),))).vertices * (1, 1, 0.5)).tolist()
    )
    assert np.allclose(hull(half_ball).centroid, 0.0, atol=1e-9)
    pyramid = mesh("p", [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [0, 0, 4]])
    assert np.allclose(hull(pyramid).centroid, [0.0, 0.0, 1.0])
    assert np.allclose(hull(pyramid).vertex_mean, [0.0, 0.0, 0.8])
    assert hull(pyramid) is hull(pyramid)


def test_geometry_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(GeometryError, match="'x'"):
        hull_of(np.full((8, 3), np.nan), "x")


CUBE_CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
SQUARE = np.array([(x, y, 0.0) for x in (0.0, 1.0) for y in (0.0, 1.0)])
BROKEN: dict[str, tuple[Array, str]] = {
    "empty": (np.zeros((0, 3)), "no usable geometry"),
    "one point": (np.zeros((1, 3)), "no usable geometry"),
    "three points": (np.eye(3), "no usable geometry"),
    "a square": (SQUARE, "flat or tiny"),
    "400 points in a plane": (np.random.default_rng(0).uniform(size=(400, 3)) * (1, 1, 0), "flat or tiny"),
    "a line": (np.linspace(0.0, 1.0, 9)[:, None] * (1, 2, 3), "flat or tiny"),
    "8 times one point": (np.ones((8, 3)), "flat or tiny"),
    "a slab of 1e-9 m": (CUBE_CORNERS * (1, 1, 1e-9), "flat or tiny"),
    "a slab of 1e-15 m": (CUBE_CORNERS * (1, 1, 1e-15), "flat or tiny"),
    "a cube of 1e-9 m": (CUBE_CORNERS * 1e-9, "flat or tiny"),
    "not a number": (np.where(np.eye(5, 3) > 0, np.nan, 1.0), "no usable geometry"),
    "endless": (np.where(np.eye(5, 3) > 0, np.inf, 1.0), "no usable geometry"),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_broken_geometry_is_named_and_unknown_and_costs_nothing_twice(name: str) -> None:
    points, words = BROKEN[name]
    for _ in range(2):
        with pytest.raises(GeometryError, match=f"'x' .*{words}"):
            hull_of(points, "x")
    thing, container = mesh("thing", points.tolist()), mesh("box", CUBE_CORNERS.tolist())
    still = ObjectState(at(0, 0, 0), frozen(np.zeros(3)), frozen(np.zeros(3)), 0.0)
    world = World(0.0, 0, {"thing": thing, "box": container}, {"thing": still, "box": still})
    for a, b in (("thing", "box"), ("box", "thing")):
        found = ObjectInContainer(a, b).evaluate(world)
        assert found.truth is Truth.UNKNOWN
        assert "'thing'" in found.reason


@pytest.mark.parametrize("scale", [(1e-3, 1e-3, 1e-3), (1.0, 1.0, 1e-3), (1e6, 1e6, 1e6)])
def test_small_thin_and_huge_hulls_are_good(scale: tuple[float, float, float]) -> None:
    found = hull_of(CUBE_CORNERS * scale, "x")
    assert (len(found.vertices), len(found.planes), len(found.open_planes)) == (8, 6, 5)
    assert found.centroid == pytest.approx(np.array(scale) / 2, rel=1e-9)


def test_a_hull_far_from_its_origin_is_as_good() -> None:
    found = hull_of(CUBE_CORNERS * 0.1 + 1e4, "x")
    assert found.centroid == pytest.approx(np.full(3, 1e4 + 0.05), abs=1e-9)


def test_copies_of_points_change_nothing() -> None:
    tetra = np.vstack([np.zeros(3), np.eye(3)])
    found = hull_of(np.repeat(tetra, 5, axis=0), "x")
    assert (len(found.vertices), len(found.planes)) == (4, 4)
    assert found.centroid == pytest.approx(np.full(3, 0.25))


@pytest.mark.parametrize(("tilt_deg", "open_faces"), [(40.0, 5), (45.0, 5), (45.6, 6), (50.0, 6)])
def test_the_lid_is_what_looks_up_steeply(tilt_deg: float, open_faces: int) -> None:
    rise = np.tan(np.radians(tilt_deg)) * CUBE_CORNERS[:, 0] * CUBE_CORNERS[:, 2]
    wedge = CUBE_CORNERS + rise[:, None] * (0.0, 0.0, 1.0)
    assert len(hull_of(wedge, "x").open_planes) == open_faces


def test_the_triangles_close_the_surface() -> None:
    found = hull_of(CUBE_CORNERS, "x")
    edges = np.sort(found.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert found.triangles.shape == (12, 3)


def test_equal_content_is_built_once_whoever_brings_it() -> None:
    first, second = mesh("a", CUBE_CORNERS.tolist()), mesh("b", CUBE_CORNERS.tolist())
    assert hull(first) is hull(second)
    assert hull(mesh("a", (CUBE_CORNERS * 2).tolist())) is not hull(first)


def test_faces_have_names() -> None:
    assert sorted(hull_of(CUBE_CORNERS, "x").closed_faces.labels) == ["+x", "+y", "+z", "-x", "-y", "-z"]
    tetra = np.vstack([np.zeros(3), np.eye(3)])
    assert "(0.58, 0.58, 0.58)" in hull_of(tetra, "x").closed_faces.labels


@pytest.mark.parametrize("dense", ["none", "+x face", "bottom"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_centroid_does_not_depend_on_how_a_mesh_is_cut(dense: str, turned: bool) -> None:
    rng = np.random.default_rng(1)
    extra = rng.uniform(size=(1500, 3))
    extra[:, 0 if dense == "+x face" else 2] = 1.0 if dense == "+x face" else 0.0
    points = CUBE_CORNERS if dense == "none" else np.vstack([CUBE_CORNERS, extra])
    points = (points - 0.5) * (0.2, 0.1, 0.05)
    if turned:
        points = (points @ np.linalg.qr(rng.normal(size=(3, 3)))[0]).astype(np.float32).astype(np.float64)
    assert np.linalg.norm(hull_of(points, "x").centroid) < 1e-7


def test_the_box_of_many_points_is_that_of_all() -> None:
    points = np.random.default_rng(2).normal(size=(500, 3))
    turn = Pose.of((1.0, 2.0, 3.0), Rotation.from_rpy(0.3, 0.4, 0.5))
    low, high = extent(mesh("x", points.tolist()), turn)
    assert low == pytest.approx(turn.apply(points).min(axis=0), abs=1e-12)
    assert high == pytest.approx(turn.apply(points).max(axis=0), abs=1e-12)
    flat = points * (1.0, 1.0, 0.0)
    assert extent(mesh("x", flat.tolist()), Pose.identity())[1][2] == 0.0


def test_no_shapes_have_no_box() -> None:
    with pytest.raises(GeometryError, match="'x'"):
        extent(WorldObject("x", ()), Pose.identity())
    with pytest.raises(GeometryError, match="'x'"):
        extent(WorldObject("x", (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity()),)), Pose.identity())
