"""A palletiser, of four joints and links that follow them, in the folder that ``new-robot`` writes for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.skills.new_robots import episodes

from handiwork_cli.cli import main
from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.kernels.kinematics import tool_poses
from handiwork_planning.scene.query import Reader
from handiwork_planning.scene.scene import CollisionScene
from sim_bridge.mujoco.world import MujocoWorld
from support.paths import DATA

FOLLOWERS = {"shoulder_rod_joint": 1, "elbow_plate_joint": 1, "elbow_rod_joint": 2, "level": 2}
"""Index of the joint of the arm that each follows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("robots") / "palletiser"
    urdf = DATA / "robots" / "palletiser" / "palletiser.urdf"
    assert main(["new-robot", str(urdf), "--out", str(made), "--samples", "500"]) == 0
    return made


def test_new_robot_takes_the_joints_that_move_by_themselves(folder: Path) -> None:
    robot = load_robot(folder)
    assert robot.arm("").joint_names == ("waist", "shoulder", "elbow", "yaw")
    # Those of the level and of the plate at the elbow are narrower than what their leaders had.
    limits = {name: (robot.joints[name].lower, robot.joints[name].upper) for name in ("shoulder", "elbow")}
    assert limits == {"shoulder": (-0.5, 1.3), "elbow": (-0.8, 1.2)}
    assert robot.joints["elbow"].velocity == 1.8


def test_kinematics_are_those_of_mujoco(folder: Path) -> None:
    robot, scene = load_robot(folder), load_scene(folder / "scene.yaml")
    world, arm = MujocoWorld(robot, scene), robot.arm("")
    query = Reader(robot, scene.world_T_base).read(arm, CollisionScene(), SceneQuery())
    for q in np.random.default_rng(0).uniform(query.robot.lower, query.robot.upper, (20, 4)):
        _put(world, robot, q)
        pose, body = np.empty((1, 12)), world.data.body(f"{robot.name}/{arm.ee_link}")
        tool_poses(q[None], query.robot, pose)
        np.testing.assert_allclose(pose[0, 9:], body.xpos, atol=1e-12)
        np.testing.assert_allclose(pose[0, :9], body.xmat, atol=1e-12)
        assert body.xmat[8] == pytest.approx(-1.0, abs=1e-12), "the hand points down in every configuration"


def _put(world: MujocoWorld, robot: Robot, q: np.ndarray) -> None:
    import mujoco

    positions = dict(zip(robot.arm("").joint_names, q, strict=True))
    for name, index in FOLLOWERS.items():
        law = robot.joints[name].mimic
        assert law is not None
        positions[name] = law.multiplier * q[index] + law.offset
    for name, position in positions.items():
        world.data.joint(f"{robot.name}/{name}").qpos[0] = position
    mujoco.mj_kinematics(world.model, world.data)


def test_the_hand_stays_level_while_the_arm_moves_fast(folder: Path) -> None:
    robot, scene = load_robot(folder), load_scene(folder / "scene.yaml")
    world, arm = MujocoWorld(robot, scene), robot.arm("")
    names = list(world.joint_names)
    own = world.indices(arm.joint_names)
    tilt = drift = 0.0
    for t in np.arange(0.0, 2.0, 0.001):
        s, ds = 0.5 - 0.5 * np.cos(np.pi * t), 0.5 * np.pi * np.sin(np.pi * t)
        reach = np.array([0.8, 0.8, 0.6, 1.5])
        world.command(own, arm.home_q + s * reach, ds * reach)
        world.step()
        measured = world.joints().position
        tilt = max(tilt, 1.0 + world.data.body(f"{robot.name}/{arm.ee_link}").xmat[8])
        for name, index in FOLLOWERS.items():
            law, leader = robot.joints[name].mimic, measured[own[index]]
            assert law is not None
            drift = max(drift, abs(measured[names.index(name)] - law.multiplier * leader - law.offset))
    assert np.abs(world.joints().position[own] - arm.home_q - s * reach).max() < 0.01
    assert np.arccos(1.0 - tilt) < 0.001, "rad"
    assert drift < 0.001, "rad"


@pytest.mark.slow
def test_a_palletiser_from_its_urdf_picks_and_places(folder: Path) -> None:
    good, failed = episodes(folder, range(3))
    assert good == 3, failed
