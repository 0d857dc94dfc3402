"""Conveyor belts: markers of the simulation become chevrons and a speed on the page."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.scene.loader import Scene, load_scene
from handiwork_ros.conversions import belts_to_msg
from handiwork_viz.view.ros.condition_drawings import belts
from handiwork_viz.view.ros.page.scene_view import chevrons


@pytest.fixture
def scene() -> Scene:
    return load_scene(share_of("handiwork_bringup") / "config/scenes/belt.yaml")


def test_a_belt_has_an_arrow_along_its_motion_on_its_surface(scene: Scene) -> None:
    (belt,) = belts(belts_to_msg(scene.objects, {}))
    assert (belt.object, belt.text) == ("belt", "0.08 m/s")
    assert belt.object_T_arrow is not None
    begin, end = belt.object_T_arrow.apply(np.array([(0.0, 0.0, 0.0), (belt.length_m, 0.0, 0.0)]))
    assert end - begin == pytest.approx((0.0, 0.6 * 2.4, 0.0), abs=1e-9)
    assert begin + end == pytest.approx((0.0, 0.0, 2.0 * 0.030), abs=1e-9)


def test_another_velocity_replaces_that_of_the_scene_and_a_belt_may_stand(scene: Scene) -> None:
    (back,) = belts(belts_to_msg(scene.objects, {"belt": (0.0, -0.2, 0.0)}))
    assert back.text == "0.2 m/s"
    assert back.object_T_arrow is not None
    assert back.object_T_arrow.apply(np.array([1.0, 0.0, 0.0]))[1] < back.object_T_arrow.translation_m[1]
    (still,) = belts(belts_to_msg(scene.objects, {"belt": (0.0, 0.0, 0.0)}))
    assert (still.text, still.object_T_arrow) == ("stopped", None)


def test_chevrons_point_forward() -> None:
    lines = chevrons(0.6)
    assert lines.shape[1:] == (2, 3)
    assert (lines[:, 0, 0] > lines[:, 1, 0]).all()
