"""The fit covers shapes within its allowance."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from robot_description.solids.primitives import Primitive, primitives, union_distance
from robot_description.spheres.link_spheres import Allowance, fit, worst_gap


def test_a_turned_box_a_cylinder_and_a_ball_are_covered() -> None:
    solids = (
        Primitive(Pose.of((0.1, 0.0, 0.0), Rotation.from_rpy(0.3, 0.5, -0.2)), np.array([0.05, 0.08, 0.03])),
        Primitive(Pose.of((0.0, 0.0, 0.05)), np.array([0.04, 0.06])),
        Primitive(Pose.of((0.0, 0.1, 0.0)), np.array([0.05])),
    )
    centers, radii = fit(solids, Allowance(0.01, 0.004), 0.008)
    assert worst_gap(solids, centers, radii, 0.003) <= 0.005
    assert (union_distance(solids, centers) + radii).max() <= 0.011
    assert worst_gap(solids, centers[:-1], radii[:-1], 0.005) > 0.0


def test_a_shape_that_cannot_be_covered_is_named() -> None:
    mesh = "<collision><geometry><mesh filename='a.stl'/></geometry></collision>"
    urdf = f"<robot name='r'><link name='a'>{mesh}</link></robot>"
    with pytest.raises(ValueError, match="a: collision must be a box, a cylinder or a sphere"):
        primitives(urdf, "a")


def test_without_rounds_the_first_choice_covers() -> None:
    solids = (Primitive(Pose.of((0.0, 0.0, 0.05)), np.array([0.04, 0.06])),)
    centers, radii = fit(solids, Allowance(0.01, 0.004), 0.008, rounds=0)
    assert worst_gap(solids, centers, radii, 0.003) <= 0.005
