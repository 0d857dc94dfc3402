"""Cells from YAML, and the check that an arm reaches them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from decider_node.stacking.bin import OUTSIDE
from decider_node.stacking.cell import FULL, SMALL, STANDARD, Shelf, fixtures, regions
from decider_node.stacking.layout import Layout
from decider_node.stacking.layout_file import load_cell
from decider_node.stacking.profile.actions import DispatchKind
from decider_node.stacking.profile.regions import Window
from decider_node.stacking.reach import check_reach
from decider_node.stacking.scene_file import scene_text
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from support.paths import ROBOTS, ROOT

UR10 = load_robot(ROBOTS / "ur10_suction")
LAYOUT = "layout: {xs: [0.64], ys: [-0.31], layers: 2, ground_z: -0.59}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "cell.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_parts_that_are_left_out_are_those_of_the_standard_cell(tmp_path: Path) -> None:
    site = load_cell(written(tmp_path, LAYOUT))
    assert site == replace(STANDARD, layout=Layout((0.64,), (-0.31,), 2, -0.59))


def test_every_part_counts(tmp_path: Path) -> None:
    text = f"{LAYOUT}belt: {{end_y: 0.4, speed: 0.2}}\nshelf: {{radius: 0.6, out: 0.15}}\ncarry_z: 0.3\n"
    site = load_cell(written(tmp_path, text))
    assert (site.belt.end_y, site.belt.speed, site.belt.width) == (0.4, 0.2, STANDARD.belt.width)
    assert site.shelf == Shelf(radius=0.6, out=0.15)
    (belt,) = (item for item in fixtures(site) if item.name == "belt")
    assert belt.belt is not None and belt.belt.velocity == (0.0, -0.2, 0.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("belt: {barrier_y: 0.9}\n", "they must rise in this order"),
        ("belt: {width: 0.2}\n", "belt.width: is 0.2; a bin is 0.3 m long"),
        ("feeder: {aside: 0.4}\n", "bins hang over the belt"),
        ("feeder: {upside_down: 2.0}\n", "write a share, 0 to 1"),
        ("carry_z: 0.1\n", "a carried bin would meet one on the shelf, write 0.195 or more"),
        ("shelf: {out: 0.1}\n", "a bin is 0.135 m deep"),
        ("pallet: {x: 0.2}\n", "layout.xs: 0.64 is 0.440 m from the middle of the pallet"),
        ("floor_z: -0.3\n", "write less than layout.ground_z"),
        ("belts: {}\n", "belts"),
        ("over_shelf: 0.0\n", "write a radius, more than 0 m"),
        (
            "regions: [{name: over_shelf, shape: sphere, center: [0, 0, 0], radius: 0.1}]\n",
            "regions: the name 'over_shelf' is there twice, or that of the shelf's region",
        ),
    ],
)
def test_faults_name_the_key_and_the_remedy(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_cell(written(tmp_path, LAYOUT + text))
    assert words in str(caught.value)


def test_the_ur10_reaches_the_cell_of_cortex_and_its_numbers_are_read() -> None:
    site = load_cell(ROOT / "config/stacking/cortex.yaml")
    check_reach(site, UR10, UR10.arm(""), "cortex.yaml")
    assert len(site.layout) == 36
    tool_z = (site.layout.place(0) @ OUTSIDE).translation_m[2]
    assert np.isclose(tool_z, -0.519)
    assert np.isclose(site.dropped_z, -1.0)
    assert site.actions.dispatch is DispatchKind.CORTEX
    assert site.window == Window((-0.4, 0.4), (0.0, 0.7))
    assert {"over_shelf", *site.crossing} == set(regions(site))


@pytest.mark.parametrize("layout", [FULL, SMALL])
def test_the_ur10_reaches_the_layouts_of_the_project(layout: Layout) -> None:
    check_reach(replace(STANDARD, layout=layout), UR10, UR10.arm(""), "cell")


def test_places_out_of_reach_are_refused_with_their_distance_and_the_arms() -> None:
    far = replace(STANDARD, layout=Layout((1.3, 0.64), (-0.31,), 1, -0.59))
    with pytest.raises(ConfigError) as caught:
        check_reach(far, UR10, UR10.arm(""), "far.yaml")
    first, second = caught.value.faults
    assert first.startswith("layout: place 0 (x 1.30, y -0.31, z -0.45): ur10_suction has no configuration")
    assert "1.34 m from its axis; at this height it reaches 1.2" in first
    assert second.startswith("layout: above place 0")


def test_a_shelf_too_near_is_refused() -> None:
    near = replace(STANDARD, shelf=replace(STANDARD.shelf, radius=0.35))
    with pytest.raises(ConfigError, match="shelf: out of a bin on it"):
        check_reach(near, UR10, UR10.arm(""), "near.yaml")


def test_an_arm_with_fingers_is_refused() -> None:
    fr3 = load_robot(ROBOTS / "fr3")
    with pytest.raises(ConfigError, match="has no suction cup"):
        check_reach(STANDARD, fr3, fr3.arm(""), "cell")


def test_the_scene_with_waiting_bins_is_the_one_that_the_command_writes() -> None:
    path = ROOT / "config/scenes/bin_stacking_fed.yaml"
    assert path.read_text(encoding="utf-8") == scene_text(STANDARD, len(FULL) + 2)
    items = {item.name: item for item in load_scene(path).objects}
    assert {f"bin_{k}" for k in range(len(FULL) + 2)} <= set(items)
    for fixture in fixtures(STANDARD):
        loaded = items[fixture.name]
        assert np.allclose(loaded.world_T_object.matrix(), fixture.world_T_object.matrix(), atol=1e-6)
        assert loaded.belt == fixture.belt
