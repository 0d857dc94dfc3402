"""One request's tries on the GPU: nearest goals first, straight seeds, then seeds from a road map, until one serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import Code
from handiwork_core.trajectory import Trajectory
from planner_node.engines.cpu import free_motion
from planner_node.engines.cpu.arrays import Ints, flat
from planner_node.engines.cpu.edges import first_blocked
from planner_node.engines.cpu.kinematics import tool_poses
from planner_node.engines.cpu.query import Query
from planner_node.engines.cpu.requests import Deadline, Failed
from planner_node.engines.cpu.straight import FOLLOWED, follow

from .judging import Judge
from .solvers import SEEDS, Solvers
from .spline import resampled

MOST = 24
"""Tries at most, whatever time is left."""
ALIKE_RAD = 0.1
NEAR_SHARE = 0.3
SEED_SHARE = 0.25
"""Of the time, for the CPU's path that seeds."""


@dataclass(frozen=True, slots=True, eq=False)
class Goals:
    """Configurations ``q`` (k, n) and the goal (k,) that each reaches."""

    q: Array
    owner: Ints
    base_T_world: Pose
    query: Query

    @classmethod
    def polished(
        cls, q: Array, owner: Ints, poses: tuple[Pose, ...], base_T_world: Pose, query: Query
    ) -> Goals:
        """Those of ``q`` that reach their pose exactly after a few steps more, and are free by our own checker."""
        kept, owners = [], []
        path, error = np.empty((2, q.shape[1] if q.ndim > 1 else 0)), np.empty(6)
        for row, i in zip(q, owner, strict=True):
            start = np.ascontiguousarray(np.clip(row, query.robot.lower, query.robot.upper))
            state, _ = follow(start, flat(poses[i]), 1.0, query.robot, path, error)
            if state == FOLLOWED and not query.touches(path[1].copy()):
                kept.append(path[1].copy())
                owners.append(int(i))
        width = q.shape[1] if q.ndim > 1 else 0
        return cls(np.array(kept).reshape(-1, width), np.array(owners, dtype=np.int64), base_T_world, query)

    def poses(self) -> Array:
        """(k, 7) of the tool at ``q`` in the base frame."""
        rows = np.empty((len(self.q), 12))
        tool_poses(np.ascontiguousarray(self.q), self.query.robot, rows)
        return base_poses(self.base_T_world, tuple(Pose.from_matrix(_square(row)) for row in rows))

    def groups(self, start: Array) -> Iterator[tuple[Array, Array, Ints]]:
        """(SEEDS, n) ends at one tool pose, that pose (7,), and their goals (SEEDS,); nearest to ``start`` first."""
        poses, left = self.poses(), list(np.argsort(np.abs(self.q - start).sum(axis=1), kind="stable"))
        while left:
            first = left[0]
            same = [i for i in left if _same_pose(poses[i], poses[first])]
            taken: list[int] = []
            for i in same:
                if len(taken) < SEEDS and all(np.abs(self.q[i] - self.q[k]).max() > ALIKE_RAD for k in taken):
                    taken.append(i)
            left = [i for i in left if i not in same]
            rows = np.array([taken[k % len(taken)] for k in range(SEEDS)], dtype=np.int64)
            yield self.q[rows], poses[first], self.owner[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Attempts:
    """What stays the same from try to try."""

    solvers: Solvers
    judge: Judge
    start: Array
    home: Array
    seed: int
    deadline: Deadline

    def run(self, goals: Goals, *, with_cpu_path: bool) -> tuple[Trajectory, int]:
        """The first motion that our checker takes, and its goal.

        Raises:
            Failed: CANCELED, PLAN_BUDGET, or PLAN_FAILED after MOST tries.
        """
        groups = list(goals.groups(self.start))
        rng = np.random.default_rng(self.seed)
        found = self._seeded(goals) if with_cpu_path else None
        for number in range(MOST if found is None else 0):
            self.deadline.poll(lambda n=number: f" in {n} tries: {self.words(goals)}")  # type: ignore[misc]
            ends, pose, owner = groups[number % len(groups)]
            turn = number // len(groups)
            seeds = self._seeds(ends, turn, rng)
            found = self._best(ends, pose, owner, seeds, 1 if seeds is None else 3)
            if found is not None:
                break
        if found is None:
            raise Failed(
                Code.PATH_BLOCKED,
                f"cuRobo found no motion in {MOST} tries: {self.words(goals)}; clear the way, or use engine:=cpu",
            )
        return found

    def words(self, goals: Goals) -> str:
        """Why there is no motion yet: what was held against those found, or what is hit on the straight way."""
        if self.judge.refused:
            return self.judge.words()
        hit = np.zeros(2, dtype=np.int64)
        way = resampled(np.array([self.start, goals.q[0]]), self.solvers.knots)
        if first_blocked(self.judge.query.checker, way, hit) < 0:
            return "none was free by cuRobo's spheres"
        pair = self.judge.query.pair(hit)
        return f"on the straight way {pair.a} would hit {pair.b}"

    def _seeds(self, ends: Array, turn: int, rng: np.random.Generator) -> Array | None:
        """None is straight to each end. Later the road map by turns with ways through random places near home."""
        if turn == 0:
            return None
        if turn % 3:
            return self.solvers.graph_seeds(self.start, ends)
        low, high = self.judge.query.robot.lower, self.judge.query.robot.upper
        vias = self.home + NEAR_SHARE * (rng.uniform(low, high, ends.shape) - self.home)
        return np.array(
            [
                resampled(np.array([self.start, via, end]), self.solvers.knots)
                for via, end in zip(vias, ends, strict=True)
            ]
        )

    def _seeded(self, goals: Goals) -> tuple[Trajectory, int] | None:
        """With the CPU engine's path as a seed, beside straight ones."""
        left = self.deadline.budget_s - self.deadline.used_s
        limit = Deadline(
            self.deadline.should_stop, self.deadline.used_s + SEED_SHARE * left, self.deadline.started_s
        )
        try:
            path = free_motion.find(self.judge.query, self.start, goals.q, self.seed, limit)
        except Failed as failed:
            if failed.code is Code.CANCELED:
                raise
            return None
        end = goals.q[path.goal]
        pose = Goals(end[None], goals.owner[[path.goal]], goals.base_T_world, goals.query).poses()[0]
        straight = resampled(np.array([self.start, end]), self.solvers.knots)
        seeds = np.array([resampled(path.points, self.solvers.knots), straight])
        ends, owner = np.repeat(end[None], SEEDS, axis=0), np.repeat(goals.owner[path.goal], SEEDS)
        return self._best(ends, pose, owner, seeds, 3)

    def _best(
        self, ends: Array, pose: Array, owner: Ints, seeds: Array | None, patience: int
    ) -> tuple[Trajectory, int] | None:
        """The quickest of the motions found that serves."""
        served = []
        for points in self.solvers.optimise(self.start, ends, pose, seeds, patience):
            row = int(np.abs(ends - points[-1]).max(axis=1).argmin())
            trajectory = self.judge.taken(points, self.start, ends[row])
            if trajectory is not None:
                served.append((trajectory, int(owner[row])))
        return min(served, key=lambda item: item[0].duration_s) if served else None


def base_poses(base_T_world: Pose, poses: tuple[Pose, ...]) -> Array:
    """(g, 7) x, y, z, wxyz in the base frame."""
    moved = [base_T_world @ pose for pose in poses]
    return np.array([(*p.translation_m, *p.rotation.wxyz) for p in moved]).reshape(-1, 7)


def _square(row: Array) -> Array:
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = row[:9].reshape(3, 3), row[9:]
    return m


def _same_pose(a: Array, b: Array) -> bool:
    return bool(np.abs(a[:3] - b[:3]).max() < 1e-5 and abs(float(a[3:] @ b[3:])) > 1.0 - 1e-9)
