"""The SimBox format counts waiting in steps of its simulation."""

from __future__ import annotations

STEP_S = 1.0 / 30.0
MOST_STEPS = 900


def seconds(steps: int) -> float:
    """Time of that many steps [s]."""
    return steps * STEP_S
