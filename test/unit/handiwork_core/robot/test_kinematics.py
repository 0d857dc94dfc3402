"""Forward kinematics of the FR3 against a product of matrices written from the published joint values."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.robot.kinematics import forward, joint_motion, joint_position, link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
# Modified Denavit-Hartenberg rows of the arm: a [m], d [m], alpha [rad].
ROWS = (
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -np.pi / 2),
    (0.0, 0.316, np.pi / 2),
    (0.0825, 0.0, np.pi / 2),
    (-0.0825, 0.384, -np.pi / 2),
    (0.0, 0.0, np.pi / 2),
    (0.088, 0.0, np.pi / 2),
)
LOWER = np.array([-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159])
UPPER = np.array([2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(FR3)


def by_hand(q: np.ndarray) -> np.ndarray:
    total = np.eye(4)
    for (a, d, alpha), angle in zip(ROWS, q, strict=True):
        ca, sa, c, s = np.cos(alpha), np.sin(alpha), np.cos(angle), np.sin(angle)
        total = total @ np.array(
            [[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]]
        )
    c = np.sqrt(0.5)
    return total @ np.array([[c, c, 0, 0], [-c, c, 0, 0], [0, 0, 1, 0.107], [0, 0, 0, 1]])


def test_the_hand_is_where_the_matrices_say(robot: Robot) -> None:
    rng = np.random.default_rng(0)
    for q in LOWER + (UPPER - LOWER) * rng.random((200, 7)):
        assert np.abs(forward(robot, "", q).matrix() - by_hand(q)).max() < 1e-9


def test_fingers_move_apart_along_y_of_the_hand(robot: Robot) -> None:
    poses = link_poses(robot, {"fr3_finger_joint1": 0.03})
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hand_T_finger = poses["fr3_hand"].inverse() @ poses[f"fr3_{side}finger"]
        assert np.allclose(hand_T_finger.translation_m, [0.0, sign * 0.03, 0.0584], atol=1e-12)


def test_joints_not_named_are_at_home(robot: Robot) -> None:
    home = robot.arm("").home_q
    assert np.allclose(link_poses(robot, {})["fr3_hand"].matrix(), by_hand(home), atol=1e-9)


def test_of_wanted_links_only_these_and_the_root_are_returned(robot: Robot) -> None:
    every, some = link_poses(robot, {}), link_poses(robot, {}, ("fr3_link3", "fr3_link2", robot.root_link))
    assert set(some) == {robot.root_link, "fr3_link2", "fr3_link3"}
    assert all(some[link].almost_equal(every[link], within_m=0.0, within_rad=0.0) for link in some)


@pytest.mark.parametrize("name", ["fr3_mobile", "fr3_robotiq", "lift2", "ur10_suction"])
def test_every_link_is_where_its_joints_put_it_one_by_one(name: str) -> None:
    robot, rng = load_robot(ROBOTS / name), np.random.default_rng(5)
    named = {one.name: float(rng.uniform(-1.0, 1.0)) for one in robot.joints.values() if one.mimic is None}
    poses = link_poses(robot, named)
    assert list(poses) == list(robot.links)
    for joint in robot.joints.values():
        there = poses[joint.parent] @ joint.parent_T_joint
        here = there @ joint_motion(joint, joint_position(robot, joint.name, named))
        assert poses[joint.child].almost_equal(here, within_m=1e-12, within_rad=1e-7), joint.name


def test_wrong_length_is_refused(robot: Robot) -> None:
    with pytest.raises(ValueError, match="7 joints"):
        forward(robot, "fr3_arm", np.zeros(6))


def test_agrees_with_a_simulator(robot: Robot) -> None:
    mujoco = pytest.importorskip("mujoco")
    spec = mujoco.MjSpec.from_string(robot.urdf)
    spec.compiler.fusestatic = False
    model = spec.compile()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    names = robot.arm("").joint_names
    for q in LOWER + (UPPER - LOWER) * rng.random((20, 7)):
        for name, value in zip(names, q, strict=True):
            data.joint(name).qpos[0] = value
        mujoco.mj_kinematics(model, data)
        for link, pose in link_poses(robot, dict(zip(names, q.tolist(), strict=True))).items():
            if link == robot.root_link or "finger" in link:
                continue
            assert np.allclose(data.body(link).xpos, pose.translation_m, atol=1e-6)
            assert np.allclose(data.body(link).xmat.reshape(3, 3), pose.rotation.matrix(), atol=1e-6)
