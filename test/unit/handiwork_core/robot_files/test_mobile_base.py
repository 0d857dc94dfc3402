"""A mobile base of ``robot.yaml``: three joints below the former root, and the refusals."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.kinematics import forward, link_poses
from handiwork_core.robot.robot import NavigationSpec
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

BASE = (
    "base: {kind: holonomic, velocity: 0.5, acceleration: 0.6, jerk: 3.0, "
    "turn_velocity: 0.8, turn_acceleration: 1.0, turn_jerk: 5.0, range: 3.0}\n"
)


def mobile(folder: Path, base: str = BASE) -> Path:
    """A copy of the FR3 on wheels, beside its parts."""
    shutil.copytree(ROBOTS, folder, dirs_exist_ok=True, copy_function=os.link)
    path = folder / "fr3/robot.yaml"
    text = path.read_text(encoding="utf-8")
    path.unlink()
    path.write_text(text + "\n" + base, encoding="utf-8")
    return folder / "fr3"


def test_the_base_carries_the_robot_and_the_arm_stays_the_same(tmp_path: Path) -> None:
    fixed, robot = load_robot(ROBOTS / "fr3"), load_robot(mobile(tmp_path))
    assert robot.base is not None
    assert robot.root_link == "base_origin"
    assert robot.base.link == "fr3_link0"
    assert robot.base.joint_names == ("base_x", "base_y", "base_yaw")
    assert robot.base.controller == "base_controller"
    assert fixed.base is None
    x, yaw = robot.joints["base_x"], robot.joints["base_yaw"]
    assert (x.upper, x.velocity, x.acceleration, x.jerk) == (3.0, 0.5, 0.6, 3.0)
    assert (yaw.velocity, yaw.acceleration, yaw.jerk) == (0.8, 1.0, 5.0)
    q = robot.arm("").home_q
    same = forward(robot, "", q), forward(fixed, "", q)
    assert same[0].almost_equal(same[1], within_m=1e-12, within_rad=1e-6)
    poses = link_poses(robot, {"base_x": 1.0, "base_y": 2.0, "base_yaw": math.pi / 2})
    assert poses["fr3_link0"].apply((0.5, 0.0, 0.0)) == pytest.approx([1.0, 2.5, 0.0])


def test_a_server_that_drives_the_base_is_named(tmp_path: Path) -> None:
    text = "differential, navigate_action: nav/navigate_to_pose, map_frame: site, behavior_tree: /trees/a.xml"
    robot = load_robot(mobile(tmp_path, BASE.replace("holonomic", text)))
    assert robot.base is not None
    navigation = NavigationSpec("nav/navigate_to_pose", "site", "base_link", "/trees/a.xml")
    assert robot.base.navigation == navigation
    own = load_robot(mobile(tmp_path / "own"))
    assert own.base is not None
    assert own.base.navigation is None


def test_a_navigated_base_is_not_commanded(tmp_path: Path) -> None:
    own = load_robot(mobile(tmp_path / "own"))
    assert own.commanded_base is own.base is not None
    assert own.navigation is None
    served = load_robot(
        mobile(tmp_path / "served", BASE.replace("holonomic", "holonomic, navigate_action: go"))
    )
    assert served.commanded_base is None
    assert served.base is not None and served.navigation is served.base.navigation is not None
    fixed = load_robot(ROBOTS / "fr3")
    assert fixed.commanded_base is None and fixed.navigation is None


def test_a_prefix_holds_for_the_frame_of_a_navigated_base_and_not_for_the_map(tmp_path: Path) -> None:
    base = BASE.replace("holonomic", "differential, navigate_action: left/navigate_to_pose, map_frame: site")
    text = f"name: roller\nlike: {ROBOTS / 'fr3'}\ntf_prefix: left_\n{base}"
    (tmp_path / "robot.yaml").write_text(text, encoding="utf-8")
    navigation = NavigationSpec("left/navigate_to_pose", "site", "left_base_link")
    assert load_robot(tmp_path).navigation == navigation


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("velocity: 0.5", "velocity: 0.0", "base.velocity: is 0"),
        ("turn_jerk: 5.0, ", "", "base.turn_jerk: missing"),
        ("holonomic", "legged", "base.kind: is 'legged'"),
        ("range: 3.0", "name: my base", "base.name: is 'my base'"),
        ("range: 3.0", "map_frame: site", "base.map_frame: is of use with navigate_action alone"),
        ("range: 3.0", "behavior_tree: a.xml", "base.behavior_tree: is of use with navigate_action alone"),
        ("range: 3.0", "navigate_action: go there", "base.navigate_action: is 'go there'"),
        ("range: 3.0", "navigate_action: go, base_frame: /base_link", "base.base_frame: is '/base_link'"),
        ("range: 3.0", "navigate_action: go, map_frame: ''", "base.map_frame: is ''"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_robot(mobile(tmp_path, BASE.replace(old, new, 1)))
    assert any(fault in one for one in refused.value.faults), refused.value.faults


def test_a_robot_that_is_like_another_one_gets_a_base(tmp_path: Path) -> None:
    (tmp_path / "robot.yaml").write_text(f"name: roller\nlike: {ROBOTS / 'fr3'}\n{BASE}", encoding="utf-8")
    robot, other = load_robot(tmp_path), load_robot(mobile(tmp_path / "copies"))
    assert robot.base is not None
    assert (robot.name, robot.root_link, robot.base.link) == ("roller", "base_origin", "fr3_link0")
    assert robot.links == other.links
    assert robot.joints.keys() == other.joints.keys()
    x = robot.joints["base_x"]
    assert (x.upper, x.velocity, x.acceleration, x.jerk) == (3.0, 0.5, 0.6, 3.0)
    assert robot.joints["fr3_joint1"].jerk == other.joints["fr3_joint1"].jerk
    at = {"base_x": 1.0, "base_y": 2.0, "base_yaw": 0.3, "fr3_joint2": 0.4}
    hand = [link_poses(one, at)["fr3_hand"] for one in (robot, other)]
    assert hand[0].almost_equal(hand[1], within_m=1e-12, within_rad=1e-6)


def test_a_robot_that_drives_gets_no_second_base(tmp_path: Path) -> None:
    text = f"name: roller\nlike: {ROBOTS / 'fr3_mobile'}\n{BASE}"
    (tmp_path / "robot.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"base: .*has a mobile base already; leave base out"):
        load_robot(tmp_path)


def test_a_prefix_holds_for_the_base_of_a_robot_that_is_like_another_one_too(tmp_path: Path) -> None:
    text = f"name: roller\nlike: {ROBOTS / 'fr3'}\ntf_prefix: left_\n{BASE}"
    (tmp_path / "robot.yaml").write_text(text, encoding="utf-8")
    robot = load_robot(tmp_path)
    assert robot.base is not None
    assert robot.base.joint_names == ("left_base_x", "left_base_y", "left_base_yaw")
    assert robot.root_link == "left_base_origin"
