"""The UR10 has the kinematics of its maker's parameters, its cup is at the rim, and the CPU engine plans for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import JointGoals, PlanRequest, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.robot_files.suction_file import SuctionFile
from handiwork_planning.cpu_engine import CpuEngine
from support.paths import ROBOTS

FOLDER = ROBOTS / "ur10_suction"
ROBOT = load_robot(FOLDER)
ARM = ROBOT.arm("ur10_arm")
DH = (
    (0.1273, 0.0, np.pi / 2.0),
    (0.0, -0.612, 0.0),
    (0.0, -0.5723, 0.0),
    (0.163941, 0.0, np.pi / 2.0),
    (0.1157, 0.0, -np.pi / 2.0),
    (0.0922, 0.0, 0.0),
)
"""Universal Robots' published Denavit-Hartenberg rows: d [m], a [m], alpha [rad]."""


def flange_by_rows(q: Array) -> Array:
    """Return the pose (4, 4) of the flange, from the rows; they start in a frame that is turned by half a turn."""
    made = np.diag([-1.0, -1.0, 1.0, 1.0])
    for angle, (d, a, alpha) in zip(q, DH, strict=True):
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        row = [
            [c, -s * ca, s * sa, a * c],
            [s, c * ca, -c * sa, a * s],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
        made = made @ np.array(row)
    return made


def test_forward_kinematics_equal_the_makers_rows() -> None:
    rng = np.random.default_rng(0)
    lower = [ROBOT.joints[name].lower for name in ARM.joint_names]
    upper = [ROBOT.joints[name].upper for name in ARM.joint_names]
    for q in rng.uniform(lower, upper, (1000, 6)):
        poses = link_poses(ROBOT, dict(zip(ARM.joint_names, q.tolist(), strict=True)))
        expected = flange_by_rows(q)
        assert np.abs(poses["tool0"].matrix() - expected).max() < 1e-9
        tip = expected[:3, 3] + 0.161709 * expected[:3, 2]
        assert np.abs(poses["suction_tip"].translation_m - tip).max() < 1e-9


def test_the_cup_is_the_gripper() -> None:
    gripper = ARM.gripper
    assert gripper is not None
    assert gripper.suction is not None
    assert gripper.finger_links == (gripper.suction.link,) == ("suction_cup",)
    assert gripper.joint == ""


def test_a_way_from_home_is_found() -> None:
    engine = CpuEngine(ROBOT, Pose.identity(), lambda _part, _what: None)
    try:
        engine.update_world(World(0.0))
        goal = ARM.home_q + np.array([1.2, 0.4, -0.5, 0.3, 0.0, 0.5])
        request = PlanRequest(
            "ur10_arm", ARM.home_q, JointGoals(goal[None]), SceneQuery(), budget_s=5.0, seed=0
        )
        result = engine.plan(request, lambda: False)
    finally:
        engine.close()
    assert result.code is Code.OK, result
    assert result.trajectory is not None
    assert np.abs(result.trajectory.q[-1] - goal).max() < 1e-6


@pytest.mark.parametrize(("old", "new", "words"), [
    ("link: suction_cup", "link: suction_cap", "no link 'suction_cap' in the URDF"),
    ("radius: 0.02", "radius: -0.02", "must be more than 0"),
    ("closing_axis: 1", "closing_axis: 2", "two of 0, 1 and 2"),
    ("max_angle: 0.17", "max_angle: 2.0", "max_angle"),
])  # fmt: skip
def test_a_wrong_cup_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    for file in FOLDER.iterdir():
        (tmp_path / file.name).write_text(file.read_text().replace(old, new))
    with pytest.raises(ConfigError, match=words):
        load_robot(tmp_path)


def test_a_cup_is_a_gripper_without_a_joint() -> None:
    turn = ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    made = SuctionFile("cup", "lip", 0.01, 0.002, 0.1, 50.0, 20.0, 1.0, 2, 1, 0.1, turn).build()
    assert (made.name, made.joint, made.finger_links) == ("cup", "", ("lip",))
    assert made.suction is not None
    assert made.suction.max_shear_n == 20.0
