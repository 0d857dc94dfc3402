"""Broken robot folders stop with the file, the key and the remedy."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.control.joint_groups import arm_axes
from handiwork_core.robot.robot import GripperAction
from handiwork_core.robot_files.loader import load_robot
from robot_description.formats.ros2_control import controllers
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
YAML, XACRO, HAND, SPHERES = "robot.yaml", "arm.xacro", "fr3.urdf.xacro", "spheres.yaml"
CAMERA = "tool_frames: {camera: {link: fr3_hand}}\nsimbox:\n"
FRANKA_HAND = "../parts/franka_hand.xacro"


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (YAML, "ee_link: fr3_hand", "ee_link: fr3_hnad", ["arms.fr3_arm.ee_link", "fr3_hnad", "'fr3_hand'"]),
        (YAML, "[fr3_joint1, ", "[fr3_jiont1, ", ["joints[0]", "fr3_jiont1", "'fr3_joint1'"]),
        (
            YAML,
            "joints: [fr3_joint1, ",
            "joints: [fr3_finger_joint2, ",
            ["joints[0]", "mimics fr3_finger_joint1"],
        ),
        (YAML, "simbox:\n", CAMERA.replace("hand}", "hnad}"), ["tool_frames.camera.link", "'fr3_hand'"]),
        (
            YAML,
            "simbox:\n",
            CAMERA.replace("camera", "fr3_link7"),
            ["tool_frames.fr3_link7", "name of a link"],
        ),
        (
            YAML,
            "simbox:\n",
            CAMERA.replace("hand}", "hand, quaternion: [1, 1, 0, 0]}"),
            ["tool_frames.camera.quaternion", "norm"],
        ),
        (
            YAML,
            "    base_link: fr3_link0",
            "    controller: scaled controller\n    base_link: fr3_link0",
            ["arms.fr3_arm", "controller: is 'scaled controller'", "write letters"],
        ),
        (
            YAML,
            "    base_link: fr3_link0",
            "    controller: jtc\n    hardware_controller: jtc\n    base_link: fr3_link0",
            ["arms.fr3_arm.hardware_controller: is 'jtc', as arms.fr3_arm.controller"],
        ),
        (
            YAML,
            "    base_link: fr3_link0",
            "    driver: {name: ur}\n    base_link: fr3_link0",
            ["arms.fr3_arm.driver", "'ur'", "franka, universal_robots"],
        ),
        (
            YAML,
            "max_force: 100.0",
            "max_force: 100.0\n      action_type: Gripper",
            ["action_type", "GripperCommand"],
        ),
        (YAML, "payload: {mass: 3.0,", "payload: {mass: 0.0,", ["arms.fr3_arm.payload", "more than 0 kg"]),
        (YAML, "flange: fr3_link8", "flange: fr3_link9", ["arms.fr3_arm.payload.flange", "'fr3_link8'"]),
        (YAML, "flange: fr3_link8", "flange: fr3_link3", ["payload.flange: is 'fr3_link3'", "'fr3_link8'"]),
        (YAML, "home: [0.0,", "home: [9.0,", ["home[0]", "9.0", "-2.7437"]),
        (YAML, "home: [0.0, ", "home: [", ["6 entries", "write 7"]),
        (YAML, "[fr3_link0, fr3_link1]", "[fr3_link0, x]", ["ignored_pairs[0]", "'x'"]),
        (YAML, "home_width: 0.08", "home_width: 0.09", ["widths", "0.09"]),
        (YAML, "max_force", "max_fource", ["max_fource", "unknown key", "max_force"]),
        (YAML, "  fr3_joint3: {acceleration: 10.0, jerk: 5000.0}\n", "", ["limits.fr3_joint3", "missing"]),
        (YAML, "urdf: fr3.urdf.xacro", "urdf: no.urdf", ["no.urdf", "check the path"]),
        (
            YAML,
            "    base_link: fr3_link0",
            "    controller_profile: {path_tolerance: 0.1}\n    base_link: fr3_link0",
            ["arms.fr3_arm.controller_profile", "0.1, more than greatest_path_tolerance 0.05"],
        ),
        (SPHERES, "fr3_hand:", "fr3_hant:", ["links.fr3_hant", "'fr3_hand'"]),
        (SPHERES, "radius: 0.", "radius: -0.", ["fr3_link0[0]", "-0."]),
        (XACRO, 'child="fr3_link3"', 'child="fr3_link33"', ["fr3_joint3", "fr3_link33", "fr3_link3"]),
        (XACRO, 'damping="0.003"', 'axis="0 0 0" damping="0.003"', ["fr3_joint1", "axis is zero"]),
        (XACRO, 'lower="-2.7437"', 'lower="3"', ["fr3_joint1", "lower limit 3.0", "swap"]),
        (FRANKA_HAND, 'follows="fr3_finger_joint1"', 'follows="fr3_f"', ["fr3_finger_joint2", "'fr3_f'"]),
        (
            FRANKA_HAND,
            'follows="fr3_finger_joint1"',
            'follows="fr3_joint7"',
            [
                "fr3_finger_joint2: follows fr3_joint7 of arm fr3_arm",
                "carried by its hand fr3_hand",
                "gripper",
            ],
        ),
        (
            XACRO,
            '<cylinder radius="0.1147" length="0.0255"/>',
            '<mesh filename="a.stl"/>',
            ["fr3_link0", "a.stl"],
        ),
        (
            XACRO,
            'parent="fr3_link0" child="fr3_link1"',
            'parent="fr3_link4" child="fr3_link1"',
            ["cycle", "fr3_link2"],
        ),
        (HAND, "</robot>", '<link name="loose"/></robot>', ["loose", "one root"]),
        (
            XACRO,
            '<xacro:mass kg="2.9274653454"',
            '<xacro:mass kg="0"',
            ["fr3_link1", "no mass", "<inertial>"],
        ),
        (XACRO, 'name="fr3_joint8"', 'name="fr3_joint7"', ["fr3_joint7", "2 times", "keep one"]),
        (FRANKA_HAND, "${2 * quarter}", "${2 * quarter", ["xacro"]),
        (XACRO, 'type="revolute"', 'type="continuos"', ["continuos", "not supported"]),
    ],
)
def test_a_fault_is_named(tmp_path: Path, file: str, old: str, new: str, words: list[str]) -> None:
    folder = tmp_path / "fr3"
    shutil.copytree(FR3, folder)
    shutil.copytree(FR3.parent / "parts", tmp_path / "parts")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_robot(folder)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert str(folder) in caught.value.source


def test_the_profile_of_a_controller_reaches_the_controller_and_ros2_control(tmp_path: Path) -> None:
    folder = tmp_path / "fr3"
    shutil.copytree(FR3, folder)
    shutil.copytree(FR3.parent / "parts", tmp_path / "parts")
    text = (folder / YAML).read_text(encoding="utf-8")
    given = "    controller_profile: {path_tolerance: 0.03, greatest_path_tolerance: 0.06, goal_time: 2.0}\n"
    (folder / YAML).write_text(
        text.replace("    base_link: fr3_link0", given + "    base_link: fr3_link0"), encoding="utf-8"
    )
    robot = load_robot(folder)
    names = robot.arms["fr3_arm"].joint_names
    controller = arm_axes(robot, names, np.zeros(len(names)))["fr3_arm"].controller
    assert (controller.tolerances.path, controller.tolerances.greatest_path) == (0.03, 0.06)
    written = controllers(robot, 250)["fr3_arm_hardware_controller"]["ros__parameters"]["constraints"]  # type: ignore[index,call-overload]
    assert (written["fr3_joint1"]["trajectory"], written["goal_time"]) == (0.03, 2.0)


def test_tool_frames_are_read_with_their_pose(tmp_path: Path) -> None:
    folder = tmp_path / "fr3"
    shutil.copytree(FR3, folder)
    shutil.copytree(ROBOTS / "parts", tmp_path / "parts")
    frame = (
        "tool_frames: {camera: {link: fr3_hand, xyz: [0.05, 0, 0.02], quaternion: [0, 1, 0, 0]}}\nsimbox:\n"
    )
    text = (folder / YAML).read_text()
    (folder / YAML).write_text(text.replace("simbox:\n", frame))
    camera = load_robot(folder).tool_frames["camera"]
    assert camera.link == "fr3_hand"
    assert camera.link_T_tool.translation_m.tolist() == [0.05, 0.0, 0.02]
    assert camera.link_T_tool.rotation.wxyz.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_controllers_have_the_names_and_actions_of_the_robot_file(tmp_path: Path) -> None:
    folder = shutil.copytree(ROBOTS, tmp_path / "robots") / "fr3"
    text = (folder / YAML).read_text(encoding="utf-8")
    assert load_robot(folder).arm("").controller == "fr3_arm_controller"
    text = text.replace(
        "    base_link: fr3_link0",
        "    controller: scaled_joint_trajectory_controller\n    hardware_controller: joint_impedance\n"
        "    driver: {name: universal_robots, prefix: left/}\n    base_link: fr3_link0",
    ).replace(
        "max_force: 100.0",
        "max_force: 100.0\n      action: hand/gripper_cmd\n      action_type: GripperCommand",
    )
    (folder / YAML).write_text(text, encoding="utf-8")
    robot = load_robot(folder)
    arm = robot.arm("")
    assert arm.gripper is not None and arm.driver is not None
    assert (arm.controller, arm.hardware_controller) == (
        "scaled_joint_trajectory_controller",
        "joint_impedance",
    )
    assert (arm.gripper.action_name, arm.gripper.action_type) == ("hand/gripper_cmd", GripperAction.SINGLE)
    assert arm.driver.topic(arm.driver.signals[0].topic) == "left/io_and_status_controller/safety_mode"
    manager = controllers(robot, 250)["controller_manager"]["ros__parameters"]
    assert manager["hand"] == {"type": "position_controllers/GripperActionController"}  # type: ignore[index,call-overload]
    assert "joint_impedance" in manager  # type: ignore[operator]


LIKE = """
name: fr3
like: {like}
arms:
  fr3_arm:
    driver: {{name: franka}}
    gripper: {{action: franka_gripper/gripper_action, action_type: GripperCommand}}
"""


def test_a_robot_like_another_has_its_own_driver(tmp_path: Path) -> None:
    (tmp_path / YAML).write_text(LIKE.format(like=FR3), encoding="utf-8")
    arm = load_robot(tmp_path).arm("")
    assert arm.gripper is not None and arm.driver is not None
    assert (arm.controller, arm.gripper.action_name) == (
        "fr3_arm_controller",
        "franka_gripper/gripper_action",
    )
    assert arm.driver.name == "franka" and arm.gripper.width_per_joint == 2.0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("  fr3_arm:", "  arm:", ["arms.arm", "no such arm"]),
        ("{name: franka}", "{name: frank}", ["arms.fr3_arm.driver", "'frank'"]),
        ("arms:", "posture: {}\narms:", ["posture", "unknown key"]),
        (
            "franka_gripper/gripper_action",
            "fr3_arm_controller",
            ["gripper.action", "as arms.fr3_arm.controller"],
        ),
    ],
)
def test_a_wrong_driver_of_a_robot_like_another_is_named(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    text = LIKE.format(like=FR3)
    assert old in text
    (tmp_path / YAML).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_robot(tmp_path)
    assert all(word in str(refused.value) for word in words), refused.value
