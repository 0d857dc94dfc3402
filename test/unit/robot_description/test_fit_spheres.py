"""The FR3's spheres hold what they promise, and the fit covers shapes it has not seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.geometry import Pose, Rotation
from handiwork_core.robot_loader import load_robot
from robot_description.fit_spheres import fit, worst_gap
from robot_description.solids import Primitive, primitives, union_distance

ROBOT = load_robot(Path(__file__).parents[3] / "src/robot_description/robots/fr3")
COVERED = [*(f"fr3_link{i}" for i in range(1, 8)), "fr3_hand"]


@pytest.mark.parametrize("link", COVERED)
def test_spheres_cover_every_primitive_of_the_link(link: str) -> None:
    spheres = next(item for item in ROBOT.spheres if item.link == link)
    assert worst_gap(primitives(ROBOT.urdf, link), spheres.centers, spheres.radii, 0.006) <= 0.002


@pytest.mark.parametrize("link", COVERED)
def test_spheres_do_not_stick_out_far(link: str) -> None:
    spheres = next(item for item in ROBOT.spheres if item.link == link)
    reach = union_distance(primitives(ROBOT.urdf, link), spheres.centers) + spheres.radii
    assert reach.max() <= 0.028


def test_a_turned_box_a_cylinder_and_a_ball_are_covered() -> None:
    solids = (
        Primitive(Pose.of((0.1, 0.0, 0.0), Rotation.from_rpy(0.3, 0.5, -0.2)), np.array([0.05, 0.08, 0.03])),
        Primitive(Pose.of((0.0, 0.0, 0.05)), np.array([0.04, 0.06])),
        Primitive(Pose.of((0.0, 0.1, 0.0)), np.array([0.05])),
    )
    centers, radii = fit(solids, 0.01, 0.01)
    assert worst_gap(solids, centers, radii, 0.005) <= 0.006
    assert worst_gap(solids, centers[:-1], radii[:-1], 0.005) > 0.0


def test_a_shape_that_cannot_be_covered_is_named() -> None:
    mesh = "<collision><geometry><mesh filename='a.stl'/></geometry></collision>"
    urdf = f"<robot name='r'><link name='a'>{mesh}</link></robot>"
    with pytest.raises(ValueError, match="a: collision must be a box, a cylinder or a sphere"):
        primitives(urdf, "a")
