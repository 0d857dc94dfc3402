"""The states of the safety layer: the latched ones, their ends, and the refusals."""

from __future__ import annotations

import math

import pytest

from handiwork_core.safety.state import Cause, Mode, Refusal, SafetyStateMachine, Violation

TOO_FAST = Violation(Cause.VELOCITY, "joint1", 3.0, 2.0, "joint1 was sent at 3.000 /s")
SILENT = Violation(Cause.HEARTBEAT, "skill_server", 1.0, 1.0, "the heartbeat was lost")


@pytest.fixture
def machine() -> SafetyStateMachine:
    return SafetyStateMachine()


def at_rest(machine: SafetyStateMachine) -> SafetyStateMachine:
    machine.set_at_rest(at_rest=True, now_s=5.0)
    return machine


def test_a_protective_stop_is_latched_until_it_is_recovered(machine: SafetyStateMachine) -> None:
    assert machine.protective_stop(TOO_FAST, 1.0)
    assert (machine.status.mode, machine.status.stop_category) == (Mode.PROTECTIVE_STOP, 2)
    assert "joint1 was sent at" in machine.status.reason and "safety/recover" in machine.status.reason
    with pytest.raises(Refusal, match="still move"):
        machine.recover(2.0, None)
    at_rest(machine)
    assert machine.status.mode is Mode.PROTECTIVE_STOP
    machine.recover(6.0, None)
    assert (machine.status.mode, machine.status.reason, machine.status.since_s) == (Mode.NORMAL, "", 6.0)


def test_the_first_cause_of_a_protective_stop_is_kept(machine: SafetyStateMachine) -> None:
    machine.protective_stop(TOO_FAST, 1.0)
    assert not machine.protective_stop(SILENT, 2.0)
    assert machine.status.violation is TOO_FAST
    assert machine.status.protective_stops == 1


def test_recovery_is_refused_while_the_cause_lasts(machine: SafetyStateMachine) -> None:
    machine.protective_stop(TOO_FAST, 1.0)
    at_rest(machine)
    with pytest.raises(Refusal, match="the cause lasts: joint1"):
        machine.recover(6.0, TOO_FAST)
    assert machine.status.mode is Mode.PROTECTIVE_STOP


def test_an_emergency_stop_needs_release_reset_and_recovery(machine: SafetyStateMachine) -> None:
    machine.set_pressed(pressed=True)
    assert machine.emergency_stop("the button", 1.0)
    assert (machine.status.mode, machine.status.stop_category) == (Mode.EMERGENCY_STOP, 1)
    at_rest(machine)
    with pytest.raises(Refusal, match="safety/reset first"):
        machine.recover(6.0, None)
    with pytest.raises(Refusal, match="still held"):
        machine.reset(6.0)
    machine.set_pressed(pressed=False)
    machine.reset(7.0)
    assert machine.status.mode is Mode.PROTECTIVE_STOP
    machine.recover(8.0, None)
    assert machine.status.mode is Mode.NORMAL
    assert machine.status.emergency_stops == 1


def test_an_emergency_stop_wins_over_a_protective_one_and_not_the_other_way(
    machine: SafetyStateMachine,
) -> None:
    machine.protective_stop(TOO_FAST, 1.0)
    assert machine.emergency_stop("the button", 2.0)
    assert not machine.protective_stop(TOO_FAST, 3.0)
    assert not machine.emergency_stop("another button", 4.0)
    assert machine.status.violation is not None and machine.status.violation.subject == "the button"


def test_a_lost_heartbeat_is_over_when_the_arm_rests(machine: SafetyStateMachine) -> None:
    machine.protective_stop(SILENT, 1.0)
    assert machine.status.is_stopped and "safety/recover" not in machine.status.reason
    at_rest(machine)
    assert machine.status.mode is Mode.NORMAL
    assert machine.status.protective_stops == 1


def test_an_emergency_stop_during_a_lost_heartbeat_stays(machine: SafetyStateMachine) -> None:
    machine.protective_stop(SILENT, 1.0)
    machine.emergency_stop("the button", 2.0)
    at_rest(machine)
    assert machine.status.mode is Mode.EMERGENCY_STOP


def test_reduced_speed_outlives_a_stop(machine: SafetyStateMachine) -> None:
    machine.set_speed_scale(0.25, 1.0)
    assert machine.status.mode is Mode.REDUCED
    machine.protective_stop(TOO_FAST, 2.0)
    machine.set_speed_scale(0.5, 3.0)
    assert machine.status.mode is Mode.PROTECTIVE_STOP
    at_rest(machine)
    machine.recover(6.0, None)
    assert (machine.status.mode, machine.status.speed_scale) == (Mode.REDUCED, 0.5)
    machine.set_speed_scale(1.0, 7.0)
    assert machine.status.mode is Mode.NORMAL


@pytest.mark.parametrize("scale", [0.0, -0.1, 1.01, math.nan, math.inf])
def test_a_speed_scale_out_of_range_is_refused(machine: SafetyStateMachine, scale: float) -> None:
    with pytest.raises(Refusal, match="speed_scale"):
        machine.set_speed_scale(scale, 1.0)
    assert machine.status.mode is Mode.NORMAL


def test_nothing_is_reset_or_recovered_in_normal_state(machine: SafetyStateMachine) -> None:
    with pytest.raises(Refusal, match="no emergency stop"):
        machine.reset(1.0)
    with pytest.raises(Refusal, match="no protective stop"):
        machine.recover(1.0, None)
