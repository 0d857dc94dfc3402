"""Checks of the goal fields that Pick and Place have in common beyond those of every skill."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.params.recovery import CandidateTest

from . import checks
from .recovery import Recovery
from .simbox_time import MOST_STEPS

MOST_ATTEMPTS = 20


def hold_weights(field_name: str, weights: Sequence[float]) -> Outcome:
    """None, or six numbers that are not negative."""
    if len(weights) not in (0, 6):
        text = f"{field_name} has {len(weights)} numbers; give 6 (angular x, y, z, linear x, y, z) or none"
        return checks.fault(Code.BAD_NUMBER, field_name, text)
    each = (checks.number(f"{field_name}[{i}]", w, 0.0, 1e6, "") for i, w in enumerate(weights))
    return checks.all_faults(each)


def whole(field_name: str, value: int, low: int, high: int, unit: str) -> Outcome:
    """A whole number of any size within [low, high]."""
    if low <= value <= high:
        return OK
    text = f"{field_name} is {value!s:.20} {unit}; use {low} to {high} {unit}"
    return checks.fault(Code.BAD_NUMBER, field_name, text)


def steps(field_name: str, value: int) -> Outcome:
    """Up to half a minute."""
    return whole(field_name, value, 0, MOST_STEPS, "steps of 1/30 s")


def policy(test_mode: str, recovery: str, max_attempts: int) -> tuple[Outcome, ...]:
    """How candidates are tried, and what follows a failure."""
    return (
        checks.choice("test_mode", test_mode, tuple(mode.value for mode in CandidateTest)),
        checks.choice("recovery", recovery, tuple(value.value for value in Recovery)),
        whole("max_attempts", max_attempts, 1, MOST_ATTEMPTS, "tries"),
    )


def vector(field_name: str, values: Sequence[float], most: float, unit: str) -> Outcome:
    """Every component within plus and minus ``most``."""
    each = (checks.number(f"{field_name}[{i}]", v, -most, most, unit) for i, v in enumerate(values))
    return checks.all_faults(each)


def not_zero(field_name: str, values: Sequence[float], why: str) -> Outcome:
    """Refuse an axis of no length."""
    if any(values):
        return OK
    return checks.fault(Code.CONTRADICTION, field_name, f"{field_name} is all zero; {why}")
