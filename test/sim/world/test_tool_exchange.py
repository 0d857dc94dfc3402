"""A simulation continues with another tool on the same arm: time, objects and joints stay, and contacts refuse it."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import Simulation
from sim_bridge.mujoco.spawning import without
from sim_bridge.mujoco.tool_exchange import continue_with_tool, links_of_tools
from support.paths import ROBOTS, ROOT

SCENE = load_scene(ROOT / "config/scenes/tabletop.yaml")
FR3, ROBOTIQ = load_robot(ROBOTS / "fr3"), load_robot(ROBOTS / "fr3_robotiq")
ARM = list(FR3.arms["fr3_arm"].joint_names)


def running() -> Simulation:
    """Return a simulation whose arm and cube are elsewhere than in the scene file, after half a second."""
    simulation = Simulation(FR3, SCENE)
    world = simulation.world
    turned = world.joints().position.copy()
    turned[0] += 0.3
    world.data.qpos[world._q] = turned
    world.command(np.arange(len(turned)), turned, np.zeros(len(turned)))
    world.set_object_pose(
        "cube", Pose.of((0.55, 0.1, world.object_states()["cube"].world_T_object.translation_m[2]))
    )
    simulation.advance(250)
    return simulation


def positions(simulation: Simulation) -> np.ndarray:
    joints = simulation.world.joints()
    return joints.position[simulation.world.indices(ARM)]


def test_the_world_continues_with_the_other_hand() -> None:
    before = running()
    after = Simulation(ROBOTIQ, before.world.scene)
    continue_with_tool(after, before)
    assert after.world.time_s == before.world.time_s
    assert positions(after) == pytest.approx(positions(before), abs=1e-12)
    states = before.world.object_states()
    for name, state in after.world.object_states().items():
        assert state.world_T_object.translation_m == pytest.approx(
            states[name].world_T_object.translation_m
        ), name
    held = positions(after)
    after.advance(500)
    assert positions(after) == pytest.approx(held, abs=2e-3)
    assert after.declared is before.declared


def test_removed_objects_stay_away_and_a_reset_brings_them_back() -> None:
    before = running()
    before.world.change(without(before.world.scene, "can"))
    after = Simulation(ROBOTIQ, before.world.scene)
    continue_with_tool(after, before)
    assert "can" not in after.world.object_states()
    after.reset(after.declared)
    assert "can" in after.world.object_states()


def test_a_hand_that_touches_something_is_not_exchanged() -> None:
    before = running()
    hand = before.world.body_pose("fr3/fr3_hand_tcp")
    before.world.set_object_pose("cube", hand @ Pose.of((0.0, 0.04, 0.0)))
    with pytest.raises(
        ValueError, match=r"the tool of 'fr3' is not free: 'fr3/fr3_\w+' touches 'cube'; put it down"
    ):
        continue_with_tool(Simulation(ROBOTIQ, before.world.scene), before)


def test_a_hand_that_would_be_in_something_is_not_mounted() -> None:
    before = running()
    hand = before.world.body_pose("fr3/fr3_hand_tcp")
    before.world.set_object_pose("cube", hand @ Pose.of((0.0, 0.045, 0.045)))  # the Robotiq is longer
    after = Simulation(ROBOTIQ, before.world.scene)
    with pytest.raises(
        ValueError, match=r"the tool of 'fr3_robotiq' has no room: .* touches 'cube'; move the arm"
    ):
        continue_with_tool(after, before)


def test_the_tool_is_all_that_the_last_joint_carries() -> None:
    assert {"fr3_link7", "fr3_hand", "fr3_leftfinger", "fr3_rightfinger"} <= links_of_tools(FR3)
    assert "fr3_link6" not in links_of_tools(FR3)
