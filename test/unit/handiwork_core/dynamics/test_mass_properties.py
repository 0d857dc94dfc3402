"""Mass properties against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.dynamics.mass_properties import MassProperties, mass_properties
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind

CORNERS = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)])


def test_hull_of_a_box_is_that_box() -> None:
    pose = Pose.of((1.0, 2.0, 3.0), Rotation.from_rpy(0.3, 0.4, 0.5))
    box = mass_properties([Shape(ShapeKind.BOX, frozen([0.2, 0.4, 0.6]), pose)], 2.0)
    hull = mass_properties([Shape(ShapeKind.CONVEX, frozen(()), pose, frozen(CORNERS))], 2.0)
    assert np.allclose(box.moments, sorted(2.0 / 12.0 * np.array([0.52, 0.40, 0.20])))
    assert np.allclose(box.tensor(), hull.tensor())
    assert np.allclose(box.centre, hull.centre)
    assert np.allclose(hull.centre, [1.0, 2.0, 3.0])


def test_two_halves_are_one_whole() -> None:
    halves = [Shape(ShapeKind.BOX, frozen([0.2, 0.4, 0.3]), Pose.of((0.0, 0.0, z))) for z in (-0.15, 0.15)]
    whole = mass_properties([Shape(ShapeKind.BOX, frozen([0.2, 0.4, 0.6]), Pose.identity())], 1.0)
    assert np.allclose(mass_properties(halves, 1.0).tensor(), whole.tensor())


def test_round_solids() -> None:
    r, h = 0.1, 0.3
    ball = mass_properties([Shape(ShapeKind.SPHERE, frozen([r]), Pose.identity())], 1.0)
    assert ball.moments == pytest.approx([0.4 * r * r] * 3)
    rod = mass_properties([Shape(ShapeKind.CYLINDER, frozen([r, h]), Pose.identity())], 1.0)
    assert sorted(rod.moments) == pytest.approx(sorted([0.5 * r * r, *[(3 * r * r + h * h) / 12] * 2]))
    # A capsule whose straight part vanishes is a ball.
    pill = mass_properties([Shape(ShapeKind.CAPSULE, frozen([r, 1e-9]), Pose.identity())], 1.0)
    assert pill.moments == pytest.approx([0.4 * r * r] * 3)


def test_turned_tensor_comes_back() -> None:
    tensor = np.array([[3.0, 0.1, 0.2], [0.1, 2.5, -0.3], [0.2, -0.3, 2.0]])
    given = MassProperties.of(1.0, np.zeros(3), tensor)
    turn = Rotation.from_rpy(0.1, 0.2, 0.3)
    placed = given.placed(Pose.of((1.0, 0.0, 0.0), turn))
    assert np.allclose(placed.tensor(), turn.matrix() @ tensor @ turn.matrix().T)
    assert np.allclose(placed.centre, [1.0, 0.0, 0.0])
