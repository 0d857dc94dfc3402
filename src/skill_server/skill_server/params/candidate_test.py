"""The goal field ``test_mode``: what is found out of a candidate before it is taken."""

from __future__ import annotations

from enum import Enum


class CandidateTest(Enum):
    """Values of the goal field ``test_mode``; both avoid obstacles."""

    FORWARD = "forward"
    IK = "ik"


def plans_approach(params: object) -> bool:
    """Return True when the free motion to a candidate is planned before the candidate is taken.

    Args:
        params: Parameters of a skill, which may have the field ``test_mode``.
    """
    return getattr(params, "test_mode", None) == CandidateTest.FORWARD.value
