"""The safety layer in front of a controller that accepts only windows, with the real simulation as hardware. No ROS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.control.drivers import ArmDriver
from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig, Zone, ZoneShape
from handiwork_core.scene.loader import load_scene
from handiwork_safety.supervised_robot import SupervisedRobot
from handiwork_safety.windows import BRAKE_S, LEAD_S
from handiwork_safety.wrenches import Wrenches
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.paths import ROOT

ARM = "fr3_arm"
PERIODS = 5
"""Periods of the simulation for each measurement: 100 Hz."""
ZONE = Zone("doorway", ZoneShape.BOX, (-0.35, 0.45, 0.45), (0.3, 0.5, 0.9))


class Rig:
    """Hardware that measures and follows windows, and the supervised robot in front of it."""

    def __init__(self, robot: Robot, wrenches: Wrenches | None = None) -> None:
        scene = load_scene(ROOT / "config/scenes/tabletop.yaml")
        self.hardware = Simulation(robot, scene)
        names, first = self.hardware.world.joint_names, self.hardware.joints()
        config, at = SafetyConfig(zones=(ZONE,)), scene.world_T_base
        self.plant = SupervisedRobot(robot, names, first, config, at, wrenches)
        self.windows = 0

    def advance(self, *, is_alive: bool = True) -> None:
        """Take one measurement; a dead process takes none and sends nothing."""
        self.hardware.advance(PERIODS)
        if not is_alive:
            return
        self.plant.take(self.hardware.joints())
        for name, window in self.plant.windows():
            assert not window.rate[-1].any()
            assert len(window.times_s) > 1  # a single one would be followed as a stream
            self.hardware.arms[name].controller.schedule(window.times_s, window.position, window.rate)
            self.windows += 1

    def until(self, over: Callable[[], bool], longest_s: float = 10.0) -> float:
        """Advance until a condition holds; return the time that this took, s."""
        for count in range(round(longest_s / (PERIODS * CONTROL_S))):
            if over():
                return count * PERIODS * CONTROL_S
            self.advance()
        raise AssertionError(f"did not happen in {longest_s} s")

    def goal(self, turn: float, duration_s: float) -> TrajectoryGoal:
        q = self.hardware.measured(ARM)
        rows = np.stack([q, q + np.eye(7)[0] * turn])
        return TrajectoryGoal(self.plant.arms[ARM].controller.limits.names, np.array([0.0, duration_s]), rows)

    def speed(self) -> float:
        return float(np.abs(self.hardware.joints().velocity[:7]).max())


@pytest.fixture
def rig(robot: Robot) -> Rig:
    return Rig(robot)


def test_a_goal_is_reached_by_windows(rig: Rig) -> None:
    driver = ArmDriver(rig.plant, ARM)
    end = rig.hardware.measured(ARM) + np.eye(7)[0] * 0.5
    assert driver.begin(rig.goal(0.5, 2.0)) is None
    rig.until(lambda: not rig.plant.arms[ARM].controller.busy)
    result = driver.take()
    assert result is not None and result.ending is Ending.SUCCEEDED, result
    assert np.abs(rig.hardware.measured(ARM) - end).max() < 0.005
    assert rig.windows > 30


def test_a_dead_process_leaves_the_arm_at_rest_on_its_path(rig: Rig) -> None:
    assert ArmDriver(rig.plant, ARM).begin(rig.goal(1.0, 4.0)) is None
    rig.until(lambda: rig.speed() > 0.3)
    dead = 0
    while rig.speed() > 0.01:
        rig.advance(is_alive=False)
        dead += 1
    assert dead * PERIODS * CONTROL_S < LEAD_S + BRAKE_S + 0.15
    assert rig.hardware.measured(ARM)[0] < 0.9


@pytest.mark.parametrize("gap_s", [0.05, 0.2, 0.35])
def test_a_process_that_was_held_up_goes_on_where_the_hardware_is(rig: Rig, gap_s: float) -> None:
    driver = ArmDriver(rig.plant, ARM)
    assert driver.begin(rig.goal(1.0, 3.0)) is None
    rig.until(lambda: rig.speed() > 0.3)
    for _ in range(round(gap_s / (PERIODS * CONTROL_S))):
        rig.advance(is_alive=False)
    rig.until(lambda: not rig.plant.arms[ARM].controller.busy)
    result = driver.take()
    assert result is not None and result.ending is Ending.SUCCEEDED, result


def test_an_emergency_stop_brakes_the_hardware(rig: Rig) -> None:
    driver = ArmDriver(rig.plant, ARM)
    assert driver.begin(rig.goal(1.0, 4.0)) is None
    rig.until(lambda: rig.speed() > 0.3)
    rig.plant.safety.emergency_stop("a test")
    assert rig.until(lambda: rig.plant.safety.status.at_rest) < 0.6
    assert rig.speed() < 0.01
    result = driver.take()
    assert result is not None and result.code is ErrorCode.EMERGENCY_STOP


def test_an_arm_that_others_have_moved_starts_its_next_goal_where_it_is(rig: Rig) -> None:
    driver = ArmDriver(rig.plant, ARM)
    for turn in (0.5, 0.3):
        assert driver.begin(rig.goal(turn, 2.0)) is None
        rig.until(lambda: not rig.plant.arms[ARM].controller.busy)
        result = driver.take()
        assert result is not None and result.ending is Ending.SUCCEEDED, result
        rig.until(lambda: rig.speed() < 0.01)
        rig.hardware.reset(rig.hardware.declared)  # as if by hand, back to the first place
        for _ in range(10):
            rig.advance()


def test_a_robot_keeps_the_tolerances_of_its_own_controllers(robot: Robot) -> None:
    arm = robot.arms[ARM]
    profile = replace(arm.controller_profile, path_tolerance=0.03)
    rig = Rig(replace(robot, arms={**robot.arms, ARM: replace(arm, controller_profile=profile)}))
    assert rig.plant.arms[ARM].controller.tolerances.path == 0.03


def test_a_goal_with_a_violation_anywhere_is_refused_as_a_whole(rig: Rig) -> None:
    driver = ArmDriver(rig.plant, ARM)
    into_zone = driver.begin(rig.goal(2.2, 8.0))
    assert into_zone is not None and "zone 'doorway'" in into_zone.message
    sharp = driver.begin(rig.goal(0.25, 0.25))
    assert sharp is not None and "acceleration" in sharp.message and "nothing moved" in sharp.message
    rig.advance()
    assert rig.windows == 0 and not rig.plant.safety.status.is_stopped
