"""Every ros2_control file fits its robot: its joints, valid interfaces, tolerances that are checked."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
import yaml

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from robot_description import spawn_controllers
from robot_description.formats.ros2_control import controllers, controllers_text, with_hardware
from support.navigated import navigated_robot
from support.paths import ROBOTS

FILES = sorted(ROBOTS.glob("*/ros2_control.yaml"))
BROADCASTER = "joint_state_broadcaster/JointStateBroadcaster"
ARM = "joint_trajectory_controller/JointTrajectoryController"
GRIPPER = "parallel_gripper_action_controller/GripperActionController"


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.parent.name)
def case(request: pytest.FixtureRequest) -> tuple[Robot, dict[str, Any]]:
    return load_robot(request.param.parent), yaml.safe_load(request.param.read_text())


def parameters(data: dict[str, Any], name: str) -> dict[str, Any]:
    return dict(data[name]["ros__parameters"])


def types(data: dict[str, Any]) -> dict[str, str]:
    manager = parameters(data, "controller_manager")
    return {name: item["type"] for name, item in manager.items() if isinstance(item, dict)}


def test_every_robot_has_its_file() -> None:
    robots = {path.parent.name for path in ROBOTS.glob("*/robot.yaml")}
    assert robots == {path.parent.name for path in FILES}, (
        "python -m robot_description.formats.ros2_control writes it"
    )


def test_controllers_are_those_that_the_stack_calls(case: tuple[Robot, dict[str, Any]]) -> None:
    robot, data = case
    wanted = {"joint_state_broadcaster": BROADCASTER} | {
        arm.hardware_controller: ARM for arm in robot.arms.values()
    }
    for arm in robot.arms.values():
        if arm.gripper is not None and arm.gripper.suction is None:
            wanted[f"{arm.gripper.name}_controller"] = GRIPPER
    if robot.base is not None:
        wanted[robot.base.hardware_controller] = ARM
    if robot.posture:
        wanted[f"{robot.name}_posture_controller"] = ARM
    assert types(data) == wanted
    assert set(data) == {"controller_manager", *wanted} - {"joint_state_broadcaster"}
    assert parameters(data, "controller_manager")["update_rate"] >= 100


def test_every_joint_that_moves_by_itself_is_driven_once(case: tuple[Robot, dict[str, Any]]) -> None:
    robot, data = case
    driven = [
        joint
        for name, kind in types(data).items()
        if kind != BROADCASTER
        for joint in (
            [parameters(data, name)["joint"]] if kind == GRIPPER else parameters(data, name)["joints"]
        )
    ]
    own = {j.name for j in robot.joints.values() if j.type is not JointKind.FIXED and j.mimic is None}
    assert sorted(driven) == sorted(own)
    for arm in robot.arms.values():
        assert tuple(parameters(data, arm.hardware_controller)["joints"]) == arm.joint_names


def test_tolerances_are_enforced(case: tuple[Robot, dict[str, Any]]) -> None:
    _, data = case
    for name, kind in types(data).items():
        given = {} if kind == BROADCASTER else parameters(data, name)
        if kind == ARM:
            limits = given["constraints"]
            assert limits["goal_time"] > 0.0
            assert limits["stopped_velocity_tolerance"] > 0.0
            assert {joint for joint in limits if isinstance(limits[joint], dict)} == set(given["joints"])
            for joint in given["joints"]:
                assert 0.0 < limits[joint]["goal"] <= limits[joint]["trajectory"]
                assert limits["decelerate_on_cancel"] <= ("max_deceleration_on_cancel" in limits[joint])
            assert given["command_interfaces"] == ["position"]
            assert given["state_interfaces"] == ["position", "velocity"]
        if kind == GRIPPER:
            assert given["allow_stalling"] is True
            assert given["goal_tolerance"] > 0.0
            assert given["max_effort_interface"].split("/")[0] == given["joint"]


def test_the_hardware_offers_what_the_controllers_claim(case: tuple[Robot, dict[str, Any]]) -> None:
    robot, data = case
    tree = ElementTree.fromstring(with_hardware(robot, "vendor/Driver", {"robot_ip": "192.168.0.2"}))
    system = tree.find("ros2_control")
    assert system is not None
    assert system.findtext("hardware/plugin") == "vendor/Driver"
    assert system.findtext("hardware/param[@name='robot_ip']") == "192.168.0.2"

    def offered(kind: str) -> set[str]:
        return {f"{j.get('name')}/{i.get('name')}" for j in system.findall("joint") for i in j.findall(kind)}

    for name, kind in types(data).items():
        given = {} if kind == BROADCASTER else parameters(data, name)
        if kind == ARM:
            for joint in given["joints"]:
                assert f"{joint}/position" in offered("command_interface")
                assert {f"{joint}/position", f"{joint}/velocity"} <= offered("state_interface")
        if kind == GRIPPER:
            assert {f"{given['joint']}/position", given["max_effort_interface"]} <= offered(
                "command_interface"
            )
    for joint in robot.joints.values():
        if joint.mimic is not None:
            assert f"{joint.name}/position" not in offered("command_interface")
            assert f"{joint.name}/position" in offered("state_interface")


def test_the_spawner_is_given_every_controller(case: tuple[Robot, dict[str, Any]]) -> None:
    robot, data = case
    words = spawn_controllers.command(ROBOTS / robot.name, ["--inactive"])
    assert words[:4] == ["ros2", "run", "controller_manager", "spawner"]
    assert set(words[4 : words.index("--param-file")]) == set(types(data))
    assert words[-1] == "--inactive"


def test_a_written_file_says_what_the_robot_is() -> None:
    robot = load_robot(ROBOTS / "fr3")
    assert controllers_text(robot, 1000) == (ROBOTS / "fr3/ros2_control.yaml").read_text()


def test_the_joints_of_a_base_that_nav2_drives_are_left_to_another_node() -> None:
    robot = navigated_robot()
    assert robot.base is not None
    assert robot.base.hardware_controller not in controllers(robot, 1000)
    tree = ElementTree.fromstring(with_hardware(robot, "vendor/Driver", {}))
    offered = {joint.get("name") for joint in tree.iterfind("ros2_control/joint")}
    assert not offered & set(robot.base.joint_names)
    assert "fr3_joint1" in offered
