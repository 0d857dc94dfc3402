"""What is kept about a shape is computed once, and is deleted with the shape."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import hull_points
from handiwork_core.scene.shape_cache import kept_with_shape
from skill_server.geometry.vertical_spans import body_triangles

CORNERS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))


def tetrahedron() -> Shape:
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], dtype=np.int32)
    return Shape(ShapeKind.MESH, frozen(()), Pose.of((0.0, 0.0, 0.0)), frozen(CORNERS), faces)


def test_a_shape_is_computed_once() -> None:
    asked: list[Shape] = []

    @kept_with_shape
    def volume(shape: Shape) -> float:
        asked.append(shape)
        return 1.0

    first, second = tetrahedron(), tetrahedron()
    assert [volume(first), volume(first), volume(second), volume(first)] == [1.0] * 4
    assert asked == [first, second]


@pytest.mark.parametrize(
    "ask",
    [
        hull_points,
        lambda shape: body_triangles(WorldObject("it", (shape,))),
        lambda shape: body_triangles(WorldObject("it", (shape,)), as_hulls=True),
    ],
    ids=["hull points", "triangles", "triangles of the hull"],
)
def test_a_shape_that_no_world_has_is_not_kept(ask: Callable[[Shape], Array]) -> None:
    shape = tetrahedron()
    kept = weakref.ref(shape)
    assert len(ask(shape))
    del shape
    assert kept() is None
