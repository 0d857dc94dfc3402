"""Exact boxes touch their body, loose ones contain it, and hull points lie on it."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import box_points, hull_points, support, world_aabb

INNER = Pose.of((0.1, -0.2, 0.05), Rotation.from_rpy(0.3, -0.8, 1.1))
SHAPES = {
    "box": Shape(ShapeKind.BOX, frozen((0.1, 0.2, 0.3)), INNER),
    "sphere": Shape(ShapeKind.SPHERE, frozen((0.07,)), INNER),
    "cylinder": Shape(ShapeKind.CYLINDER, frozen((0.05, 0.2)), INNER),
    "capsule": Shape(ShapeKind.CAPSULE, frozen((0.05, 0.2)), INNER),
    "hull": Shape(
        ShapeKind.CONVEX, frozen(()), INNER, frozen([(0, 0, 0), (0.2, 0, 0), (0, 0.1, 0), (0, 0, 0.3)])
    ),
}
WORLD_T_BODY = Pose.of((0.4, 0.1, 0.7), Rotation.from_rpy(-0.5, 0.4, 2.0))
ROUND_M = 2e-3
"""Largest distance of a round surface from the points that represent it, m."""


@pytest.mark.parametrize("kind", SHAPES)
def test_the_exact_box_holds_the_hull_points_and_touches_them(kind: str) -> None:
    shape = SHAPES[kind]
    low, high = world_aabb(WorldObject("it", (shape,)), WORLD_T_BODY)
    points = WORLD_T_BODY.apply(hull_points(shape))
    assert (points >= low - 1e-9).all() and (points <= high + 1e-9).all()
    np.testing.assert_allclose(points.min(axis=0), low, atol=ROUND_M)
    np.testing.assert_allclose(points.max(axis=0), high, atol=ROUND_M)


@pytest.mark.parametrize("kind", SHAPES)
def test_the_loose_box_holds_the_exact_one(kind: str) -> None:
    shape = SHAPES[kind]
    low, high = world_aabb(WorldObject("it", (shape,)), WORLD_T_BODY)
    points = WORLD_T_BODY.apply(box_points(shape))
    assert (points.min(axis=0) <= low + 1e-9).all() and (points.max(axis=0) >= high - 1e-9).all()


@pytest.mark.parametrize("kind", SHAPES)
def test_support_is_the_largest_coordinate_of_the_hull_points(kind: str) -> None:
    shape = SHAPES[kind]
    points = shape.object_T_shape.inverse().apply(hull_points(shape))
    for direction in np.random.default_rng(3).normal(size=(20, 3)):
        direction /= np.linalg.norm(direction)
        assert support(shape, direction) == pytest.approx(float((points @ direction).max()), abs=ROUND_M)
