"""Waiting times of the SimBox format, which counts steps of its simulation."""

from __future__ import annotations

STEP_S = 1.0 / 30.0
MOST_STEPS = 900


def seconds(steps: int) -> float:
    """Return the duration of a number of steps.

    Args:
        steps: Number of steps of 1/30 s.

    Returns:
        The duration, s.
    """
    return steps * STEP_S
