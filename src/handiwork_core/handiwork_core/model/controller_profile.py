"""The tolerances of the trajectory controller of an arm or a base, and the greatest values that a goal may ask for."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ControllerProfile:
    """Tolerances of one trajectory controller, as ``controller_profile`` in ``robot.yaml`` writes them.

    A goal may ask for less than the greatest values. One that asks for more, or lifts a check with a negative number,
    is refused: a path tolerance bounds the force with which an arm presses on an obstacle.

    Attributes:
        path_tolerance: Largest distance of a joint from its path if a goal names none, rad or m. 0.05 is ten times
            the need of the servos, and less than a collision at 0.5 m reach could hide.
        goal_tolerance: Largest distance from the end if a goal names none, rad or m.
        goal_time: Longest time of a motion beyond its trajectory if a goal names none, s.
        greatest_path_tolerance: The most that a goal may ask for, rad or m.
        greatest_goal_tolerance: The most that a goal may ask for, rad or m.
        greatest_goal_time: The most that a goal may ask for, s.
        stream_tolerance: Largest distance of a joint from the reference of a stream of points, rad or m.
    """

    path_tolerance: float = 0.05
    goal_tolerance: float = 0.005
    goal_time: float = 1.0
    greatest_path_tolerance: float = 0.05
    greatest_goal_tolerance: float = 0.05
    greatest_goal_time: float = 5.0
    stream_tolerance: float = 0.1

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not 0.0 < value < math.inf:
                raise ValueError(f"{item.name}: is {value:g}; write a finite number above 0")
        for name in ("path_tolerance", "goal_tolerance", "goal_time"):
            value, most = getattr(self, name), getattr(self, f"greatest_{name}")
            if value > most:
                raise ValueError(f"{name}: is {value:g}, more than greatest_{name} {most:g}; raise that one")
        if self.greatest_goal_tolerance > self.greatest_path_tolerance:
            raise ValueError(
                f"greatest_goal_tolerance: is {self.greatest_goal_tolerance:g}, more than greatest_path_tolerance "
                f"{self.greatest_path_tolerance:g}; the arm would press harder at the end than on its way"
            )


DEFAULT_PROFILE = ControllerProfile()
"""The profile of a robot whose files give none."""
