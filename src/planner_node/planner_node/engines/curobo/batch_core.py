"""A batch of independent problems on the GPU, each in its own world: cuRobo plans all, and our checker judges them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import PlanResult, ShouldStop
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.process_pool import Problem

from .batch_crew import LocalReader, ReaderCrew, Readers
from .batch_reader import Answer, Done, Ready, ToJudge, ToRead, is_for_cpu
from .device.cuda import Cuda
from .model.buffers import BufferSizes
from .solvers.batch_solvers import WideSolvers, has_threads
from .sphere_set import SphereSet

LANE_SEEDS = 1
"""Trajectories that are optimised for each problem: a batch keeps the GPU busy without further ones."""
LANE_ITERATIONS = 25
"""Iterations of the only pass. 50 plan two thirds as many problems a second, with motions 6 % shorter."""
LANE_SAMPLES = 2
"""Moments of a piece of a spline at which costs are evaluated: half of cuRobo's, which made motions no longer.
Collision is checked on the way between them as well, and our checker judges the motion."""
SIZES = (64, 256)
"""Numbers of lanes to choose from; more were not faster in one world, as the CPU then waits for the GPU."""
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


@dataclass(frozen=True, slots=True, eq=False)
class _Optimising:
    """Problems that the GPU optimises together.

    Attributes:
        chunk: Those problems.
        outsized: Problems that were read with them and have too many obstacles for a launch.
        moved: Their motions; None when there is no problem for the GPU.
    """

    chunk: list[Ready]
    outsized: list[Ready]
    moved: Future[Moved] | None

    def motions(self) -> list[tuple[Ready, list[Array]]]:
        """Wait for the GPU, and return each problem's motions."""
        moved = self.moved.result() if self.moved is not None else []
        found = list(zip(self.chunk, moved, strict=True))
        return found + [(one, list[Array]()) for one in self.outsized]


