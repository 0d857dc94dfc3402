"""The parameters that the executor reads of every skill."""

from __future__ import annotations

from typing import Protocol


class RunParams(Protocol):
    """Parameters that the executor reads of every skill; the fields are those of the actions."""

    @property
    def t_eps(self) -> float:
        """The position tolerance of a waypoint, m."""
        ...

    @property
    def o_eps(self) -> float:
        """The angle tolerance of a waypoint, rad."""
        ...

    @property
    def max_velocity_scaling_factor(self) -> float:
        """The allowed part of the joints' velocity limits, 0 to 1."""
        ...

    @property
    def max_acceleration_scaling_factor(self) -> float:
        """The allowed part of the joints' acceleration limits, 0 to 1."""
        ...

    @property
    def allowed_planning_time(self) -> float:
        """The steady time for one plan, s."""
        ...

    @property
    def ignore_substring(self) -> tuple[str, ...]:
        """Parts of the names of the objects that are no obstacle, from the first motion on."""
        ...

    @property
    def targets(self) -> tuple[str, ...]:
        """The objects whose motion makes the chosen commands wrong."""
        ...
