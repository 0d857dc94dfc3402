"""A batch of independent problems on the GPU, each in its own world: cuRobo plans all, and our checker judges them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.contracts.planning import PlanRequest, PlanResult, ShouldStop
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.process_pool import Problem
from handiwork_planning.search.requests import Deadline, Failed

from .attempts import through_places
from .batch_problem import Lane, OpenProblem
from .device.cuda import Cuda
from .model.buffers import BufferSizes
from .model.robot_config import robot_config
from .model.spheres import HELD_SPHERES
from .solvers.batch_solvers import WideSolvers, has_threads
from .task import is_for_cpu as is_not_for_curobo

ROUNDS = 3
"""Passes over the problems that are still open. The CPU engine plans those that are left."""
Found = tuple[Trajectory, int]


class BatchCore:
    """Plans ``lanes`` problems at a time. The CPU engine plans those for which cuRobo finds no motion.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
        cuda: The loaded libraries.
        lanes: Number of problems at a time.

    Raises:
        ValueError: A launch has not enough threads for so many lanes.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, cuda: Cuda, lanes: int) -> None:
        self._robot, self._cuda = robot, cuda
        self._spheres = sum(len(item.radii) for item in robot.spheres) + HELD_SPHERES
        if not has_threads(lanes, self._spheres, BufferSizes()):
            raise ValueError(
                f"lanes is {lanes}: too many for one launch with {self._spheres} spheres; give fewer, such as 16"
            )
        self._lanes = [Lane(robot, world_T_root) for _ in range(lanes)]
        self._solvers: dict[str, WideSolvers] = {}
        self.handed_over = 0
        """The number of problems that were handed over to the CPU engine."""

    def plan(self, problems: Sequence[Problem], should_stop: ShouldStop) -> list[PlanResult]:
        """Plan all problems.

        Args:
            problems: The worlds and requests.
            should_stop: Returns True when planning must end.

        Returns:
            One result for each problem, in their order.
        """
        results: dict[int, PlanResult] = {}
        by_arm: dict[str, list[int]] = {}
        for i, problem in enumerate(problems):
            by_arm.setdefault("" if is_for_cpu(problem.request) else problem.request.arm, []).append(i)
        for places in by_arm.values():
            for first in range(0, len(places), len(self._lanes)):
                chunk = places[first : first + len(self._lanes)]
                results |= self._chunk({i: problems[i] for i in chunk}, should_stop)
        return [results[i] for i in range(len(problems))]

    def close(self) -> None:
        """Free the GPU."""
        for solvers in self._solvers.values():
            solvers.close()
        self._solvers.clear()

    def _chunk(self, problems: dict[int, Problem], should_stop: ShouldStop) -> dict[int, PlanResult]:
        results: dict[int, PlanResult] = {}
        waiting: list[OpenProblem] = []
        for lane, (place, problem) in enumerate(problems.items()):
            deadline = Deadline.start(should_stop, problem.request.budget_s)
            try:
                if is_for_cpu(problem.request):
                    results[place] = self._by_cpu(lane, problem, deadline)
                    continue
                deadline.poll()
                task = self._lanes[lane].take(problem, deadline)
                if not self._has_room(task.arm, lane):
                    self.handed_over += 1
                    results[place] = self._by_cpu(lane, problem, deadline)
                    continue
                waiting.append(OpenProblem(place, lane, problem, deadline, task))
            except Failed as failed:
                results[place] = _failed(failed, problem, deadline)
        for turn in range(ROUNDS if waiting else 0):
            found = self._turn(waiting, turn)
            for one, motion in zip(waiting, found, strict=True):
                if motion is not None:
                    results[one.place] = _planned(motion, one.problem, one.deadline)
            waiting = [one for one in waiting if one.place not in results]
            if not waiting or should_stop():
                break
        for one in waiting:
            self.handed_over += 1
            results[one.place] = self._by_cpu(one.lane, one.problem, one.deadline)
        return results

    def _turn(self, waiting: list[OpenProblem], turn: int) -> list[Found | None]:
        """Run one pass of cuRobo: straight paths to the nearest ends in the first turn, later through random places."""
        solvers = self._ready(waiting)
        groups, seeds = [one.group(turn) for one in waiting], []
        for one, group in zip(waiting, groups, strict=True):
            lane, task = self._lanes[one.lane], one.task
            assert lane.rows is not None
            solvers.update(one.lane, lane.spheres(task, group.ends), lane.rows)
            rng = np.random.default_rng((one.problem.request.seed, turn))
            seeds.append(
                through_places(task.judge.query, task.start, group.ends, task.home, rng, solvers.knots)
            )
        moved = solvers.optimise(
            [one.lane for one in waiting],
            np.array([one.task.start for one in waiting]),
            np.array([group.ends for group in groups]),
            np.array([[o.task.goals.base_pose(g.tool)] for o, g in zip(waiting, groups, strict=True)]),
            np.array(seeds) if turn else None,
            3 if turn else 1,
        )
        return [
            group.first_taken(one.task.judge, points, one.task.start)
            for one, group, points in zip(waiting, groups, moved, strict=True)
        ]

    def _has_room(self, arm: ArmSpec, lane: int) -> bool:
        """Check whether cuRobo can take the lane's world together with those of all other lanes."""
        rows, solvers = self._lanes[lane].rows, self._solvers.get(arm.name)
        assert rows is not None
        room = (solvers.room if solvers is not None else BufferSizes()).for_rows(rows)
        return has_threads(len(self._lanes), self._spheres, room)

    def _ready(self, waiting: list[OpenProblem]) -> WideSolvers:
        """Return the arm's solvers. They are built at its first problem, and again when a world has outgrown them."""
        arm = waiting[0].task.arm
        before = self._solvers.get(arm.name)
        room = before.room if before is not None else BufferSizes()
        for one in waiting:
            rows = self._lanes[one.lane].rows
            assert rows is not None
            room = room.for_rows(rows)
        if before is not None and before.room == room:
            return before
        if before is not None:
            before.close()
        self._solvers[arm.name] = made = self._made(arm, room)
        return made

    def _made(self, arm: ArmSpec, room: BufferSizes) -> WideSolvers:
        with robot_config(self._robot, (arm,)) as config:
            made = WideSolvers(self._cuda, config, arm.joint_names, (arm.ee_link,), room, len(self._lanes))
        made.free_paths()
        return made

    def _by_cpu(self, lane: int, problem: Problem, deadline: Deadline) -> PlanResult:
        core = self._lanes[lane].core
        core.scene.update(problem.world)
        try:
            return _planned(core.plan(problem.request, deadline), problem, deadline)
        except Failed as failed:
            return _failed(failed, problem, deadline)


def is_for_cpu(request: PlanRequest) -> bool:
    """Check whether the CPU engine must plan a request of a batch.

    cuRobo plans no held components in a batch: its criteria are the same for all problems of a batch.

    Args:
        request: The request.

    Returns:
        True for requests that cuRobo never plans, and for those with held components.
    """
    held = request.hold_vec_weight
    return is_not_for_curobo(request) or (held is not None and any(w > 0.0 for w in held))


def _planned(found: Found, problem: Problem, deadline: Deadline) -> PlanResult:
    return PlanResult(
        Code.OK,
        "",
        *found,
        planning_time_s=deadline.used_s,
        world_version=problem.world.version,
        seed=problem.request.seed,
    )


def _failed(failed: Failed, problem: Problem, deadline: Deadline) -> PlanResult:
    return PlanResult(
        failed.outcome.code,
        failed.outcome.message,
        planning_time_s=deadline.used_s,
        blocking=failed.outcome.blocking,
        depth_m=failed.depth_m,
        position_error_m=failed.outcome.position_error_m,
        angle_error_rad=failed.outcome.angle_error_rad,
        world_version=problem.world.version,
        seed=problem.request.seed,
    )
