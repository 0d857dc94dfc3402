"""Nearest and random points of the regions of position constraints."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind
from moveit_facade.constraints.regions import nearest_in, nearest_of, radius_of, sample_in

WHERE = Pose.of((0.3, -0.2, 0.5), Rotation.from_rpy(0.3, 0.2, 0.1))
SHAPES = [
    Shape(ShapeKind.BOX, np.array([0.1, 0.2, 0.3]), WHERE),
    Shape(ShapeKind.SPHERE, np.array([0.1]), WHERE),
    Shape(ShapeKind.CYLINDER, np.array([0.1, 0.4]), WHERE),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind.name)
def test_random_points_lie_inside_and_are_their_own_nearest_point(shape: Shape) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        point = sample_in(shape, rng)
        assert np.allclose(nearest_in(shape, point), point)
        assert np.linalg.norm(point - WHERE.translation_m) <= radius_of(shape) + 1e-12


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind.name)
def test_no_random_point_is_nearer_than_the_nearest_one(shape: Shape) -> None:
    rng, outside = np.random.default_rng(0), np.array([1.0, 1.0, 1.0])
    gap = np.linalg.norm(nearest_in(shape, outside) - outside)
    assert all(np.linalg.norm(sample_in(shape, rng) - outside) >= gap - 1e-9 for _ in range(200))


def test_of_two_regions_the_nearer_one_counts() -> None:
    far = Shape(ShapeKind.SPHERE, np.array([0.1]), Pose.of((5.0, 0.0, 0.0)))
    near = Shape(ShapeKind.SPHERE, np.array([0.1]), Pose.of((1.0, 0.0, 0.0)))
    assert np.allclose(nearest_of((far, near), np.zeros(3)), (0.9, 0.0, 0.0))
