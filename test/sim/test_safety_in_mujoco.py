"""The safety layer in the real simulation: each limit by a planted fault, stops, recovery, reduced speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.safety.plants import ALONE, ARM, PLANTS, ZONE, Finding, force_on, move, run, watch

from handiwork_core.control.drivers import ArmDriver, GripperDriver
from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.trajectory_controller import Ending, Reference
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_core.safety.state import Cause, Mode, Refusal
from handiwork_core.safety.supervisor import lost_lease
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.paths import ROBOTS, ROOT

REACTION_S = 0.025
"""Longest time from a violation to the first braking command: the filter of the contact force, otherwise a period."""
GRIPPER = "fr3_gripper"


def simulate(robot: Robot, config: SafetyConfig = ALONE, scene: str = "tabletop") -> Simulation:
    return Simulation(robot, load_scene(ROOT / f"config/scenes/{scene}.yaml"), config)


def advance_until_rest(simulation: Simulation) -> float:
    """Advance a stopped robot until it rests; return the time that this took, s."""
    for period in range(2000):
        if simulation.safety.status.at_rest:
            return period * CONTROL_S
        simulation.advance(1)
    raise AssertionError("the arm did not come to rest in 4 s")


def speed(simulation: Simulation) -> float:
    return float(np.abs(simulation.world.joints().velocity[simulation.arms[ARM].indices]).max())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", list(PLANTS))
def test_a_planted_fault_stops_the_arm(robot: Robot, name: str, seed: int) -> None:
    plant = PLANTS[name]
    found = run(robot, plant, seed)
    assert found.status.mode is Mode.PROTECTIVE_STOP
    assert found.status.violation is not None
    assert found.status.violation.cause is plant.cause
    assert found.result is not None
    assert (found.result.ending, found.result.code) == (Ending.ABORTED, ErrorCode.PROTECTIVE_STOP)
    assert found.status.violation.subject in found.result.message
    assert found.stop_s < 0.7
    if plant.cause not in (Cause.EFFORT, Cause.CONTACT_FORCE):  # these hold the arm in its place
        assert found.worst_brake <= 1.001
    if name != "zone":
        assert found.reaction_s <= REACTION_S
    else:
        assert found.closest_m >= 0.015


@pytest.mark.parametrize("name", list(PLANTS))
def test_the_same_fault_goes_on_where_its_limit_is_lifted(robot: Robot, name: str) -> None:
    """It is the limit in question that stops the arm, and no other."""
    lifted = replace(
        ALONE, velocity_scale=1e3, acceleration_scale=1e5, tool_speed=1e3, position_tolerance=1e3
    )
    found = run(robot, replace(PLANTS[name], config=lifted), 0, 3.0)
    assert not found.reasons
    if name == "zone":
        simulation = simulate(robot, replace(lifted, zones=()))
        plant = replace(PLANTS[name], config=replace(lifted, zones=(ZONE,)))
        assert watch(simulation, plant, np.random.default_rng(0)).closest_m < 0.0


def moving(robot: Robot, config: SafetyConfig = ALONE) -> Simulation:
    """Return a simulation in the middle of a motion."""
    simulation = simulate(robot, config)
    move(simulation, np.eye(7)[0] * 1.5, 2.0)
    simulation.advance(500)
    assert speed(simulation) > 0.5
    return simulation


def test_an_emergency_stop_in_mid_motion_brakes_within_the_acceleration_limits(robot: Robot) -> None:
    simulation = moving(robot)
    before = simulation.safety.rate.copy()
    simulation.safety.emergency_stop("a test")
    for _ in range(50):
        simulation.advance(1)
        slowing = np.abs(simulation.safety.rate - before)[simulation.arms[ARM].indices] / CONTROL_S
        assert slowing.max() <= 10.0 * 1.001
        before = simulation.safety.rate.copy()
    assert advance_until_rest(simulation) < 0.5
    result = simulation.arms[ARM].controller.result
    assert result is not None
    assert (result.ending, result.code) == (Ending.ABORTED, ErrorCode.EMERGENCY_STOP)
    assert "requested by a test" in result.message


def goal(simulation: Simulation, turn: float) -> TrajectoryGoal:
    start = simulation.measured(ARM)
    end = start + np.eye(7)[0] * turn
    return TrajectoryGoal(
        simulation.robot.arms[ARM].joint_names, np.array([0.0, 1.0]), np.stack([start, end])
    )


def test_a_latched_stop_refuses_every_motion_until_it_is_ended(robot: Robot) -> None:
    simulation = moving(robot)
    safety, arm = simulation.safety, ArmDriver(simulation, ARM)
    safety.emergency_stop("a test")
    advance_until_rest(simulation)
    refused = arm.begin(goal(simulation, 0.2))
    assert refused is not None and refused.code is ErrorCode.EMERGENCY_STOP
    gripper = GripperDriver(simulation, GRIPPER).begin(GripperGoal(0.02))
    assert gripper is not None and "emergency stop" in gripper.message
    with pytest.raises(Refusal):
        safety.recover(simulation.joints().effort)
    safety.reset_emergency_stop()
    refused = arm.begin(goal(simulation, 0.2))
    assert refused is not None and refused.code is ErrorCode.PROTECTIVE_STOP
    still = simulation.measured(ARM)
    simulation.advance(200)
    assert np.abs(simulation.measured(ARM) - still).max() < 1e-4
    safety.recover(simulation.joints().effort)
    assert arm.begin(goal(simulation, 0.2)) is None
    while simulation.busy:
        simulation.advance(1)
    assert simulation.arms[ARM].controller.result is not None
    assert simulation.arms[ARM].controller.result.ending is Ending.SUCCEEDED


def test_a_streamed_motion_stops_too_and_does_not_resume(robot: Robot) -> None:
    simulation = simulate(robot)
    arm, turn = simulation.arms[ARM], np.eye(7)[0]

    def stream() -> None:
        q = simulation.measured(ARM)
        arm.controller.stream(Reference(q + 0.02 * turn, 0.5 * turn), q)

    for _ in range(100):
        stream()
        simulation.advance(5)
    assert speed(simulation) > 0.2
    simulation.safety.emergency_stop("a test")
    advance_until_rest(simulation)
    assert isinstance(simulation.safety.refusal(), GoalRefused)
    simulation.advance(100)
    assert speed(simulation) < 0.01


def test_a_lost_heartbeat_stops_the_arm_and_leaves_it_ready(robot: Robot) -> None:
    simulation = moving(robot)
    simulation.safety.protective_stop(lost_lease("/skill_server", [ARM], 1.0))
    assert advance_until_rest(simulation) < 0.5
    result = simulation.arms[ARM].controller.result
    assert result is not None and result.code is ErrorCode.PROTECTIVE_STOP
    assert "heartbeat of /skill_server" in result.message
    assert simulation.safety.status.mode is Mode.NORMAL
    assert ArmDriver(simulation, ARM).begin(goal(simulation, 0.1)) is None


def test_recovery_is_refused_while_the_arm_is_pressed(robot: Robot) -> None:
    config = replace(ALONE, contact_force=20.0, transient_force=30.0, contact_time_s=0.0)
    found = run(robot, replace(PLANTS["contact force"], config=config), 0)
    assert found.status.violation is not None and found.status.violation.cause is Cause.CONTACT_FORCE
    simulation = simulate(robot, config)
    plant = replace(PLANTS["contact force"], config=config)
    watch(simulation, plant, np.random.default_rng(0))
    monitor = simulation.safety.monitor
    monitor._mean_force[:] = (0.0, 0.0, 60.0)
    with pytest.raises(Refusal, match="still presses with 60 N"):
        simulation.safety.recover(simulation.joints().effort)
    simulation.advance(500)
    assert force_on(simulation) < 20.0
    simulation.safety.recover(simulation.joints().effort)
    assert simulation.safety.status.mode is Mode.NORMAL


def test_a_grip_holds_through_an_emergency_stop(robot: Robot) -> None:
    simulation = simulate(robot)
    world, gripper = simulation.world, simulation.grippers[GRIPPER].controller
    driver = GripperDriver(simulation, GRIPPER)
    assert driver.begin(GripperGoal(0.0, 40.0)) is None
    simulation.advance(50)
    pushing = gripper.reference
    simulation.safety.emergency_stop("a test")
    advance_until_rest(simulation)
    result = driver.take()
    assert result is not None and result.ending is Ending.ABORTED and "emergency stop" in result.message
    simulation.advance(500)
    assert gripper.reference == pushing
    assert world.joints().position[simulation.grippers[GRIPPER].indices[0]] < 0.04


def test_a_world_reset_does_not_end_a_stop(robot: Robot) -> None:
    simulation = moving(robot)
    simulation.safety.emergency_stop("a test")
    simulation.reset(simulation.declared)
    assert simulation.safety.status.mode is Mode.EMERGENCY_STOP
    assert ArmDriver(simulation, ARM).begin(goal(simulation, 0.1)) is not None
    simulation.safety.reset_emergency_stop()
    simulation.safety.recover(simulation.joints().effort)
    assert ArmDriver(simulation, ARM).begin(goal(simulation, 0.1)) is None


def peak_speeds(simulation: Simulation) -> tuple[float, float]:
    """Run to the end; return the greatest wanted joint speed, rad/s, and tool speed, m/s."""
    arm, joint, tool = simulation.arms[ARM], 0.0, 0.0
    while simulation.busy:
        simulation.advance(1)
        joint = max(joint, float(np.abs(arm.controller.reference.velocity).max()))
        safety = simulation.safety
        tool = max(tool, safety.monitor.fastest_tool(safety.command[None], safety.rate[None]))
    return joint, tool


def test_reduced_speed_slows_a_motion_down_and_it_still_arrives(robot: Robot) -> None:
    simulation = simulate(robot)
    simulation.safety.set_speed_scale(0.5)
    end = simulation.measured(ARM) + np.eye(7)[0] * 1.5
    move(simulation, np.eye(7)[0] * 1.5, 2.0)  # 1.41 rad/s and 0.43 m/s at full speed
    joint, tool = peak_speeds(simulation)
    result = simulation.arms[ARM].controller.result
    assert result is not None and result.ending is Ending.SUCCEEDED
    assert joint <= 0.5 * 1.42
    assert 0.2 < tool <= 0.25
    assert np.abs(simulation.measured(ARM) - end).max() < 0.005


def test_speed_reduced_in_mid_motion_is_reached_within_the_transition(robot: Robot) -> None:
    simulation = moving(robot)
    simulation.safety.set_speed_scale(0.3)
    simulation.advance(round(simulation.safety.config.reduced.transition_s / CONTROL_S))
    joint, tool = peak_speeds(simulation)
    result = simulation.arms[ARM].controller.result
    assert result is not None and result.ending is Ending.SUCCEEDED
    assert joint <= 0.3 * 1.42
    assert tool <= 0.25


def test_a_controller_that_does_not_slow_down_is_stopped(robot: Robot) -> None:
    simulation = simulate(robot)
    longest_s = simulation.safety.config.reduced.transition_s + 4.0
    move(simulation, np.eye(7)[0] * 1.5, longest_s)
    simulation.advance(500)
    simulation.safety._set_pace = lambda: None  # type: ignore[method-assign]
    simulation.safety.set_speed_scale(0.1)
    while simulation.busy and not simulation.safety.status.is_stopped:
        simulation.advance(1)
    status = simulation.safety.status
    assert status.mode is Mode.PROTECTIVE_STOP
    assert status.violation is not None
    assert status.violation.cause in (Cause.TOOL_SPEED, Cause.VELOCITY)
    advance_until_rest(simulation)
    result = simulation.arms[ARM].controller.result
    assert result is not None and result.code is ErrorCode.PROTECTIVE_STOP


def test_full_speed_comes_back_when_the_reduced_mode_ends(robot: Robot) -> None:
    simulation = simulate(robot)
    simulation.safety.set_speed_scale(0.2)
    move(simulation, np.eye(7)[0] * 1.5, 2.0)
    simulation.advance(500)
    simulation.safety.set_speed_scale(1.0)
    joint, _tool = peak_speeds(simulation)
    assert joint > 0.8
    result = simulation.arms[ARM].controller.result
    assert result is not None and result.ending is Ending.SUCCEEDED


def test_a_fault_of_one_arm_stops_both() -> None:
    robot = load_robot(ROBOTS / "genie1")
    simulation = Simulation(robot, load_scene(ROOT / "config/scenes/genie1_table.yaml"))
    names = list(robot.arms)
    for name in names:
        arm = simulation.arms[name]
        start = simulation.measured(name)
        t = np.linspace(0.0, 2.0, 101)[:, None]
        turn = 0.2 * np.eye(len(start))[0]
        q = start + turn * (3 * (t / 2) ** 2 - 2 * (t / 2) ** 3)
        arm.controller.start(TrajectoryGoal(robot.arms[name].joint_names, t[:, 0], q), start)
    simulation.advance(400)
    simulation.safety.emergency_stop("a test")
    advance_until_rest(simulation)
    results = [simulation.arms[name].controller.result for name in names]
    assert [r.code for r in results if r is not None] == [ErrorCode.EMERGENCY_STOP] * 2


def test_a_finding_without_a_violation_says_so(robot: Robot) -> None:
    """The judge of the planted faults does not accept an arm that nothing stopped."""
    quiet = replace(
        PLANTS["tool speed"], start=lambda simulation, _rng: move(simulation, np.eye(7)[0] * 0.05, 2.0)
    )
    found: Finding = run(robot, quiet, 0)
    assert np.isnan(found.exceeded_s) and np.isnan(found.braked_s)
    assert found.result is not None and found.result.ending is Ending.SUCCEEDED
