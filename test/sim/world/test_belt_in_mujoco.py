"""A belt carries the objects on it by friction, at its commanded speed. No ROS."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Array
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.paths import ROBOTS, ROOT

SCENE_FILE = ROOT / "config/scenes/belt.yaml"
ROBOT = load_robot(ROBOTS / "fr3")


def place(sim: Simulation) -> Array:
    """Return the position of the parcel."""
    return sim.world.object_states()["parcel"].world_T_object.translation_m


def seconds(value: float) -> int:
    return round(value / CONTROL_S)


def test_a_parcel_rides_along_changes_speed_and_stops_with_the_belt() -> None:
    sim = Simulation(ROBOT, load_scene(SCENE_FILE))
    sim.advance(seconds(0.5))
    for speed, lasts_s in ((0.08, 2.0), (-0.3, 1.0), (0.0, 1.0)):
        sim.world.belts.run("belt", BeltSpec((0.0, speed, 0.0)))
        sim.advance(seconds(0.5))
        before = place(sim)
        sim.advance(seconds(lasts_s))
        assert np.abs(place(sim) - before - (0.0, speed * lasts_s, 0.0)).max() < 0.004
    belt = sim.world.object_states()["belt"].world_T_object.translation_m
    assert np.abs(belt - (0.5, 0.0, -0.025)).max() < 1e-9


def test_a_parcel_that_falls_behind_slides_and_is_drawn_along_by_friction() -> None:
    sim = Simulation(ROBOT, load_scene(SCENE_FILE))
    sim.world.belts.run("belt", BeltSpec((0.0, 1.0, 0.0)))
    sim.advance(seconds(1.0))
    sim.world.set_object_pose("parcel", sim.world.object_states()["parcel"].world_T_object)
    sim.advance(seconds(0.1))
    moving = sim.world.object_states()["parcel"]
    assert float(moving.world_v_object[1]) == pytest.approx(0.8 * 9.81 * 0.1, rel=0.1)
    assert float(moving.world_T_object.translation_m[2]) == pytest.approx(0.0225, abs=0.001)


def test_an_unknown_belt_is_named() -> None:
    sim = Simulation(ROBOT, load_scene(SCENE_FILE))
    with pytest.raises(KeyError, match="'parcel' is not one of"):
        sim.world.belts.run("parcel", BeltSpec((0.1, 0.0, 0.0)))


@pytest.mark.parametrize(("old", "new", "words"), [
    ("velocity: [0.0, 0.08, 0.0]", "velocity: [0.0, 80.0, 0.0]", "at most 5 m/s"),
    ("    mass: 0.1\n", "    mass: 0.1\n    belt: {velocity: [0.1, 0.0, 0.0]}\n", "only static objects have one"),
])  # fmt: skip
def test_a_wrong_belt_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = SCENE_FILE.read_text()
    assert old in text
    (tmp_path / "scene.yaml").write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=words):
        load_scene(tmp_path / "scene.yaml")
