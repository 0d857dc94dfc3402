"""Objects are added to and removed from the running MuJoCo world, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.geometry import Pose
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import Simulation
from sim_bridge.mujoco.spawning import (
    Resource,
    read_object,
    with_object,
    without,
)
from support.paths import ROBOTS, ROOT

SCENE = ROOT / "config/scenes/tabletop.yaml"
BRICK = "{mass: 0.2, shapes: [{type: box, size: [0.05, 0.05, 0.05]}]}"
HIGH = Pose.of((0.5, 0.2, 0.9), Pose.identity().rotation)


def test_the_world_goes_on_with_one_object_more_and_one_less() -> None:
    simulation = Simulation(load_robot(ROBOTS / "fr3"), load_scene(SCENE))
    world = simulation.world
    linear = np.array((0.1, 0.0, 0.5))
    world.set_object_state("cube", HIGH, linear, np.array((0.0, 0.0, 2.0)))
    simulation.advance(20)
    before, joints = world.object_states(), world.joints()
    brick = replace(
        read_object(Resource(text=BRICK), "brick", ROOT, DataRoots.of([ROOT])),
        world_T_object=Pose.of((0.5, -0.2, 0.9), HIGH.rotation),
    )
    world.change(with_object(world.scene, brick))
    after = world.object_states()
    assert world.time_s == joints.stamp_s
    np.testing.assert_array_equal(world.joints().position, joints.position)
    np.testing.assert_array_equal(world.joints().velocity, joints.velocity)
    for name, state in before.items():
        assert state.world_T_object.distance_to(after[name].world_T_object) == pytest.approx(
            (0.0, 0.0), abs=1e-12
        )
        np.testing.assert_allclose(state.world_v_object, after[name].world_v_object, atol=1e-12)
    assert np.linalg.norm(before["cube"].world_v_object) > 0.1
    simulation.advance(500)
    assert world.object_states()["brick"].world_T_object.translation_m[2] < 0.5
    np.testing.assert_allclose(world.joints().position, joints.position, atol=1e-4)
    world.change(without(world.scene, "cube"))
    assert set(world.object_states()) == {*before, "brick"} - {"cube"}
    simulation.reset(simulation.declared)
    assert set(world.object_states()) == set(before)


def test_what_the_simulator_refuses_changes_nothing() -> None:
    simulation = Simulation(load_robot(ROBOTS / "fr3"), load_scene(SCENE))
    scene = simulation.world.scene
    cube = next(item for item in scene.objects if item.name == "cube")
    with pytest.raises(ValueError, match="repeated name"):
        simulation.world.change(with_object(scene, cube))
    assert simulation.world.scene is scene
    simulation.advance(5)
