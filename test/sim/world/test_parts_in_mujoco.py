"""Parts on their joints in MuJoCo: they stay, move when pushed, stop at their limits, and follow their body."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.model.articulation import Articulation
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import part_positions
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.paths import ROOT

PARTS = {"drawer": ("cabinet", "drawer"), "door": ("cupboard", "door"), "knob": ("stove", "knob")}
PUSH = {"drawer": 20.0, "door": 3.0, "knob": 0.3}
"""Force or torque that moves the part, N or N m."""


def simulate(robot: Robot, scene: str, seed: int = 1) -> Simulation:
    return Simulation(robot, load_scene(ROOT / f"config/scenes/{scene}.yaml").randomized(seed))


def joint_of(simulation: Simulation, part: str) -> Articulation:
    found = next(i.body.articulation for i in simulation.world.scene.objects if i.name == part)
    assert found is not None
    return found


def position(simulation: Simulation, part: str) -> float:
    objects = {item.name: item.body for item in simulation.world.scene.objects}
    return part_positions(objects, simulation.world.object_states())[part]


@pytest.mark.parametrize("scene", PARTS)
def test_a_part_stays_where_the_seed_put_it_and_is_measured_there(robot: Robot, scene: str) -> None:
    simulation, part = simulate(robot, scene), PARTS[scene][1]
    drive = next(item.drive for item in simulation.world.scene.objects if item.name == part)
    assert drive is not None
    simulation.advance(round(1.0 / CONTROL_S))
    assert position(simulation, part) == pytest.approx(drive.start, abs=1e-3)
    reported = simulation.world.object_states()[part].world_T_object
    assert reported.almost_equal(simulation.world.body_pose(part), within_m=1e-6, within_rad=1e-6)


@pytest.mark.parametrize("scene", PARTS)
def test_its_speed_is_that_of_its_pose_and_it_stops_at_its_limits(robot: Robot, scene: str) -> None:
    simulation, part = simulate(robot, scene), PARTS[scene][1]
    joint = joint_of(simulation, part)
    simulation.world.data.joint(part).qvel[0] = 0.5
    before = simulation.world.object_states()[part]
    simulation.advance(1)
    after = simulation.world.object_states()[part]
    moved = (after.world_T_object.translation_m - before.world_T_object.translation_m) / CONTROL_S
    assert moved == pytest.approx(0.5 * (before.world_v_object + after.world_v_object), abs=0.01)
    turned = before.world_T_object.rotation.angle_to(after.world_T_object.rotation) / CONTROL_S
    spin = 0.5 * np.linalg.norm(before.world_w_object + after.world_w_object)
    assert turned == pytest.approx(spin, abs=0.02)
    for push, limit in ((PUSH[part], joint.upper), (-PUSH[part], joint.lower)):
        simulation.world.data.joint(part).qfrc_applied[0] = push
        simulation.advance(round(3.0 / CONTROL_S))
        assert position(simulation, part) == pytest.approx(limit, abs=0.02 * joint.range)


def test_a_part_goes_with_its_body(robot: Robot) -> None:
    simulation = simulate(robot, "door")
    start = position(simulation, "door")
    simulation.world.set_object_pose("cupboard", Pose.of((0.9, 0.1, 0.0), Rotation.from_rpy(0.0, 0.0, 0.5)))
    simulation.advance(50)
    assert position(simulation, "door") == pytest.approx(start, abs=1e-3)


def test_a_part_is_put_on_its_way_only(robot: Robot) -> None:
    simulation = simulate(robot, "door")
    body = simulation.world.object_states()["cupboard"].world_T_object
    joint = joint_of(simulation, "door")
    simulation.world.set_object_pose("door", body @ joint.at(math.radians(60.0)))
    assert position(simulation, "door") == pytest.approx(math.radians(60.0))
    with pytest.raises(ValueError, match="cannot leave its joint"):
        simulation.world.set_object_pose("door", Pose.of((0.5, 0.5, 0.5)))
    with pytest.raises(ValueError, match=r"keep it within 0 to 1\.4"):
        simulation.world.set_object_pose("door", body @ joint.at(1.6))
    assert position(simulation, "door") == pytest.approx(math.radians(60.0))
