"""The parts of compliant skills without a robot: spiral, axes of the push, band of the force, end of an object."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from skill_server.compliance.force_band import ForceBand
from skill_server.compliance.object_end import object_end
from skill_server.compliance.settings import push_axis, pushing, searching
from skill_server.compliance.spiral import spiral, spiral_poses

DOWN = np.array((0.0, 0.0, -1.0))


@pytest.mark.parametrize(("radius_m", "pitch_m"), [(0.005, 0.0009), (0.001, 0.00045), (0.02, 0.003)])
def test_no_place_within_the_radius_is_farther_from_the_spiral_than_half_of_its_pitch(
    radius_m: float, pitch_m: float
) -> None:
    points = spiral(radius_m, pitch_m)
    corners = np.vstack([np.zeros(2), points])
    fine = np.concatenate([np.linspace(a, b, 8) for a, b in zip(corners, points, strict=False)])
    rng = np.random.default_rng(0)
    angle, r = rng.uniform(0.0, 2.0 * np.pi, 300), radius_m * np.sqrt(rng.uniform(0.0, 0.9, 300))
    places = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    gap = np.linalg.norm(places[:, None] - fine[None], axis=2).min(axis=1)
    assert gap.max() <= 0.55 * pitch_m
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).max() <= 0.0006


def test_the_poses_of_a_search_stay_in_the_plane_and_do_not_turn() -> None:
    here = Pose.of((0.4, 0.1, 0.3), Rotation.from_rpy(np.pi, 0.0, 0.4))
    poses = spiral_poses(here, DOWN, 0.004, 0.001)
    assert all(pose.rotation is here.rotation for pose in poses)
    assert {round(float(pose.translation_m[2]), 9) for pose in poses} == {0.3}


def test_the_push_goes_along_the_nearest_axis_of_the_hand() -> None:
    here = Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(np.pi, 0.0, 0.0))
    assert push_axis(DOWN, here, "select") == pytest.approx((0.0, 0.0, 1.0))
    assert push_axis(np.array((0.0, 1.0, 0.0)), here, "select") == pytest.approx((0.0, -1.0, 0.0))


def test_a_direction_between_the_axes_of_the_hand_is_refused_with_its_angle() -> None:
    here = Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(np.pi + 0.5, 0.0, 0.0))
    with pytest.raises(StepFailed, match="29 degrees off the nearest axis"):
        push_axis(DOWN, here, "select")


def test_only_the_axis_of_the_push_has_no_stiffness_and_a_search_does_not_turn() -> None:
    axis = np.array((0.0, -1.0, 0.0))
    push, search = pushing(axis, 7.0), searching(axis, 7.0)
    assert [value == 0.0 for value in push.stiffness] == [False, True, False, False, False, False]
    assert push.selected_axes == (True,) * 6
    assert search.selected_axes == (True, True, True, False, False, False)


def test_the_band_counts_time_and_not_measurements() -> None:
    band = ForceBand(8.0, 2.0)
    for at_s, force_n in ((0.0, 8.0), (1.0, 20.0), (1.1, 7.0), (1.1, 99.0), (2.0, 9.0)):
        band.add(at_s, force_n)
    assert band.share == pytest.approx(0.95)
    assert band.text() == "7.0 to 20.0 N, 11.0 N on average; 95 % of 2.0 s within 6 to 10 N"


def test_without_measurements_nothing_was_within_the_band() -> None:
    assert ForceBand(8.0, 2.0).share == 0.0
    assert ForceBand(8.0, 2.0).text() == "no force was measured"


def test_the_end_of_a_turned_peg() -> None:
    peg = WorldObject("peg", (Shape(ShapeKind.BOX, np.array((0.02, 0.02, 0.08)), Pose.identity()),))
    turned = Pose.of((0.003, 0.0, -0.12), Rotation.from_rpy(np.pi, 0.0, 0.0))
    reach, middle = object_end(peg, turned, DOWN)
    assert reach == pytest.approx(0.16)
    assert middle == pytest.approx((0.003, 0.0, 0.0))
