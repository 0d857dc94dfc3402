"""How a motion is supervised while it is under way."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SupervisionSettings:
    """When the rest of a motion is validated again, and what follows a refusal.

    Attributes:
        is_on: False follows a motion to its end, whatever the world does.
        distance_m: An object that moved farther than this since it was judged has changed.
        angle_rad: The same for turning.
        period_s: Checks of one motion begin at most this often [s, steady].
        answer_s: A change that is not judged within this time brakes the arm [s, steady].
        replans: Times that one motion is planned again after the arm braked.
    """

    is_on: bool = True
    distance_m: float = 0.005
    angle_rad: float = math.radians(2.0)
    period_s: float = 0.05
    answer_s: float = 0.5
    replans: int = 3


SUPERVISED = SupervisionSettings()
"""As documented."""
