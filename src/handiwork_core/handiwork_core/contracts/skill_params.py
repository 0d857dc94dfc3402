"""The parameters that every skill has, which the executor reads. A skill's own dataclass extends these."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

FILE = "file"
"""Key of the metadata of fields that name a file."""


def file_field() -> str:
    """Return a text field that names a file and is empty by default.

    The skill server replaces the field's value by an absolute path below its data folders, or refuses the goal.
    """
    return dataclasses.field(default="", metadata={FILE: True})


SKILL = "skill"
"""Key of the metadata of fields that hold the parameters of another skill, whose name is the value, or None.

A goal gives them as a mapping, which is read as a goal of that skill is; a typed action has the YAML text of it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillParams:
    """The common parameters. Extend it by a dataclass with the same three arguments of ``dataclass``.

    Every field becomes a key of ``run_skill``.

    Attributes:
        ignore_substring: Objects whose name contains one of these are no obstacle.
        t_eps: Tolerance of a waypoint, m.
        o_eps: Tolerance of a waypoint, rad.
        max_velocity_scaling_factor: Share of the joints' velocity limits, (0, 1].
        max_acceleration_scaling_factor: Share of the joints' acceleration limits, (0, 1].
        allowed_planning_time: Longest time for one plan, s.
        seed: Seed of every random choice.
    """

    ignore_substring: tuple[str, ...] = ()
    t_eps: float = 0.005
    o_eps: float = 0.05
    max_velocity_scaling_factor: float = 1.0
    max_acceleration_scaling_factor: float = 1.0
    allowed_planning_time: float = 5.0
    seed: int = 0

    @property
    def targets(self) -> tuple[str, ...]:
        """Objects whose motion invalidates the chosen commands."""
        return ()


def common_values(params: SkillParams) -> dict[str, Any]:
    """Return the common parameters of a goal, with which it makes those of a skill that it runs.

    Args:
        params: Parameters of the goal.

    Returns:
        Name of the field -> its value.
    """
    return {field.name: getattr(params, field.name) for field in dataclasses.fields(SkillParams)}
