"""The law of an admittance controller on an FR3 without physics: speeds, deflections, and what stays where it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.admittance.rule import TARE_S, AdmittanceRule
from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.control.contact_guard import ErrorCode
from handiwork_core.control.trajectory_controller import Phase, TrajectoryController
from handiwork_core.control.trajectory_goal import JointLimits, TrajectoryGoal
from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

STEP_S = 0.002
ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
HOME = np.array(ARM.home_q)
LIMITS = JointLimits.of(ROBOT, ARM)
SOFT_Z = AdmittanceSettings(
    (False, False, True, False, False, False),
    mass=(10.0, 10.0, 10.0, 0.5, 0.5, 0.5),
    damping_ratio=(1.0,) * 6,
    stiffness=(500.0, 500.0, 0.0, 50.0, 50.0, 50.0),
    joint_damping=100.0,
)


class Sensor:
    """A sensor whose wrench is set by the test."""

    def __init__(self) -> None:
        self.value: Array | None = np.zeros(6)

    def __call__(self) -> Array | None:
        return self.value


def made() -> tuple[AdmittanceRule, Sensor]:
    sensor = Sensor()
    return AdmittanceRule(ArmKinematics(ROBOT, ARM), sensor, LIMITS.velocity, LIMITS.acceleration), sensor


def run(rule: AdmittanceRule, seconds: float) -> None:
    for _ in range(round(seconds / STEP_S)):
        rule.update(HOME, STEP_S)


def way(rule: AdmittanceRule) -> Array:
    """Return how far the hand is from the reference, in the axes of the hand there, (3,), m."""
    before, after = forward(ROBOT, "", HOME), forward(ROBOT, "", HOME + rule.offset)
    return before.rotation.matrix().T @ (after.translation_m - before.translation_m)


def push(*force: float) -> Array:
    return np.array([*force, 0.0, 0.0, 0.0])


def test_the_jacobian_is_the_derivative_of_the_pose() -> None:
    chain = ArmKinematics(ROBOT, ARM)
    pose, jacobian = chain.pose_and_jacobian(HOME)
    assert pose == pytest.approx(forward(ROBOT, "", HOME).matrix(), abs=1e-12)
    for i in range(len(HOME)):
        step = np.zeros(len(HOME))
        step[i] = 1e-6
        moved, _ = chain.pose_and_jacobian(HOME + step)
        assert jacobian[:3, i] == pytest.approx((moved - pose)[:3, 3] / 1e-6, abs=1e-5)
        spin = (moved - pose)[:3, :3] @ pose[:3, :3].T / 1e-6
        assert jacobian[3:, i] == pytest.approx((spin[2, 1], spin[0, 2], spin[1, 0]), abs=1e-5)


def test_an_axis_without_stiffness_moves_at_force_by_damping() -> None:
    rule, _sensor = made()
    rule.set(SOFT_Z)
    rule.wrench_reference = push(0.0, 0.0, 5.0)
    run(rule, TARE_S + 1.0)
    begun = way(rule)
    run(rule, 1.0)
    speed = way(rule) - begun
    assert speed[2] == pytest.approx(5.0 / (10.0 * 100.0), rel=0.02)  # force / (mass * joint damping)
    assert np.abs(speed[:2]).max() < 1e-4, "an axis that is not selected stays"


def test_an_axis_with_stiffness_comes_to_rest_at_force_by_stiffness() -> None:
    rule, _sensor = made()
    rule.set(replace(SOFT_Z, selected_axes=(True, False, False, False, False, False)))
    rule.wrench_reference = push(2.0, 9.0, 9.0)
    run(rule, 12.0)
    assert way(rule) == pytest.approx((2.0 / 500.0, 0.0, 0.0), abs=1e-4)
    assert np.abs(rule.rate).max() < 1e-3


def test_a_measured_force_that_answers_the_reference_holds_the_hand() -> None:
    rule, sensor = made()
    rule.set(SOFT_Z)
    run(rule, 2.0 * TARE_S)
    rule.wrench_reference, sensor.value = push(0.0, 0.0, 5.0), push(0.0, 0.0, -5.0)
    run(rule, 1.0)
    assert way(rule) == pytest.approx(np.zeros(3), abs=1e-9)


def test_what_presses_at_the_begin_does_not_count() -> None:
    rule, sensor = made()
    sensor.value = push(0.0, 0.0, -3.0)
    rule.set(SOFT_Z)
    run(rule, 1.0)
    assert way(rule) == pytest.approx(np.zeros(3), abs=1e-9)


def test_an_arm_that_yields_no_more_stays_and_forgets_the_push() -> None:
    rule, _sensor = made()
    rule.set(SOFT_Z)
    rule.wrench_reference = push(0.0, 0.0, 5.0)
    run(rule, 1.0)
    rule.set(AdmittanceSettings())
    assert not rule.wrench_reference.any()
    run(rule, 0.5)
    at = way(rule)
    run(rule, 0.5)
    assert not rule.is_active
    assert at[2] > 0.004
    assert way(rule) == pytest.approx(at, abs=1e-6)


def test_a_sensor_that_falls_silent_ends_the_motion_at_once() -> None:
    rule, sensor = made()
    rule.set(SOFT_Z)
    rule.wrench_reference = push(0.0, 0.0, 5.0)
    run(rule, 1.0)
    sensor.value = None
    run(rule, STEP_S)
    assert not rule.is_active


def chained() -> tuple[TrajectoryController, AdmittanceRule, Sensor]:
    """Return a trajectory controller with the rule behind it, after a push of one second."""
    rule, sensor = made()
    controller = TrajectoryController(LIMITS, HOME)
    controller.admittance, controller.measure_force = rule, lambda: np.zeros(3)
    rule.set(SOFT_Z)
    rule.wrench_reference = push(0.0, 0.0, 5.0)
    advance(controller, 1.0)
    return controller, rule, sensor


def advance(controller: TrajectoryController, seconds: float) -> None:
    """Let a perfect arm follow the controller."""
    for _ in range(round(seconds / STEP_S)):
        now = controller.command
        controller.update(now.position, now.velocity, STEP_S)


def test_a_goal_begins_where_the_arm_is_and_the_arm_yields_on_the_way() -> None:
    controller, rule, _sensor = chained()
    before = controller.command.position
    q = np.linspace(before, before + 0.02, 5)
    controller.start(TrajectoryGoal(LIMITS.names, np.linspace(0.0, 1.0, 5), q), before)
    assert controller.command.position == pytest.approx(before, abs=1e-9), "a jump"
    advance(controller, 1.5)
    assert controller.phase is Phase.HOLD
    assert controller.result is not None
    assert controller.result.code is ErrorCode.SUCCESSFUL
    assert rule.offset.any(), "it still yields"


def test_the_offset_becomes_the_held_place_once_the_arm_yields_no_more() -> None:
    controller, rule, _sensor = chained()
    rule.set(AdmittanceSettings())
    advance(controller, 0.6)
    assert not controller.busy
    assert not rule.offset.any()
    assert np.abs(controller.reference.position - HOME).max() > 1e-3


def test_a_hold_and_a_force_at_the_bound_of_a_goal_end_the_yielding() -> None:
    controller, rule, _sensor = chained()
    controller.hold(HOME, "reset")
    assert not controller.busy
    controller, rule, _sensor = chained()
    here = controller.command.position
    goal = TrajectoryGoal(
        LIMITS.names,
        np.array([0.0, 1.0]),
        np.stack([here, here]),
        stop_force=np.array((0.0, 0.0, -8.0)),
    )
    controller.start(goal, here)
    advance(controller, 0.1)
    controller.measure_force = lambda: np.array((0.0, 0.0, -9.0))
    controller._guard._measure = controller.measure_force  # type: ignore[union-attr]
    advance(controller, 0.5)
    assert not rule.settings.yields
    assert controller.result is not None
    assert controller.result.code is ErrorCode.CONTACT
