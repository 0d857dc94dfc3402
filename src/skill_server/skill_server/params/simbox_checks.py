"""Checks of the goal fields that Pick and Place have in common beyond those of every skill."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.params.candidate_test import CandidateTest

from . import checks
from .retry_policy import Recovery
from .simbox_time import MOST_STEPS

MOST_ATTEMPTS = 20
SHORTEST_AXIS = 1e-6


def hold_weights(field_name: str, weights: Sequence[float]) -> Outcome:
    """Check that the weights are absent, or six numbers of at least 0.

    Args:
        field_name: Field of the goal.
        weights: Weights of angular x, y, z, then linear x, y, z.

    Returns:
        OK, or the faults.
    """
    if len(weights) not in (0, 6):
        text = f"{field_name} has {len(weights)} numbers; give 6 (angular x, y, z, linear x, y, z) or none"
        return checks.fault(Code.BAD_NUMBER, field_name, text)
    each = (checks.number(f"{field_name}[{i}]", w, 0.0, 1e6, "") for i, w in enumerate(weights))
    return checks.all_faults(each)


def whole(field_name: str, value: int, low: int, high: int, unit: str) -> Outcome:
    """Check a whole number of any size.

    Args:
        field_name: Field of the goal.
        value: Number.
        low: Least valid number.
        high: Greatest valid number.
        unit: Unit in the message.

    Returns:
        OK, or the fault.
    """
    if low <= value <= high:
        return OK
    text = f"{field_name} is {value!s:.20} {unit}; use {low} to {high} {unit}"
    return checks.fault(Code.BAD_NUMBER, field_name, text)


def steps(field_name: str, value: int) -> Outcome:
    """Check a number of steps of 1/30 s, which is at most half a minute.

    Args:
        field_name: Field of the goal.
        value: Number of steps.

    Returns:
        OK, or the fault.
    """
    return whole(field_name, value, 0, MOST_STEPS, "steps of 1/30 s")


def policy(test_mode: str, recovery: str, max_attempts: int) -> tuple[Outcome, ...]:
    """Check how candidates are tested and the policy after a failure.

    Args:
        test_mode: Field of that name, a value of ``CandidateTest``.
        recovery: Field of that name, a value of ``Recovery``.
        max_attempts: Field of that name, 1 to ``MOST_ATTEMPTS``.

    Returns:
        The outcome of each check.
    """
    return (
        checks.choice("test_mode", test_mode, tuple(mode.value for mode in CandidateTest)),
        checks.choice("recovery", recovery, tuple(value.value for value in Recovery)),
        whole("max_attempts", max_attempts, 1, MOST_ATTEMPTS, "tries"),
    )


def following(tolerance_m: float, speed_mps: float) -> tuple[Outcome, ...]:
    """Check how a target that moves is followed.

    Args:
        tolerance_m: Field ``follow_tolerance``, m.
        speed_mps: Field ``follow_speed``, m/s.

    Returns:
        The outcome of each check.
    """
    return (
        checks.number("follow_tolerance", tolerance_m, 0.002, 1.0, "m"),
        checks.number("follow_speed", speed_mps, 0.0, 1.0, "m/s"),
    )


def vector(field_name: str, values: Sequence[float], most: float, unit: str) -> Outcome:
    """Check that every component is within plus and minus ``most``.

    Args:
        field_name: Field of the goal.
        values: Components.
        most: Largest absolute value of a component.
        unit: Unit in the message.

    Returns:
        OK, or the faults.
    """
    each = (checks.number(f"{field_name}[{i}]", v, -most, most, unit) for i, v in enumerate(values))
    return checks.all_faults(each)


def axis(field_name: str, values: Sequence[float], most: float) -> Outcome:
    """Check an axis; all zero is allowed and means that there is none.

    Args:
        field_name: Field of the goal.
        values: Components.
        most: Largest absolute value of a component.

    Returns:
        OK, or the faults; one for an axis that is too short to have a direction.
    """
    found = vector(field_name, values, most, "")
    if not found.ok or not any(values) or max(map(abs, values)) >= SHORTEST_AXIS:
        return found
    text = f"{field_name} is shorter than {SHORTEST_AXIS:g} and has no direction; give a longer axis, or zeros for none"
    return checks.fault(Code.BAD_NUMBER, field_name, text)


def not_zero(field_name: str, values: Sequence[float], why: str) -> Outcome:
    """Refuse an axis of length zero.

    Args:
        field_name: Field of the goal.
        values: Components of the axis.
        why: Reason why the axis is needed, the end of the message.

    Returns:
        OK, or the fault.
    """
    if any(values):
        return OK
    return checks.fault(Code.CONTRADICTION, field_name, f"{field_name} is all zero; {why}")
