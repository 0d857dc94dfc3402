"""The judgement of what the driver of an arm reports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handiwork_check.contract import action_rules, topic_rules
from handiwork_check.findings import CheckVerdict
from handiwork_check.judge_driver import DriverReading, judge_driver
from handiwork_core.robot.driver import DRIVERS, UR_SAFETY, stop_text
from handiwork_core.robot.robot import GripperAction
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

UR = DRIVERS["universal_robots"]
GOOD = DriverReading("arm", UR, has_signal=True, scaling=100.0)
PASS, FAIL, MISSING = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.MISSING


@pytest.mark.parametrize(
    ("reading", "check", "verdict", "words"),
    [
        (GOOD, "driver stop arm", PASS, "no stop"),
        (GOOD, "driver scaling arm", PASS, "100"),
        (replace(GOOD, scaling=0.7), "driver scaling arm", PASS, "0.7"),
        (replace(GOOD, stop=stop_text("arm", UR_SAFETY[3])), "driver stop arm", FAIL, "protective stop"),
        (replace(GOOD, has_signal=False), "driver stop arm", MISSING, "nothing"),
        (replace(GOOD, scaling=0.0), "driver scaling arm", FAIL, "is 0"),
        (replace(GOOD, scaling=1000.0), "driver scaling arm", FAIL, "1000"),
        (replace(GOOD, scaling=None), "driver scaling arm", MISSING, "no speed scaling"),
        (replace(GOOD, unreadable={"a/b": "x_msgs/msg/X"}), "driver type a/b", FAIL, "x_msgs/msg/X"),
    ],
)
def test_each_report_has_its_verdict(
    reading: DriverReading, check: str, verdict: CheckVerdict, words: str
) -> None:
    found = {finding.check: finding for finding in judge_driver(reading, is_simulated=False)}[check]
    assert found.verdict is verdict and words in found.text
    assert (found.remedy == "") == (verdict is PASS)


def test_a_stop_is_corrected_by_what_to_press() -> None:
    stopped = replace(GOOD, stop=stop_text("arm", UR_SAFETY[3]))
    found = next(iter(judge_driver(stopped, is_simulated=False)))
    assert "Enable Robot" in found.remedy and "Enable Robot" not in found.text


def test_a_simulation_needs_no_driver() -> None:
    silent = DriverReading("arm", UR, has_signal=False)
    assert not any(finding.is_fault for finding in judge_driver(silent, is_simulated=True))
    assert all(finding.is_fault for finding in judge_driver(silent, is_simulated=False))


def test_the_contract_has_the_names_of_the_robot_file() -> None:
    robot = load_robot(ROBOTS / "fr3")
    arm = robot.arm("")
    assert arm.gripper is not None
    gripper = replace(arm.gripper, action="/hand/gripper_action", action_type=GripperAction.SINGLE)
    named = replace(arm, controller_name="scaled", driver=replace(UR, prefix="left/"), gripper=gripper)
    robot = replace(robot, arms={arm.name: named})
    assert [(rule.name, rule.type) for rule in action_rules(robot)] == [
        ("/scaled/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory"),
        ("/hand/gripper_action", "control_msgs/action/GripperCommand"),
    ]
    topics = {rule.name: rule for rule in topic_rules(robot, is_simulated=False)}
    assert topics["/left/io_and_status_controller/safety_mode"].latched
    assert topics["/left/speed_scaling_state_broadcaster/speed_scaling"].required
