"""What the executor reads from every skill's parameters."""

from __future__ import annotations

from typing import Protocol


class RunParams(Protocol):
    """What the executor reads from every skill's parameters; fields as in the actions."""

    @property
    def t_eps(self) -> float:
        """Position tolerance of a waypoint [m]."""
        ...

    @property
    def o_eps(self) -> float:
        """Angle tolerance of a waypoint [rad]."""
        ...

    @property
    def max_velocity_scaling_factor(self) -> float:
        """Part of the joints' velocity limits."""
        ...

    @property
    def max_acceleration_scaling_factor(self) -> float:
        """Part of the joints' acceleration limits."""
        ...

    @property
    def allowed_planning_time(self) -> float:
        """Steady time for one plan [s]."""
        ...

    @property
    def targets(self) -> tuple[str, ...]:
        """Objects whose motion makes the chosen commands wrong."""
        ...
