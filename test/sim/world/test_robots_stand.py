"""Every robot holds its home in simulation and stands on its base for five seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.layout import Scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from sim_bridge.mujoco.world import MujocoWorld
from support.paths import ROOT

FOLDERS = sorted(path.parent for path in (ROOT / "src").glob("*/robots/*/robot.yaml"))
SECONDS = 5.0
NOTHING = Scene("nothing", "nothing.yaml", Pose.identity(), ())


def planned(robot: Robot) -> list[str]:
    return [name for arm in robot.arms.values() for name in arm.joint_names]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_robot_holds_its_home_and_does_not_drift(folder: Path) -> None:
    robot = load_robot(folder)
    simulation = Simulation(robot, NOTHING)
    names = simulation.world.joint_names
    start = simulation.joints().position
    home = {n: q for arm in robot.arms.values() for n, q in zip(arm.joint_names, arm.home_q, strict=True)}
    home |= dict(robot.posture)
    assert {n: start[names.index(n)] for n in home} == pytest.approx(home, abs=1e-12)
    simulation.advance(int(0.5 * SECONDS / CONTROL_S))
    halfway = simulation.joints()
    simulation.advance(int(0.5 * SECONDS / CONTROL_S))
    end = simulation.joints()
    off = dict(zip(names, np.abs(end.position - start), strict=True))
    assert max(off.values()) < 1e-3, max(off, key=lambda name: off[name])
    assert np.abs(end.position - halfway.position).max() < 1e-5
    assert np.abs(end.velocity).max() < 1e-4


def test_a_home_is_drawn_by_its_deviation_and_seed_and_within_limits() -> None:
    robot = load_robot(next(folder for folder in FOLDERS if folder.name == "split_aloha"))
    arm = robot.arms["left_arm"]
    arms = {**robot.arms, "left_arm": replace(arm, home_std=np.full(6, 0.05))}
    world = MujocoWorld(replace(robot, arms=arms), NOTHING)
    at, other = world.indices(arm.joint_names), world.indices(robot.arms["right_arm"].joint_names)
    seen = []
    for seed in (1, 1, 2):
        world.reset(NOTHING, seed)
        seen.append(world.joints().position[at])
        assert np.array_equal(world.joints().position[other], robot.arms["right_arm"].home_q)
    assert np.array_equal(seen[0], seen[1])
    assert np.abs(seen[0] - seen[2]).max() > 0.01
    for name, q in zip(arm.joint_names, seen[0], strict=True):
        assert robot.joints[name].lower <= q <= robot.joints[name].upper
    assert 0.005 < np.abs(seen[0] - arm.home_q).max() < 0.25
    world.reset(NOTHING)
    assert np.array_equal(world.joints().position[at], arm.home_q)
