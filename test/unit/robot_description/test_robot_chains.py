"""The kinematics of every arm are those that its maker publishes, and every arm plans from its home."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn

from handiwork_core.contracts.planning import PlanRequest, PoseGoals, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.kinematics import forward, link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from robot_description.collision_pairs.many_poses import free_joints, many_link_poses
from support.paths import ROBOTS, ROOT

CHAINS = json.loads((ROOT / "test/data/robots/chains.json").read_text(encoding="utf-8"))
COUNT = 1000


def published(chain: list[Any], q: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (n, 3, 3) and positions (n, 3) of the EE link in the root, from the published numbers alone."""
    turn, place = np.tile(np.eye(3), (COUNT, 1, 1)), np.zeros((COUNT, 3))
    for name, kind, xyz, rpy, axis in chain:
        place = place + turn @ np.array(xyz)
        turn = turn @ Turn.from_euler("xyz", rpy).as_matrix()
        if kind == "revolute":
            turn = turn @ Turn.from_rotvec(q[name][:, None] * np.array(axis)).as_matrix()
        elif kind == "prismatic":
            place = place + np.einsum("nij,nj->ni", turn, q[name][:, None] * np.array(axis))
    return turn, place


@pytest.mark.parametrize("key", CHAINS)
def test_forward_kinematics_are_the_published_ones(key: str) -> None:
    folder, arm = key.split("/")
    robot = load_robot(ROBOTS / folder)
    rng = np.random.default_rng(1)
    q = {joint.name: rng.uniform(joint.lower, joint.upper, COUNT) for joint in free_joints(robot)}
    turn, place = published(CHAINS[key], q)
    link = robot.arms[arm].ee_link
    found_turn, found_place = many_link_poses(robot, q, (link,))[link]
    assert np.abs(found_place - place).max() < 1e-9
    assert np.abs(found_turn - turn).max() < 1e-9
    for i in range(0, COUNT, 100):
        pose = link_poses(robot, {name: float(values[i]) for name, values in q.items()})[link]
        assert np.abs(pose.translation_m - place[i]).max() < 1e-9
        assert np.abs(pose.rotation.matrix() - turn[i]).max() < 1e-9


@pytest.mark.parametrize("folder", sorted({key.split("/")[0] for key in CHAINS}))
def test_every_arm_plans_from_its_home(folder: str) -> None:
    robot = load_robot(ROBOTS / folder)
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    engine.update_world(World(0.0, 1, {}, {}, (), 0.0, JointState(0.0, {}, {})))
    rng = np.random.default_rng(0)
    for arm in robot.arms.values():
        root_T_base, done = link_poses(robot, {})[arm.base_link], 0
        joints = [robot.joints[name] for name in arm.joint_names]
        low, high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
        while done < 3:
            q = arm.home_q + rng.uniform(0.1, 0.4) * (rng.uniform(low, high) - arm.home_q)
            if engine.explain(arm.name, q, SceneQuery()).code is not Code.OK:
                continue
            goal = root_T_base @ forward(robot, arm.name, q)
            request = PlanRequest(arm.name, np.array(arm.home_q), PoseGoals((goal,)), SceneQuery())
            result = engine.plan(request, lambda: False)
            assert result.code is Code.OK, result.message
            assert result.trajectory is not None
            end = root_T_base @ forward(robot, arm.name, result.trajectory.q[-1])
            assert np.linalg.norm(end.translation_m - goal.translation_m) < 1e-3
            done += 1
    engine.close()
