"""A limit of contact force whose wrench is missing or old lets no arm move; the real simulation is the hardware."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.control.drivers import ArmDriver
from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.state import Mode, Refusal
from handiwork_safety.wrenches import GUARD_LOST_S, WRENCH_LOST_S, Wrenches

from .test_safety_windows import ARM, CONTROL_S, PERIODS, Rig

TOPICS = {ARM: "wrist/wrench"}
LIMIT_N = 150.0
STEP_S = PERIODS * CONTROL_S
REMEDY = "start the sensor that publishes wrist/wrench"


def test_no_motion_begins_before_the_first_wrench(robot: Robot) -> None:
    wrenches = Wrenches(TOPICS, LIMIT_N)
    rig = Rig(robot, wrenches)
    for _ in range(5):
        rig.advance()
    refused = ArmDriver(rig.plant, ARM).begin(rig.goal(0.5, 2.0))
    assert refused is not None and refused.code == ErrorCode.PROTECTIVE_STOP
    assert refused.message == (
        f"not moved: {ARM} has no wrench yet, at most {WRENCH_LOST_S:g} s are allowed with a contact force limit: "
        f"{REMEDY}"
    )
    wrenches.receive(ARM, np.full(3, np.nan))
    assert wrenches.is_missing(ARM), "a wrench that is not finite measures nothing"
    wrenches.receive(ARM, np.zeros(3))
    assert ArmDriver(rig.plant, ARM).begin(rig.goal(0.5, 2.0)) is None


def test_a_wrench_that_ends_stops_the_arm_until_it_is_back(robot: Robot) -> None:
    wrenches = Wrenches(TOPICS, LIMIT_N)
    rig, driver = Rig(robot, wrenches), None
    driver = ArmDriver(rig.plant, ARM)
    wrenches.receive(ARM, np.zeros(3))
    assert driver.begin(rig.goal(1.0, 6.0)) is None
    while rig.speed() < 0.15:
        wrenches.receive(ARM, np.zeros(3))
        rig.advance()
    silent_s = rig.until(lambda: rig.plant.safety.status.is_stopped)
    assert silent_s == pytest.approx(WRENCH_LOST_S, abs=3 * STEP_S)
    rig.until(lambda: rig.plant.safety.status.at_rest)
    result = driver.take()
    assert result is not None and result.ending is Ending.ABORTED
    assert f"protective stop: {ARM} has its last wrench of 0.4" in result.message and REMEDY in result.message
    with pytest.raises(Refusal, match=r"the cause lasts: .* has its last wrench"):
        rig.plant.safety.recover(np.zeros(0))
    wrenches.receive(ARM, np.zeros(3))
    rig.plant.safety.recover(np.zeros(0))
    assert rig.plant.safety.status.mode is Mode.NORMAL


@pytest.mark.parametrize("wrenches", [None, Wrenches(TOPICS, 0.0)], ids=["no topic", "no limit"])
def test_without_a_topic_or_a_limit_no_wrench_is_missed(robot: Robot, wrenches: Wrenches | None) -> None:
    rig = Rig(robot, wrenches)
    driver = ArmDriver(rig.plant, ARM)
    assert driver.begin(rig.goal(0.3, 1.5)) is None
    rig.until(lambda: not rig.plant.arms[ARM].controller.busy)
    result = driver.take()
    assert result is not None and result.ending is Ending.SUCCEEDED, result


def test_a_wrench_at_the_bound_of_a_goal_ends_it_and_stops_nothing_else(robot: Robot) -> None:
    wrenches = Wrenches(TOPICS, LIMIT_N)
    rig = Rig(robot, wrenches)
    driver, weight = ArmDriver(rig.plant, ARM), np.array((0.0, 0.0, 4.0))
    wrenches.receive(ARM, weight)
    assert driver.begin(replace(rig.goal(1.0, 6.0), stop_force=np.array((0.0, 0.0, 10.0)))) is None
    while rig.speed() < 0.15:
        wrenches.receive(ARM, weight)
        rig.advance()
    wrenches.receive(ARM, weight + (0.0, 0.0, 10.5))
    rig.until(lambda: not rig.plant.arms[ARM].controller.busy)
    result = driver.take()
    assert result is not None and result.code is ErrorCode.CONTACT, result
    assert rig.plant.safety.status.mode is Mode.NORMAL


def test_a_goal_that_ends_by_contact_is_refused_without_a_wrench(robot: Robot) -> None:
    rig = Rig(robot, None)
    refused = ArmDriver(rig.plant, ARM).begin(
        replace(rig.goal(0.5, 2.0), stop_force=np.array((0.0, 0.0, 10.0)))
    )
    assert refused is not None and refused.code is ErrorCode.INVALID_GOAL
    assert "give its topic as wrench_topic" in refused.message


def guarded(rig: Rig, wrenches: Wrenches, speed: float) -> ArmDriver:
    """Begin a motion that 10 N end, and return its driver once the arm moves at a speed, right after a window."""
    driver, sent = ArmDriver(rig.plant, ARM), 0
    wrenches.receive(ARM, np.zeros(3))
    assert driver.begin(replace(rig.goal(1.0, 6.0), stop_force=np.array((0.0, 0.0, 10.0)))) is None
    while rig.speed() < speed or rig.windows == sent:
        sent = rig.windows
        wrenches.receive(ARM, np.zeros(3))
        rig.advance()
    return driver


def test_the_window_that_lets_go_is_sent_with_the_measurement_of_the_contact(robot: Robot) -> None:
    wrenches = Wrenches(TOPICS, LIMIT_N)
    rig = Rig(robot, wrenches)
    guarded(rig, wrenches, 0.15)
    wrenches.receive(ARM, np.array((0.0, 0.0, 11.0)))
    before = rig.windows
    rig.advance()
    assert rig.windows == before + 1


def test_a_motion_that_a_force_may_end_ends_soon_without_its_sensor(robot: Robot) -> None:
    wrenches = Wrenches(TOPICS, 0.0)
    rig = Rig(robot, wrenches)
    driver = guarded(rig, wrenches, 0.15)
    silent_s = rig.until(lambda: rig.plant.arms[ARM].controller.path is None)
    assert silent_s == pytest.approx(GUARD_LOST_S, abs=3 * STEP_S)
    rig.until(lambda: not rig.plant.arms[ARM].controller.busy)
    result = driver.take()
    assert result is not None and result.ending is Ending.ABORTED
    assert result.message == "the force on the tool is not measured any more"
