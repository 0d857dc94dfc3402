"""The scene file of the cell equals the cell's own solids."""

from __future__ import annotations

import numpy as np
import pytest

from decider_node.stacking.bin import bin_body
from decider_node.stacking.cell import STANDARD, fixtures, obstacles, place_on_shelf, scene
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.scene.loader import load_scene
from support.paths import ROOT

FILE = ROOT / "config/scenes/bin_stacking.yaml"


def same(a: WorldObject, b: WorldObject) -> None:
    assert len(a.shapes) == len(b.shapes)
    for one, other in zip(a.shapes, b.shapes, strict=True):
        assert one.kind is other.kind
        assert np.allclose(one.size, other.size, atol=1e-6)
        assert np.allclose(one.object_T_shape.matrix(), other.object_T_shape.matrix(), atol=1e-6)


def test_the_scene_file_equals_the_cell() -> None:
    items = {item.name: item for item in load_scene(FILE).objects}
    for fixture in fixtures(STANDARD):
        loaded = items.pop(fixture.name)
        same(loaded.body, fixture.body)
        assert np.allclose(loaded.world_T_object.matrix(), fixture.world_T_object.matrix(), atol=2e-6)
        assert loaded.belt == fixture.belt
        assert loaded.friction == pytest.approx(fixture.friction) or fixture.name in (
            "floor",
            "belt_end",
            "shelf_post",
        )
    assert sorted(items) == ["bin_0", "bin_1", "bin_2", "bin_3"]
    for item in items.values():
        same(item.body, bin_body(item.name))


def test_a_bin_on_the_shelf_stands_on_it() -> None:
    bin_at, boxes = place_on_shelf(STANDARD.shelf), obstacles(STANDARD)
    shelf = boxes.states["shelf"].world_T_object.translation_m
    lowest = min(
        float((bin_at @ shape.object_T_shape).apply(corner)[2])
        for shape in bin_body("bin").shapes
        for corner in np.array([shape.size, -shape.size]) / 2.0
    )
    assert lowest == pytest.approx(shelf[2] + 0.015, abs=1e-6)


def test_the_cell_has_the_bins_that_are_asked_for() -> None:
    names = [item.name for item in scene(STANDARD, 3, Pose.of((-20.0, 20.0, 5.0))).objects]
    assert names[-3:] == ["bin_0", "bin_1", "bin_2"]
