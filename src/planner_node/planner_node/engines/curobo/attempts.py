"""The attempts for one request on the GPU: nearest goals first, straight seeds, then seeds from a road map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_planning.collision.motion_check import first_blocked
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.kinematics import tool_poses
from handiwork_planning.scene.query import Query
from handiwork_planning.search import free_motion
from handiwork_planning.search.requests import Deadline, Failed

from .solvers.single_solvers import SEEDS, Solvers
from .solvers.spline import resampled
from .trajectory_check import Judge

MOST = 10
"""The largest number of attempts, also when time is left."""
ALIKE_RAD = 0.1
SAME_POSE = 1.0e-5
"""Poses whose entries (rotation matrix, and position in m) differ by less are equal."""
NEAR_SHARE = 0.3
SEED_SHARE = 0.25
"""The share of the remaining time that the CPU engine may use to find a path as a seed."""


@dataclass(frozen=True, slots=True, eq=False)
class Goals:
    """Goal configurations of one request.

    Attributes:
        q: Configurations, (k, n), rad or m.
        owner: Index of the request's goal that each configuration reaches, (k,).
        base_T_world: The world in the robot's base frame.
        query: The reading of the scene for the arm.
    """

    q: Array
    owner: Ints
    base_T_world: Pose
    query: Query

    def tools(self) -> Array:
        """Return the poses of the tool at ``q`` in the world, (k, 12): rotation by rows, then position in m."""
        rows = np.empty((len(self.q), 12))
        tool_poses(np.ascontiguousarray(self.q), self.query.robot, rows)
        return rows

    def base_pose(self, tool: Array) -> Array:
        """Return a tool pose in the base frame, in the form that cuRobo takes.

        Args:
            tool: world_T_tool, (12,): rotation by rows, then position in m.

        Returns:
            base_T_tool, (7,): x, y, z in m, then the quaternion wxyz.
        """
        world_T_tool = Pose.of(tool[9:], Rotation.from_matrix(tool[:9].reshape(3, 3)))
        base_T_tool = self.base_T_world @ world_T_tool
        return np.array([*base_T_tool.translation_m, *base_T_tool.rotation.wxyz])

    def groups(self, start: Array) -> list[ToolPoseGoals]:
        """Divide the configurations into groups with equal tool poses.

        Configurations of a group that differ by less than ALIKE_RAD in every joint are kept once.

        Args:
            start: Joint positions at the start, (n,), rad or m.

        Returns:
            The groups, and the configurations of each, nearest to ``start`` first.
        """
        tools, left = self.tools(), np.argsort(np.abs(self.q - start).sum(axis=1), kind="stable")
        found = []
        while len(left):
            same = np.abs(tools[left] - tools[left[0]]).max(axis=1) < SAME_POSE
            taken: list[int] = []
            for i in left[same]:
                if all(np.abs(self.q[i] - self.q[k]).max() > ALIKE_RAD for k in taken):
                    taken.append(int(i))
            rows = np.array(taken, dtype=np.int64)
            found.append(ToolPoseGoals(self.q[rows], tools[left[0]], self.owner[rows]))
            left = left[~same]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ToolPoseGoals:
    """Goal configurations at one tool pose.

    Attributes:
        ends: Configurations, (k, n), rad or m.
        tool: world_T_tool, (12,): rotation by rows, then position in m.
        owner: Index of the request's goal that each configuration reaches, (k,).
    """

    ends: Array
    tool: Array
    owner: Ints

    def seeded(self, turn: int, seeds: int = SEEDS) -> ToolPoseGoals:
        """Return some configurations of the group: the next ones each turn, some repeated where there are fewer.

        Args:
            turn: Number of the turn, from 0.
            seeds: Number of configurations.

        Returns:
            A group of so many configurations at the same tool pose.
        """
        rows = (turn * seeds + np.arange(seeds)) % len(self.ends)
        return ToolPoseGoals(self.ends[rows], self.tool, self.owner[rows])

    def first_taken(self, judge: Judge, found: list[Array], start: Array) -> tuple[Trajectory, int] | None:
        """Return the first motion that passes the checks, in cuRobo's order.

        Args:
            judge: The checks of the request.
            found: Motions, (m, n) each, rad or m.
            start: Joint positions at the start, (n,), rad or m.

        Returns:
            The trajectory and the index of the request's goal that it reaches; None when no motion passes.
        """
        for points in found:
            row = int(np.abs(self.ends - points[-1]).max(axis=1).argmin())
            trajectory = judge.taken(points, start, self.ends[row])
            if trajectory is not None:
                return trajectory, int(self.owner[row])
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Attempts:
    """The solvers, checks and limits that stay the same over all attempts of a request."""

    solvers: Solvers
    prepare: Callable[[Array], None]
    """Writes the solvers' spheres so that they are clear of everything at the start and at the given ends (k, n)."""
    judge: Judge
    start: Array
    home: Array
    seed: int
    deadline: Deadline
    finetunes: tuple[int, int] = (0, 0)
    """Passes that shorten a motion, of straight seeds and of others."""
    most: int = MOST
    ends_when_refused: bool = False
    """True where an attempt whose motions the checks refuse is the last: other spheres would find better ones."""

    def run(self, goals: Goals, *, with_cpu_path: bool) -> tuple[Trajectory, int]:
        """Return the first motion that passes our checks.

        Args:
            goals: Goal configurations of the request.
            with_cpu_path: Whether the CPU engine's path is tried as a seed first.

        Returns:
            The trajectory and the index of the request's goal that it reaches.

        Raises:
            Failed: CANCELED, PLAN_BUDGET, or PATH_BLOCKED after the last attempt.
        """
        groups = list(goals.groups(self.start))
        rng, number = np.random.default_rng(self.seed), 0
        found = self._seeded(goals) if with_cpu_path else None
        for number in range(self.most if found is None else 0):
            self.deadline.poll(lambda n=number: f" in {n} tries: {self.words(goals)}")  # type: ignore[misc]
            turn = number // len(groups)
            group = groups[number % len(groups)].seeded(turn)
            self.prepare(group.ends)
            seeds = self._seeds(group.ends, turn, rng)
            found = self._best(goals, group, seeds, self.finetunes[seeds is not None])
            if found is not None or (self.ends_when_refused and self.judge.refused):
                break
        if found is None:
            raise Failed(
                Code.PATH_BLOCKED,
                f"cuRobo found no motion in {number + 1} tries: {self.words(goals)}; remove obstacles",
            )
        return found

    def words(self, goals: Goals) -> str:
        """Explain why there is no motion yet: the faults of those found, or the first collision on the straight path.

        Args:
            goals: Goal configurations of the request.

        Returns:
            One clause for an error text.
        """
        if self.judge.refused:
            return self.judge.words()
        hit = np.zeros(2, dtype=np.int64)
        way = resampled(np.array([self.start, goals.q[0]]), self.solvers.knots)
        if first_blocked(self.judge.query.checker, way, hit) < 0:
            return "none was free by cuRobo's spheres"
        pair = self.judge.query.pair(hit)
        return f"on the straight path {pair.a} would hit {pair.b}"

    def _seeds(self, ends: Array, turn: int, rng: np.random.Generator) -> Array | None:
        """Return a turn's seeds. None means straight paths; later turns use the road map or random places near home."""
        if turn == 0:
            return None
        if turn % 3:
            return self.solvers.graph_seeds(self.start, ends)
        return through_places(self.judge.query, self.start, ends, self.home, rng, self.solvers.knots)

    def _seeded(self, goals: Goals) -> tuple[Trajectory, int] | None:
        """Try the CPU engine's path as a seed, beside straight ones."""
        left = self.deadline.budget_s - self.deadline.used_s
        limit = Deadline(
            self.deadline.should_stop, self.deadline.used_s + SEED_SHARE * left, self.deadline.started_s
        )
        try:
            path = free_motion.find(self.judge.query, self.start, goals.q, self.seed, limit)
        except Failed as failed:
            if failed.outcome.code is Code.CANCELED:
                raise
            return None
        end = goals.q[path.goal]
        straight = resampled(np.array([self.start, end]), self.solvers.knots)
        seeds = np.array([resampled(path.points, self.solvers.knots), straight])
        group = ToolPoseGoals(
            np.repeat(end[None], SEEDS, axis=0),
            goals.tools()[path.goal],
            np.repeat(goals.owner[path.goal], SEEDS),
        )
        self.prepare(group.ends)
        return self._best(goals, group, seeds, self.finetunes[1])

    def _best(
        self, goals: Goals, group: ToolPoseGoals, seeds: Array | None, finetunes: int
    ) -> tuple[Trajectory, int] | None:
        """Optimise once, and return the first motion that passes the checks, in cuRobo's order."""
        pose = goals.base_pose(group.tool)
        found = self.solvers.optimise(self.start, group.ends, pose, seeds, finetunes)
        return group.first_taken(self.judge, found, self.start)


def through_places(
    query: Query, start: Array, ends: Array, home: Array, rng: np.random.Generator, knots: int
) -> Array:
    """Return joint paths that each go through a random place near home.

    Args:
        query: The reading of the scene, which gives the joint limits.
        start: Joint positions at the start, (n,), rad or m.
        ends: Joint positions at the ends, (s, n), rad or m.
        home: Joint positions at home, (n,), rad or m.
        rng: Source of the random places.
        knots: Number of points of each path.

    Returns:
        Paths, (s, knots, n), rad or m.
    """
    low, high = query.robot.lower, query.robot.upper
    vias = home + NEAR_SHARE * (rng.uniform(low, high, ends.shape) - home)
    ways = [np.array([start, via, end]) for via, end in zip(vias, ends, strict=True)]
    return np.array([resampled(way, knots) for way in ways])
