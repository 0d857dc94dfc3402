"""Does an object move?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from handiwork_core.predicate import Evidence, Finding, Predicate
from handiwork_core.world import World

from .checks import all_of, decided, is_slow, missing


@dataclass(frozen=True, slots=True)
class ObjectStationary(Predicate):
    """The object is slower than ``linear_threshold`` [m/s] and turns slower than ``angular_threshold`` [rad/s]."""

    name: ClassVar[str] = "object_stationary"
    object: str
    linear_threshold: float = 0.01
    angular_threshold: float = 0.1

    def subjects(self) -> tuple[str, ...]:
        """The object."""
        return (self.object,)

    def evaluate(self, world: World) -> Finding:
        """Speed first, then turning."""
        unknown = missing(world, self.object, geometry=False)
        if unknown is not None:
            return unknown
        rate = float(np.linalg.norm(world.states[self.object].world_w_object))
        reason = f"{self.object} turns at {rate:.3f} rad/s, the limit is {self.angular_threshold:g}"
        turning = decided(
            self.angular_threshold - rate, reason, Evidence("turn_rate", rate, "rad/s", self.object)
        )
        return all_of([is_slow(world, self.object, self.linear_threshold), turning])
