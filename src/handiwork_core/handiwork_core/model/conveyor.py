"""A conveyor belt: a static object whose surface moves."""

from __future__ import annotations

import math
from dataclasses import dataclass

FASTEST_MPS = 5.0
"""Largest speed of a belt, m/s."""


@dataclass(frozen=True, slots=True)
class BeltSpec:
    """The motion of a belt; friction carries objects on it along.

    Attributes:
        velocity: Velocity of the surface in the object's frame, m/s.
    """

    velocity: tuple[float, float, float]

    def __post_init__(self) -> None:
        if not math.hypot(*self.velocity) <= FASTEST_MPS:
            raise ValueError(f"velocity {list(self.velocity)} must be at most {FASTEST_MPS:g} m/s")
