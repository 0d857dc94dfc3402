"""The settings by which a run follows its targets, as its goal gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

MOST_FOLLOWED = 10
"""Times that one run chooses again because a target has moved."""


@runtime_checkable
class FollowParams(Protocol):
    """Parameters of a skill that can follow its targets."""

    @property
    def follow_tolerance(self) -> float:
        """The distance by which a target may move before the motion is replaced, m."""
        ...

    @property
    def follow_speed(self) -> float:
        """The greatest speed of a target that is followed, m/s; 0: none is followed."""
        ...

    @property
    def is_followed(self) -> bool:
        """False where the goal gives poses of its own, which do not move with the target."""
        ...


@dataclass(frozen=True, slots=True)
class Following:
    """How a run follows its targets.

    Attributes:
        tolerance_m: Distance by which a target may move before the motion is replaced, m.
        speed_mps: Greatest speed of a target that is followed, m/s.
    """

    tolerance_m: float
    speed_mps: float


def following_of(params: object) -> Following | None:
    """Return how a run follows its targets; None where it does not.

    Args:
        params: Parameters of a skill, which may be ``FollowParams``.
    """
    if not isinstance(params, FollowParams) or not params.is_followed or params.follow_speed <= 0.0:
        return None
    return Following(params.follow_tolerance, params.follow_speed)
