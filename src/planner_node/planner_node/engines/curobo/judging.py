"""What cuRobo returns is taken only if our own checker, with our own margins, finds nothing against it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import Code
from handiwork_core.planning import PlanRequest
from handiwork_core.trajectory import Trajectory
from planner_node.engines.cpu.arrays import flat
from planner_node.engines.cpu.edges import first_blocked
from planner_node.engines.cpu.held_goals import check_weights
from planner_node.engines.cpu.hold import HOLD_M, HOLD_RAD, Hold, held_gap, held_share, hold_of
from planner_node.engines.cpu.kinematics import tool_poses
from planner_node.engines.cpu.query import Query
from planner_node.engines.cpu.requests import Failed
from planner_node.engines.cpu.timing import Limits

from .criteria import path_weights
from .spline import timed

BEYOND_RAD = 1.0e-3
"""A motion this far beyond a joint limit is drawn back to it; farther, it is not taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Pose components that the motion must keep."""

    hold: Hold
    weights: tuple[float, ...]

    @classmethod
    def of(cls, request: PlanRequest, query: Query, start: Array, world_T_base: Pose) -> Held | None:
        """None where nothing is held.

        Raises:
            Failed: BAD_NUMBER.
        """
        weights = request.hold_vec_weight
        if weights is None or not any(w > 0.0 for w in weights):
            return None
        check_weights(weights)
        here = np.empty((1, 12))
        tool_poses(start[None], query.robot, here)
        return cls(hold_of(here[0], world_T_base.rotation.matrix().T, weights), weights)

    def share(self, path: Array, query: Query) -> float:
        """Largest gap on ``path`` (k, n) as a share of what is allowed."""
        frames = query.frames
        return max(held_share(np.ascontiguousarray(q), self.hold, query.robot, frames) for q in path)

    def check_goals(self, poses: tuple[Pose, ...]) -> None:
        """Failed with CONTRADICTION when no pose keeps what is held."""
        shift, gap = np.empty(6), np.empty(len(self.hold.turns))
        shares = [float(held_gap(flat(pose), self.hold, shift, gap)) for pose in poses]
        self._refuse(shares)

    def check_configurations(self, goals: Array, query: Query) -> None:
        """The same for configurations (k, n)."""
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
    """One request's standards; counts why motions were not taken."""

    query: Query
    limits: Limits
    names: tuple[str, ...]
    held: Held | None
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def path_weights(self) -> tuple[float, ...]:
        """What cuRobo is asked to keep on the way."""
        return path_weights(self.held.weights if self.held is not None else None)

    def taken(self, points: Array, start: Array, end: Array) -> Trajectory | None:
        """``points`` (m, n) as a trajectory from ``start`` to ``end`` (n,) exactly, or None with the reason counted."""
        points = points.copy()
        points[0], points[-1] = start, end
        trajectory = timed(points, self.limits, self.names)
        beyond = np.maximum(self.query.robot.lower - trajectory.q, trajectory.q - self.query.robot.upper)
        if beyond.max() > 0.0:
            if beyond.max() > BEYOND_RAD:
                self.refused["a joint went beyond its limit"] += 1
                return None
            inside = np.clip(points, self.query.robot.lower + BEYOND_RAD, self.query.robot.upper - BEYOND_RAD)
            inside[0], inside[-1] = start, end
            trajectory = timed(inside, self.limits, self.names)
            if (
                np.maximum(self.query.robot.lower - trajectory.q, trajectory.q - self.query.robot.upper).max()
                > 1e-7
            ):
                self.refused["a joint went beyond its limit"] += 1
                return None
        hit = np.zeros(2, dtype=np.int64)
        if first_blocked(self.query.checker, np.ascontiguousarray(trajectory.q), hit) >= 0:
            pair = self.query.pair(hit)
            self.refused[f"{pair.a} hit {pair.b}"] += 1
            return None
        if self.held is not None and self.held.share(trajectory.q, self.query) > 1.0:
            self.refused["a held component was not kept"] += 1
            return None
        return trajectory

    def words(self) -> str:
        """Why motions were not taken, most frequent first."""
        return ", ".join(f"{why} ({count} times)" for why, count in self.refused.most_common(3))
