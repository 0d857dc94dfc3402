"""Both arms of a robot in one motion: cuRobo optimises all joints at once, our checkers judge each arm and both."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from handiwork_core.contracts.planning import OtherArm, PlanRequest
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.followers import links_moved_by
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.planner import Core
from handiwork_planning.search.requests import Deadline, Failed
from handiwork_planning.timing.parameterization import Limits

from .arm_clearance import GAP_M, Apart
from .attempts import MOST, ToolPoseGoals, through_places
from .device.cuda import Cuda
from .model.buffers import BufferSizes
from .model.lane_buffers import LaneScene
from .model.robot_config import held_links, robot_config
from .model.scene_rows import Rows, SceneRows
from .model.spheres import SphereSheet, objects_off
from .solvers.batch_solvers import WideSolvers
from .solvers.single_solvers import SEEDS
from .task import CuroboTask
from .trajectory_check import timed_within

Pair = tuple[PlanRequest, PlanRequest]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Ends of both arms at the same pair of tool poses.

    Attributes:
        q: Joint positions of both arms, (k, n + m), rad or m, nearest to the start first.
        groups: The goal configurations of each arm.
    """

    q: Array
    groups: tuple[ToolPoseGoals, ToolPoseGoals]


class TogetherCore(Core):
    """The world, and cuRobo's solvers for two arms of the robot.

    Args:
        robot: The robot.
        world_T_root: The robot's root in the world.
        cuda: The loaded libraries.
        arms: Names of the two arms.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, cuda: Cuda, arms: tuple[str, str]) -> None:
        super().__init__(robot, world_T_root)
        self._cuda, self._rows = cuda, SceneRows(world_T_root)
        self.arms: tuple[ArmSpec, ArmSpec] = (robot.arm(arms[0]), robot.arm(arms[1]))
        self._cut = len(self.arms[0].joint_names)
        held = held_links(self.arms)
        self._second_held = held[self.arms[1].name]
        self._sheets = [SphereSheet(robot, arm, held[arm.name]) for arm in self.arms]
        self._seconds = links_moved_by(robot.joints, self.arms[1].joint_names)
        self._solvers = self._made(BufferSizes())

    def plan_both(
        self, requests: Pair, deadline: Deadline
    ) -> tuple[tuple[Trajectory, Trajectory], list[int]]:
        """Plan motions of both arms that begin and end together.

        Args:
            requests: One request for each arm, in the order of ``arms``.
            deadline: Limit of the time for both.

        Returns:
            The trajectories, and for each arm the index of the goal that it reaches.

        Raises:
            Failed: A start, a goal or a number is invalid; PATH_BLOCKED when no motion was found.
        """
        tasks = [self._task(requests, k, deadline) for k in (0, 1)]
        apart = Apart(self.robot, (tasks[0].query, tasks[1].query))
        distance, pair = apart.nearest(tasks[0].start[None], tasks[1].start[None])
        if distance < GAP_M:
            text = f"start: {pair.a} and {pair.b} are {1e3 * distance:.1f} mm apart; move one of them"
            raise Failed(Code.START_IN_COLLISION, text, blocking=pair, depth_m=-distance)
        ends, refused = self._ends(tasks, apart), Counter[str]()
        rng = np.random.default_rng(requests[0].seed)
        for number in range(MOST):
            deadline.poll(lambda n=number: f" in {n} tries of both arms{_words(refused)}")  # type: ignore[misc]
            chosen, turn = ends[number % len(ends)], number // len(ends)
            for points in self._tried(tasks, chosen, turn, rng):
                found = self._taken(tasks, apart, chosen, points, refused)
                if found is not None:
                    return found
        text = (
            f"cuRobo found no motion of both arms in {MOST} tries{_words(refused)}; move one after the other"
        )
        raise Failed(Code.PATH_BLOCKED, text)

    def close(self) -> None:
        """Free the GPU."""
        self._solvers.close()

    def _made(self, room: BufferSizes) -> WideSolvers:
        names = [name for arm in self.arms for name in arm.joint_names]
        with robot_config(self.robot, self.arms) as config:
            made = WideSolvers(self._cuda, config, names, [arm.ee_link for arm in self.arms], room, 1, SEEDS)
        made.free_paths()
        return made

    def _task(self, requests: Pair, k: int, deadline: Deadline) -> CuroboTask:
        """Return one arm's part of the problem, as if the other arm were not there."""
        other = requests[1 - k]
        nothing = OtherArm(other.arm, np.zeros((0, len(self.arms[1 - k].joint_names))))
        scene = replace(requests[k].scene, others=(nothing,))
        return CuroboTask.of(self, replace(requests[k], scene=scene), deadline)

    def _ends(self, tasks: list[CuroboTask], apart: Apart) -> list[Ends]:
        """Return pairs of tool poses at which the arms are apart, nearest first, or raise Failed."""
        groups = [list(task.goals.groups(task.start))[:SEEDS] for task in tasks]
        found: list[Ends] = []
        nearest, pair = -np.inf, None
        for a, b in product(*groups):
            rows = [(i, j) for i in range(len(a.ends)) for j in range(len(b.ends))]
            first, second = (np.array(index) for index in zip(*rows, strict=True))
            gaps = [apart.nearest(a.ends[i][None], b.ends[j][None]) for i, j in rows]
            free = np.array([gap >= GAP_M for gap, _ in gaps])
            if max(gap for gap, _ in gaps) > nearest:
                nearest, pair = max(gaps, key=lambda g: g[0])
            if free.any():
                q = np.concatenate([a.ends[first[free]], b.ends[second[free]]], axis=1)
                far = np.abs(q - np.concatenate([task.start for task in tasks])).sum(axis=1)
                found.append(Ends(q[np.argsort(far, kind="stable")], (a, b)))
        if not found:
            text = (
                f"at every pair of goals the arms are too near: {pair}, {1e3 * nearest:.1f} mm; choose others"
            )
            raise Failed(Code.GOAL_IN_COLLISION, text, blocking=pair, depth_m=-float(nearest))
        return found

    def _tried(self, tasks: list[CuroboTask], ends: Ends, turn: int, rng: np.random.Generator) -> list[Array]:
        """Return cuRobo's motions from straight seeds in the first turn, and later from seeds through random places."""
        rows = (turn * SEEDS + np.arange(SEEDS)) % len(ends.q)
        q, starts = ends.q[rows], [task.start for task in tasks]
        parts = (q[:, : self._cut], q[:, self._cut :])
        self._prepare(tasks, parts)
        poses = [task.goals.base_pose(g.tool) for task, g in zip(tasks, ends.groups, strict=True)]
        seeds = None
        if turn:
            knots = self._solvers.knots
            ways = [
                through_places(task.judge.query, task.start, part, task.home, rng, knots)
                for task, part in zip(tasks, parts, strict=True)
            ]
            seeds = np.concatenate(ways, axis=2)[None]
        start = np.concatenate(starts)[None]
        return self._solvers.optimise([0], start, q[None], np.array([poses]), seeds, 3 if turn else 1)[0]

    def _prepare(self, tasks: list[CuroboTask], parts: tuple[Array, Array]) -> None:
        """Write the spheres: those of links that the second arm moves by its sheet, all others by the first arm's."""
        world, found = self.scene.world, []
        for task, sheet, part in zip(tasks, self._sheets, parts, strict=True):
            places = np.unique(np.concatenate([task.start[None], part]), axis=0)
            found.append(sheet.rows(task.request.scene, world, task.query, places))
        second = self._seconds | {self._second_held}
        spheres = {**found[0], **{link: rows for link, rows in found[1].items() if link in second}}
        off = set[str]().union(*(objects_off(task.request.scene, world) for task in tasks))
        self._update(spheres, self._rows.read(self.scene, world, off))

    def _update(self, spheres: dict[str, Array], rows: Rows) -> None:
        room = self._solvers.room.for_rows(rows)
        if room != self._solvers.room:
            self._solvers.close()
            self._solvers = self._made(room)
        self._solvers.update([LaneScene.of(0, spheres, rows)])

    def _taken(
        self, tasks: list[CuroboTask], apart: Apart, ends: Ends, points: Array, refused: Counter[str]
    ) -> tuple[tuple[Trajectory, Trajectory], list[int]] | None:
        """Return both arms' parts of ``points`` (m, n + m), or None after counting the reason."""
        row = int(np.abs(ends.q - points[-1]).max(axis=1).argmin())
        judges = [task.judge for task in tasks]
        limits = Limits(
            *(np.concatenate(rows) for rows in zip(*(_rows(judge.limits) for judge in judges), strict=True))
        )
        lower, upper = (np.concatenate(rows) for rows in zip(*(j.bounds for j in judges), strict=True))
        names = tuple(name for judge in judges for name in judge.names)
        start = np.concatenate([task.start for task in tasks])
        both = timed_within(points, start, ends.q[row], (lower, upper), limits, names)
        if both is None:
            refused["a joint went beyond its limit"] += 1
            return None
        parts = _parted(both, self._cut)
        why = judges[0].fault(parts[0].q) or judges[1].fault(parts[1].q)
        if not why:
            distance, pair = apart.on_the_way(parts[0].q, parts[1].q)
            why = f"{pair.a} came near {pair.b}" if distance < GAP_M else ""
        if why:
            refused[why] += 1
            return None
        halves = (ends.q[row, : self._cut], ends.q[row, self._cut :])
        owners = [
            int(g.owner[np.abs(g.ends - q).max(axis=1).argmin()])
            for g, q in zip(ends.groups, halves, strict=True)
        ]
        return parts, owners


def _parted(both: Trajectory, cut: int) -> tuple[Trajectory, Trajectory]:
    first, second = slice(None, cut), slice(cut, None)
    a, b = (
        Trajectory(both.joint_names[part], both.t_s, both.q[:, part], both.qd[:, part], both.qdd[:, part])
        for part in (first, second)
    )
    return a, b


def _rows(limits: Limits) -> tuple[Array, Array, Array]:
    return limits.velocity, limits.acceleration, limits.jerk


def _words(refused: Counter[str]) -> str:
    return "".join(f", {why} ({count} times)" for why, count in refused.most_common(3))
