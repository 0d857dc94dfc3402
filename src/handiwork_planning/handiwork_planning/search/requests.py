"""The common part of all requests: limits, time left, and the start."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import PlanRequest, ShouldStop
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.scene.query import Query
from handiwork_planning.timing.parameterization import Limits

NUDGE_RAD = 0.01
"""A configuration this far beyond a limit is moved to the limit instead of being refused."""


class Failed(HandiworkError):
    """An expected failure inside one request; caught by the method that makes the result.

    Args:
        code: The cause.
        message: The cause in words.
        blocking: The bodies that touch.
        depth_m: Depth of their overlap, m; nan where none applies.
        errors: Distance from the target, m, and angle, rad; nan where none applies.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        blocking: BodyPair | None = None,
        depth_m: float = float("nan"),
        errors: tuple[float, float] = (float("nan"), float("nan")),
    ) -> None:
        position_m, angle_rad = errors
        super().__init__(
            Outcome(code, message, blocking=blocking, position_error_m=position_m, angle_error_rad=angle_rad)
        )
        self.depth_m = depth_m


@dataclass(frozen=True, slots=True)
class Deadline:
    """Steady time and the client's request to stop."""

    should_stop: ShouldStop
    budget_s: float
    started_s: float

    @classmethod
    def start(cls, should_stop: ShouldStop, budget_s: float) -> Deadline:
        """Return a deadline that starts now.

        Args:
            should_stop: Whether the client has asked to stop.
            budget_s: Steady time from now, s.
        """
        return cls(should_stop, budget_s, time.monotonic())

    @property
    def used_s(self) -> float:
        """Steady time since the start."""
        return time.monotonic() - self.started_s

    def postponed(self, by_s: float) -> Deadline:
        """Return a deadline that does not count some of the time that has passed.

        Args:
            by_s: The time that does not count, s.
        """
        return Deadline(self.should_stop, self.budget_s, self.started_s + by_s)

    def poll(self, about: Callable[[], str] = str) -> None:
        """Raise an exception when stopped or out of time.

        Args:
            about: Called for a description of the state of the search.

        Raises:
            Failed: CANCELED or PLAN_BUDGET.
        """
        if self.should_stop():
            raise Failed(Code.CANCELED, f"stopped after {self.used_s:.3f} s")
        if self.used_s > self.budget_s:
            raise Failed(
                Code.PLAN_BUDGET, f"no path within budget_s = {self.budget_s:g} s{about()}; allow more time"
            )


def limits_of(robot: Robot, arm: ArmSpec, velocity_scaling: float, acceleration_scaling: float) -> Limits:
    """Return the joint limits times scalings; jerk scales with acceleration.

    Args:
        robot: The robot.
        arm: The arm that moves.
        velocity_scaling: Share of the velocity limits, above 0 and at most 1.
        acceleration_scaling: Share of the limits of acceleration and jerk, above 0 and at most 1.
    """
    joints = [robot.joints[name] for name in arm.joint_names]
    return Limits(
        velocity_scaling * np.array([j.velocity for j in joints]),
        acceleration_scaling * np.array([j.acceleration for j in joints]),
        acceleration_scaling * np.array([j.jerk for j in joints]),
    )


def check_scaling(request: PlanRequest) -> None:
    """Check that both scalings are shares of the limits.

    Args:
        request: The request.

    Raises:
        Failed: BAD_NUMBER.
    """
    for name, scaling in (
        ("velocity_scaling", request.velocity_scaling),
        ("acceleration_scaling", request.acceleration_scaling),
    ):
        if not 0.0 < scaling <= 1.0:
            raise Failed(Code.BAD_NUMBER, f"{name} is {scaling}; give a number above 0 and at most 1")


def within_limits(arm: ArmSpec, query: Query, q: Array, what: str) -> Array:
    """Return ``q`` (n,) moved into limits by at most NUDGE_RAD.

    Args:
        arm: The arm that moves.
        query: The limits.
        q: Configuration, (n,), rad or m.
        what: Name of the configuration in messages.

    Raises:
        Failed: BAD_NUMBER for a wrong shape or a number that is not finite, JOINT_LIMIT for a joint farther out.
    """
    low, high = query.robot.lower.tolist(), query.robot.upper.tolist()
    # Lists: on so few numbers each call of an array function costs more than all of this.
    values = np.asarray(q, dtype=np.float64).tolist()
    if np.shape(q) != (len(low),) or not all(map(math.isfinite, values)):
        raise Failed(Code.BAD_NUMBER, f"{what} is {values}; give {len(low)} finite joint positions")
    for name, value, least, most in zip(arm.joint_names, values, low, high, strict=True):
        beyond = max(least - value, value - most)
        if beyond > NUDGE_RAD:
            raise Failed(
                Code.JOINT_LIMIT,
                f"{what}: joint {name} at {value:.4f} is {beyond:.4f} outside "
                f"[{least:.4f}, {most:.4f}]; move it inside",
            )
    return np.array([min(max(v, least), most) for v, least, most in zip(values, low, high, strict=True)])


def checked_start(arm: ArmSpec, query: Query, start_q: Array) -> tuple[Array, Query]:
    """Return the start within limits, and the query that lets it leave what it touches.

    Args:
        arm: The arm that moves.
        query: Robot, scene and margins.
        start_q: Configuration, (n,), rad or m.

    Raises:
        Failed: as ``within_limits``, or START_IN_COLLISION with pair and depth.
    """
    start = within_limits(arm, query, start_q, "start")
    touching = query.touching_at(start)
    if touching is query:
        return start, query
    depth, pair = touching.deepest(start, over_margin=False)
    if pair is not None:
        raise Failed(
            Code.START_IN_COLLISION,
            f"start: {pair.a} and {pair.b} are {clearance(depth)}; move one of them or allow the pair",
            blocking=pair,
            depth_m=-depth,
        )
    return start, touching


def clearance(distance_m: float) -> str:
    """Return a description of a signed distance.

    Args:
        distance_m: The distance, m.
    """
    return (
        f"{-1e3 * distance_m:.1f} mm deep in each other"
        if distance_m < 0.0
        else f"only {1e3 * distance_m:.1f} mm apart"
    )
