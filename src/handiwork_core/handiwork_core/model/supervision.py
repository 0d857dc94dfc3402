"""Settings of the supervision of a motion under way."""

from __future__ import annotations

from dataclasses import dataclass

from .thresholds import SAME_OBJECT_M, SAME_OBJECT_RAD


@dataclass(frozen=True, slots=True)
class SupervisionSettings:
    """The conditions for a new validation of the rest of a motion, and the reaction to a refusal.

    Attributes:
        is_on: False lets a motion run to its end without new validations.
        distance_m: An object that moved farther than this since the last validation has changed, m.
        angle_rad: An object that turned farther than this has changed, rad.
        period_s: Least time between the beginnings of two checks of one motion, s of steady time.
        answer_s: The arm brakes if a change is not checked within this time, s of steady time.
        replans: Number of new plans of one motion after the arm braked.
    """

    is_on: bool = True
    distance_m: float = SAME_OBJECT_M
    angle_rad: float = SAME_OBJECT_RAD
    period_s: float = 0.05
    answer_s: float = 0.5
    replans: int = 3


SUPERVISED = SupervisionSettings()
"""The documented settings."""
