"""The tolerances of a trajectory controller, and those that a goal asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from handiwork_core.model.controller_profile import DEFAULT_PROFILE, ControllerProfile
from handiwork_core.model.geometry import Array
from handiwork_core.model.thresholds import JOINT_REST

from .goal_refusal import ErrorCode, GoalRefused


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The limits for following a path and for reaching its end.

    Attributes:
        path: Largest distance from the path if a goal names none, rad or m.
        goal: Largest distance from the end if a goal names none, rad or m.
        goal_time_s: Longest time beyond the trajectory if a goal names none, s.
        greatest_path: Largest path tolerance that a goal may ask for, rad or m; see ``ControllerProfile``.
        greatest_goal: Largest goal tolerance that a goal may ask for, rad or m.
        greatest_goal_time_s: Largest goal time that a goal may ask for, s.
        stream: Largest distance from a stream's reference, rad or m.
        start: Largest distance of the first point from the measured arm, rad or m.
        rest: Largest speed of a joint at rest, rad/s or m/s.
        limit_excess: Factor on the velocity limits that a trajectory may reach.
    """

    path: float = DEFAULT_PROFILE.path_tolerance
    goal: float = DEFAULT_PROFILE.goal_tolerance
    goal_time_s: float = DEFAULT_PROFILE.goal_time
    greatest_path: float = DEFAULT_PROFILE.greatest_path_tolerance
    greatest_goal: float = DEFAULT_PROFILE.greatest_goal_tolerance
    greatest_goal_time_s: float = DEFAULT_PROFILE.greatest_goal_time
    stream: float = DEFAULT_PROFILE.stream_tolerance
    start: float = 0.02
    rest: float = JOINT_REST
    limit_excess: float = 1.02

    @classmethod
    def of(cls, profile: ControllerProfile) -> Tolerances:
        """Return the tolerances of a controller's profile.

        Args:
            profile: The profile.
        """
        return cls(
            profile.path_tolerance,
            profile.goal_tolerance,
            profile.goal_time,
            profile.greatest_path_tolerance,
            profile.greatest_goal_tolerance,
            profile.greatest_goal_time,
            profile.stream_tolerance,
        )


def joint_tolerances(
    given: Mapping[str, float], names: Sequence[str], profile: tuple[float, float], what: str
) -> Array:
    """Return the tolerances of a goal.

    Args:
        given: Tolerances of the goal by joint name, rad or m; 0, or none for a joint, takes the default.
        names: Names of the joints, (dof,).
        profile: The controller's default and its greatest, rad or m.
        what: Name of the field, for errors.

    Returns:
        (dof,), rad or m.

    Raises:
        GoalRefused: A joint is unknown, or a tolerance is negative, not finite, or above the greatest.
    """
    unknown = sorted(set(given) - set(names))
    if unknown or not all(np.isfinite(value) for value in given.values()):
        raise GoalRefused(
            ErrorCode.INVALID_JOINTS,
            f"{what} names {unknown or dict(given)}; use finite values for {list(names)}",
        )
    default, greatest = profile
    for name, value in given.items():
        if value < 0.0:
            _refuse_tolerance(f"joint {name} has {what} {value:g}, which would lift the check", what, profile)
        if value > greatest:
            _refuse_tolerance(f"joint {name} has {what} {value:g}", what, profile)
    return np.array([given.get(name) or default for name in names])


def goal_time_s(given_s: float, tolerances: Tolerances) -> float:
    """Return the time beyond the trajectory that a goal has.

    Args:
        given_s: The time that it asks for, s; 0 takes the default.
        tolerances: Tolerances of the controller.

    Returns:
        Time, s.

    Raises:
        GoalRefused: The time is negative, not finite, or above the greatest.
    """
    profile = tolerances.goal_time_s, tolerances.greatest_goal_time_s
    if not 0.0 <= given_s <= profile[1]:
        _refuse_tolerance(f"goal_time_tolerance is {given_s:g} s", "goal_time", profile)
    return given_s or profile[0]


def _refuse_tolerance(fault: str, key: str, profile: tuple[float, float]) -> NoReturn:
    default, greatest = profile
    text = f"{fault}; the controller allows at most {greatest:g}: send 0 for its {default:g}"
    raise GoalRefused(
        ErrorCode.INVALID_GOAL, f"{text}, or raise controller_profile.greatest_{key} in robot.yaml"
    )
