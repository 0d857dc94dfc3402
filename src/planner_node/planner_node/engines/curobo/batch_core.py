"""A batch of independent problems on the GPU, each in its own world: cuRobo plans all, and our checker judges them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from handiwork_core.contracts.planning import PlanRequest, PlanResult, ShouldStop
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.planner import Core
from handiwork_planning.process_pool import Problem
from handiwork_planning.search.requests import Deadline, Failed

from .batch_problem import Lane, OpenProblem
from .device.cuda import Cuda
from .model.buffers import BufferSizes
from .solvers.batch_solvers import WideSolvers, has_threads
from .sphere_set import SphereSet
from .task import is_for_cpu as is_not_for_curobo

LANE_SEEDS = 1
"""Trajectories that are optimised for each problem: a batch keeps the GPU busy without further ones."""
SIZES = (64, 256)
"""Numbers of lanes to choose from; more were not faster in one world, as the CPU then waits for the GPU."""
Found = tuple[Trajectory, int]
Chunk = list[OpenProblem]
Moved = list[list[Array]]


def lanes_for(count: int, spheres: int, room: BufferSizes) -> int:
    """Return the number of lanes for a batch: the least that takes it at once, or the most that a launch allows.

    Args:
        count: Number of problems.
        spheres: Spheres of the robot, those for held objects included.
        room: Places for obstacles.

    Returns:
        One of SIZES; 0 when not even the least fits in a launch.
    """
    allowed = [size for size in SIZES if has_threads(size, LANE_SEEDS, spheres, room)]
    return next((size for size in allowed if size >= count), allowed[-1] if allowed else 0)


class BatchCore:
    """Plans ``lanes`` problems at a time. The CPU engine plans those for which cuRobo finds no motion.

    While the GPU optimises one set of problems this thread reads the next set and judges the last one.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
        cuda: The loaded libraries.
        lanes: Number of problems at a time.

    Raises:
        ValueError: A launch has not enough threads for so many lanes.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, cuda: Cuda, lanes: int) -> None:
        self._robot, self._cuda, self.lanes = robot, cuda, lanes
        self._core = Core(robot, world_T_root)
        self._set = SphereSet(robot, world_T_root, is_fine=False)
        if not has_threads(lanes, LANE_SEEDS, self._set.count, BufferSizes()):
            raise ValueError(
                f"lanes is {lanes}: too many for one launch with {self._set.count} spheres; give fewer, such as 64"
            )
        # Two of each: the problems of one set are judged after those of the next were read.
        self._banks = tuple([Lane(world_T_root) for _ in range(lanes)] for _ in range(2))
        self._rooms: dict[str, BufferSizes] = {}
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

        Raises:
            EngineLost: The GPU failed.
        """
        results: dict[int, PlanResult] = {}
        last: tuple[Chunk, Future[Moved]] | None = None
        with ThreadPoolExecutor(1, thread_name_prefix="GPU batches") as gpu:
            for turn, places in enumerate(self._chunks(problems)):
                chunk = self._read(places, problems, self._banks[turn % 2], results, should_stop)
                moved = last[1].result() if last is not None else []
                following = gpu.submit(self._optimised, chunk) if chunk else None
                if last is not None:
                    self._judge(last[0], moved, results)
                last = (chunk, following) if following is not None else None
            if last is not None:
                self._judge(last[0], last[1].result(), results)
        return [results[i] for i in range(len(problems))]

    def close(self) -> None:
        """Free the GPU."""
        for solvers in self._solvers.values():
            solvers.close()
        self._solvers.clear()

    def _chunks(self, problems: Sequence[Problem]) -> Iterator[list[int]]:
        """Yield the places of the problems that are planned together: those of one arm, or of the CPU engine."""
        by_arm: dict[str, list[int]] = {}
        for i, problem in enumerate(problems):
            by_arm.setdefault("" if is_for_cpu(problem.request) else problem.request.arm, []).append(i)
        for places in by_arm.values():
            for first in range(0, len(places), self.lanes):
                yield places[first : first + self.lanes]

    def _read(
        self,
        places: list[int],
        problems: Sequence[Problem],
        bank: list[Lane],
        results: dict[int, PlanResult],
        should_stop: ShouldStop,
    ) -> Chunk:
        """Read problems; those that the CPU engine plans, and those that fail, get their results at once."""
        is_one_world = all(problems[i].world is problems[places[0]].world for i in places)
        chunk: Chunk = []
        for lane, place in enumerate(places):
            problem, scene = problems[place], bank[0 if is_one_world else lane]
            deadline = Deadline.start(should_stop, problem.request.budget_s)
            try:
                deadline.poll()
                scene.enter(self._core, problem.world)
                if is_for_cpu(problem.request):
                    results[place] = self._by_cpu(problem, deadline)
                    continue
                one = scene.read(self._core, self._set, place, lane, problem, deadline)
            except Failed as failed:
                results[place] = _failed(failed, problem, deadline)
                continue
            if self._make_room(one):
                chunk.append(one)
            else:
                self.handed_over += 1
                results[place] = self._by_cpu(problem, deadline)
        return chunk

    def _make_room(self, one: OpenProblem) -> bool:
        """Enlarge the arm's room for a problem; return whether a launch has enough threads for it."""
        name = one.task.arm.name
        before = self._rooms.get(name)
        room = BufferSizes.of(one.rows) if before is None else before.for_rows(one.rows)
        fits = has_threads(self.lanes, LANE_SEEDS, self._set.count, room)
        if fits:
            self._rooms[name] = room
            one.room = room
        return fits

    def _optimised(self, chunk: Chunk) -> Moved:
        """Run one pass of cuRobo over straight ways to the nearest ends; on the GPU's thread."""
        solvers = self._ready(chunk[0].task.arm, chunk[-1].room)
        for one in chunk:
            solvers.update(one.lane, one.spheres, one.rows)
        return solvers.optimise(
            [one.lane for one in chunk],
            np.array([one.task.start for one in chunk]),
            np.array([one.group.ends for one in chunk]),
            np.array([[one.task.goals.base_pose(one.group.tool)] for one in chunk]),
            None,
            0,
        )

    def _judge(self, chunk: Chunk, moved: Moved, results: dict[int, PlanResult]) -> None:
        """Keep the motions that pass the checks; the CPU engine plans the other problems."""
        for one, points in zip(chunk, moved, strict=True):
            found = one.group.first_taken(one.task.judge, points, one.task.start)
            if found is None:
                self.handed_over += 1
                one.scene.enter(self._core, one.problem.world)
                results[one.place] = self._by_cpu(one.problem, one.deadline)
            else:
                results[one.place] = _planned(found, one.problem, one.deadline)

    def _ready(self, arm: ArmSpec, room: BufferSizes) -> WideSolvers:
        """Return the arm's solvers. They are built at its first problem, and again when a world has outgrown them."""
        before = self._solvers.get(arm.name)
        if before is not None and before.room == room:
            return before
        if before is not None:
            before.close()
        self._solvers[arm.name] = made = self._made(arm, room)
        return made

    def _made(self, arm: ArmSpec, room: BufferSizes) -> WideSolvers:
        with self._set.config(arm) as config:
            made = WideSolvers(
                self._cuda, config, arm.joint_names, (arm.ee_link,), room, self.lanes, LANE_SEEDS
            )
        made.free_paths()
        return made

    def _by_cpu(self, problem: Problem, deadline: Deadline) -> PlanResult:
        """Plan in the scene that the core has entered."""
        try:
            return _planned(self._core.plan(problem.request, deadline), problem, deadline)
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
