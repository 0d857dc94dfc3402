"""Checks of cuRobo's motions: one is accepted only if our own checker, with our own margins, finds no fault."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.contracts.planning import PlanRequest
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_planning.collision.motion_check import first_blocked
from handiwork_planning.constraints.constrained_goals import check_weights
from handiwork_planning.constraints.pose_constraint import (
    HOLD_M,
    HOLD_RAD,
    Hold,
    held_gap,
    held_share,
    hold_of,
)
from handiwork_planning.kernels.arrays import flat
from handiwork_planning.kernels.kinematics import tool_poses
from handiwork_planning.scene.query import Query
from handiwork_planning.search.requests import Failed
from handiwork_planning.timing.parameterization import Limits

from .solvers.criteria import path_weights
from .solvers.spline import timed

Bounds = tuple[Array, Array]
BEYOND_RAD = 1.0e-3
"""A motion beyond a joint limit by at most this is moved back to it; one that is farther beyond is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldComponents:
    """Pose components that the motion must keep.

    Attributes:
        hold: The components and their values at the start.
        weights: Weights of the request (angular x, y, z, linear x, y, z).
    """

    hold: Hold
    weights: tuple[float, ...]

    @classmethod
    def of(
        cls, request: PlanRequest, query: Query, start: Array, world_T_base: Pose
    ) -> HeldComponents | None:
        """Return the held components of a request.

        Args:
            request: The request.
            query: The reading of the scene for the arm.
            start: Joint positions at the start, (n,), rad or m.
            world_T_base: The robot's base in the world.

        Returns:
            The components; None when nothing is held.

        Raises:
            Failed: BAD_NUMBER, for invalid weights.
        """
        weights = request.hold_vec_weight
        if weights is None or not any(w > 0.0 for w in weights):
            return None
        check_weights(weights)
        here = np.empty((1, 12))
        tool_poses(start[None], query.robot, here)
        return cls(hold_of(here[0], world_T_base.rotation.matrix().T, weights), weights)

    def share(self, path: Array, query: Query) -> float:
        """Return the largest deviation on a path as a share of what is allowed.

        Args:
            path: Joint positions, (k, n), rad or m.
            query: The reading of the scene for the arm.

        Returns:
            The share; above 1 the components are not kept.
        """
        frames = query.frames
        return max(held_share(np.ascontiguousarray(q), self.hold, query.robot, frames) for q in path)

    def check_goals(self, poses: tuple[Pose, ...]) -> None:
        """Check that some pose keeps the held components.

        Args:
            poses: world_T_ee of the goals.

        Raises:
            Failed: CONTRADICTION, when none does.
        """
        shift, gap = np.empty(6), np.empty(len(self.hold.turns))
        shares = [float(held_gap(flat(pose), self.hold, shift, gap)) for pose in poses]
        self._refuse(shares)

    def check_configurations(self, goals: Array, query: Query) -> None:
        """Check that some configuration keeps the held components.

        Args:
            goals: Joint positions, (k, n), rad or m.
            query: The reading of the scene for the arm.

        Raises:
            Failed: CONTRADICTION, when none does.
        """
        self._refuse([self.share(q[None], query) for q in goals])

    def _refuse(self, shares: list[float]) -> None:
        if shares and min(shares) > 1.0:
            raise Failed(
                Code.CONTRADICTION,
                f"no goal keeps what hold_vec_weight holds: the best is {min(shares):.1f} times farther off than "
                f"{HOLD_M:g} m and {HOLD_RAD:g} rad; hold less, or ask for another goal",
            )


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """Checks the motions of one request, and counts the reasons of refusals.

    Attributes:
        query: The reading of the scene for the arm.
        limits: Limits of velocity, acceleration and jerk.
        names: Names of the joints.
        held: Pose components to keep; None when nothing is held.
        refused: Reason -> number of refused motions.
    """

    query: Query
    limits: Limits
    names: tuple[str, ...]
    held: HeldComponents | None
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def bounds(self) -> Bounds:
        """The lowest and the highest joint positions, (n,) each, rad or m."""
        return self.query.robot.lower, self.query.robot.upper

    @property
    def path_weights(self) -> tuple[float, ...]:
        """The weights that make cuRobo keep the held components on the path."""
        return path_weights(self.held.weights if self.held is not None else None)

    def taken(self, points: Array, start: Array, end: Array) -> Trajectory | None:
        """Return points as a trajectory that passes all checks.

        Args:
            points: Joint positions at even times, (m, n), rad or m.
            start: Exact joint positions at the start, (n,), rad or m.
            end: Exact joint positions at the end, (n,), rad or m.

        Returns:
            The trajectory; None when a check fails, with the reason counted in ``refused``.
        """
        trajectory = timed_within(points, start, end, self.bounds, self.limits, self.names)
        why = "a joint went beyond its limit" if trajectory is None else self.fault(trajectory.q)
        if why:
            self.refused[why] += 1
            return None
        return trajectory

    def fault(self, q: Array) -> str:
        """Return the fault of a path.

        Args:
            q: Joint positions, (k, n), rad or m.

        Returns:
            The fault as text; empty when there is none.
        """
        hit = np.zeros(2, dtype=np.int64)
        if first_blocked(self.query.checker, np.ascontiguousarray(q), hit) >= 0:
            pair = self.query.pair(hit)
            return f"{pair.a} hit {pair.b}"
        if self.held is not None and self.held.share(q, self.query) > 1.0:
            return "a held component was not kept"
        return ""

    def words(self) -> str:
        """Return the reasons of refusals as text, most frequent first."""
        return ", ".join(f"{why} ({count} times)" for why, count in self.refused.most_common(3))


def timed_within(
    points: Array, start: Array, end: Array, bounds: Bounds, limits: Limits, names: tuple[str, ...]
) -> Trajectory | None:
    """Return points as a trajectory within the joint limits.

    Args:
        points: Joint positions at even times, (m, n), rad or m.
        start: Exact joint positions at the start, (n,), rad or m.
        end: Exact joint positions at the end, (n,), rad or m.
        bounds: The lowest and the highest joint positions, (n,) each.
        limits: Limits of velocity, acceleration and jerk.
        names: Names of the joints.

    Returns:
        The trajectory; None when it exceeds a joint limit by more than BEYOND_RAD, or still exceeds it when moved back.
    """
    points = points.copy()
    points[0], points[-1] = start, end
    lower, upper = bounds
    trajectory = timed(points, limits, names)
    beyond = _beyond(trajectory, lower, upper)
    if beyond <= 0.0:
        return trajectory
    if beyond > BEYOND_RAD:
        return None
    inside = np.clip(points, lower + BEYOND_RAD, upper - BEYOND_RAD)
    inside[0], inside[-1] = start, end
    trajectory = timed(inside, limits, names)
    return trajectory if _beyond(trajectory, lower, upper) <= 1e-7 else None


def _beyond(trajectory: Trajectory, lower: Array, upper: Array) -> float:
    return float(np.maximum(lower - trajectory.q, trajectory.q - upper).max())