class BatchCore:
    """Plans ``lanes`` problems at a time. The CPU engine plans those for which cuRobo finds no motion.

    While the GPU optimises one set of problems the readers read the next set and judge the last one.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
        cuda: The loaded libraries.
        lanes: Number of problems at a time.
        workers: Number of processes that read and judge; 1 does this in the calling thread.

    Raises:
        ValueError: A launch has not enough threads for so many lanes.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, cuda: Cuda, lanes: int, workers: int = 1) -> None:
        self._robot, self._cuda, self.lanes = robot, cuda, lanes
        self._set = SphereSet(robot, world_T_root, is_fine=False)
        if not has_threads(lanes, LANE_SEEDS, self._set.count, BufferSizes()):
            raise ValueError(
                f"lanes is {lanes}: too many for one launch with {self._set.count} spheres; give fewer, such as 64"
            )
        self._readers: Readers = (
            ReaderCrew(robot, world_T_root, workers) if workers > 1 else LocalReader(robot, world_T_root)
        )
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
            RuntimeError: A process of the readers ended.
        """
        results: dict[int, PlanResult] = {}
        try:
            self._plan(problems, should_stop, results)
        except BaseException:
            self._readers.forget()
            raise
        return [results[i] for i in range(len(problems))]

    def _plan(
        self, problems: Sequence[Problem], should_stop: ShouldStop, results: dict[int, PlanResult]
    ) -> None:
        readers, is_judging = self._readers, False
        last: _Optimising | None = None
        with ThreadPoolExecutor(1, thread_name_prefix="GPU batches") as gpu:
            for turn, places in enumerate(self._chunks(problems)):
                readers.begin(self._to_read(turn % 2, places, problems), should_stop)
                if is_judging:
                    self._keep(readers.end(should_stop), results)
                following = self._started(gpu, self._keep(readers.end(should_stop), results))
                is_judging = last is not None
                if last is not None:
                    readers.begin(self._to_judge(last), should_stop)
                last = following
            if is_judging:
                self._keep(readers.end(should_stop), results)
            if last is not None:
                readers.begin(self._to_judge(last), should_stop)
                self._keep(readers.end(should_stop), results)

    def close(self) -> None:
        """Free the GPU, and end the processes."""
        for solvers in self._solvers.values():
            solvers.close()
        self._solvers.clear()
        self._readers.close()

    def _chunks(self, problems: Sequence[Problem]) -> Iterator[list[int]]:
        """Yield the places of the problems that are planned together: those of one arm, or of the CPU engine."""
        by_arm: dict[str, list[int]] = {}
        for i, problem in enumerate(problems):
            by_arm.setdefault("" if is_for_cpu(problem.request) else problem.request.arm, []).append(i)
        for places in by_arm.values():
            for first in range(0, len(places), self.lanes):
                yield places[first : first + self.lanes]

    def _to_read(self, bank: int, places: list[int], problems: Sequence[Problem]) -> list[ToRead]:
        """Divide problems among the readers: lane by lane, so that a lane's scene is always the same one's."""
        is_one_world = all(problems[i].world is problems[places[0]].world for i in places)
        orders = [(place, lane, problems[place]) for lane, place in enumerate(places)]
        count = self._readers.count
        return [ToRead(bank, tuple(orders[k::count]), is_one_world) for k in range(count)]

    def _to_judge(self, last: _Optimising) -> list[ToJudge]:
        """Divide motions among the readers, each to the one that has read the problem."""
        parts: list[list[tuple[int, list[Array]]]] = [[] for _ in range(self._readers.count)]
        for one, motions in last.motions():
            parts[one.scene.lane % len(parts)].append((one.place, motions))
        return [ToJudge(tuple(part)) for part in parts]

    def _keep(self, answers: Sequence[Answer], results: dict[int, PlanResult]) -> list[Ready]:
        """Store the results among the answers, and return the problems that are ready, by lane."""
        ready = []
        for answer in answers:
            if isinstance(answer, Done):
                results[answer.place] = answer.result
                self.handed_over += answer.is_handed_over
            else:
                ready.append(answer)
        return sorted(ready, key=lambda one: one.scene.lane)

    def _started(self, gpu: ThreadPoolExecutor, ready: list[Ready]) -> _Optimising:
        """Begin to optimise those of the problems whose worlds a launch has enough threads for."""
        chunk, outsized = list[Ready](), list[Ready]()
        for one in ready:
            (chunk if self._make_room(one) else outsized).append(one)
        if not chunk:
            return _Optimising(chunk, outsized, None)
        room = self._rooms[chunk[0].arm]
        return _Optimising(chunk, outsized, gpu.submit(self._optimised, chunk, room))

    def _make_room(self, one: Ready) -> bool:
        """Enlarge the arm's room for a problem; return whether a launch has enough threads for it."""
        before, rows = self._rooms.get(one.arm), one.scene.rows
        room = BufferSizes.of(rows) if before is None else before.for_rows(rows)
        fits = has_threads(self.lanes, LANE_SEEDS, self._set.count, room)
        if fits:
            self._rooms[one.arm] = room
        return fits

    def _optimised(self, chunk: list[Ready], room: BufferSizes) -> Moved:
        """Run one pass of cuRobo over straight ways to the nearest ends; on the GPU's thread."""
        solvers = self._ready(self._robot.arm(chunk[0].arm), room)
        solvers.update([one.scene for one in chunk])
        return solvers.optimise(
            [one.scene.lane for one in chunk],
            np.array([one.start for one in chunk]),
            np.array([one.end[None] for one in chunk]),
            np.array([one.base_T_ee[None] for one in chunk]),
            None,
            0,
        )

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
                self._cuda,
                config,
                arm.joint_names,
                (arm.ee_link,),
                room,
                self.lanes,
                LANE_SEEDS,
                LANE_ITERATIONS,
                LANE_SAMPLES,
            )
        made.free_paths()
        return made
