"""Many planning problems at once, on all cores: for data sets, and for trying scenes and goals out.

Processes, not threads: kernels run without the GIL, but the Python between them takes it for half of an easy plan.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event
from types import TracebackType

from handiwork_core.contracts.planning import (
    Engine,
    PlanRequest,
    PlanResult,
    ShouldStop,
    never_stop,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .worker_process import WorkerProcess, worker_context

POLL_S = 0.01
"""Period at which a stop is polled while workers plan, s."""
CHUNKS = 8
"""Pieces per worker, so that one with hard problems does not keep the others waiting."""
AHEAD = 2
"""Parts under way in each worker: one that it plans, and one that waits."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One request in its world."""

    world: World
    request: PlanRequest


def plan_many(
    robot: Robot,
    world_T_base: Pose,
    worlds: World | Sequence[World],
    requests: Sequence[PlanRequest],
    workers: int | None = None,
    should_stop: ShouldStop | None = None,
) -> list[PlanResult]:
    """Plan every request: one result each, in order, the same for any number of workers (budgets apart).

    A script that calls this needs ``if __name__ == "__main__":``, as ``multiprocessing`` does. For several batches
    keep a ``PlanPool``, whose workers stay.

    Args:
        robot: The robot.
        world_T_base: Pose of the robot's root link.
        worlds: One world for all requests, or one for each.
        requests: The requests.
        workers: Number of processes; None is one per core, 1 plans in this process.
        should_stop: Polled while planning; requests not planned by then get CANCELED.

    Raises:
        ValueError: the numbers of worlds and requests differ.
    """
    with PlanPool(robot, world_T_base, workers) as pool:
        return pool.plan(worlds, requests, should_stop)


class PlanPool:
    """Worker processes with an engine each, which live until ``close``.

    Problems and results lie in shared memory; pipes carry only where. One thread at a time plans.

    Args:
        robot: The robot.
        world_T_base: Pose of the robot's root link.
        workers: Number of processes; None is one per core, 1 plans in this process.
    """

    def __init__(self, robot: Robot, world_T_base: Pose, workers: int | None = None) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self._turn = threading.Lock()
        self._crew: list[WorkerProcess[list[Problem], list[PlanResult]]] = []
        # Workers need it too: it compiles the kernels once, or every worker would compile them at the same time.
        self._local = _engine(robot, world_T_base)
        if self.workers > 1:
            context = worker_context(__name__)
            self._stop = context.Event()
            arguments = (robot, world_T_base, self._stop)
            self._crew = [WorkerProcess(context, _Planning, arguments, AHEAD) for _ in range(self.workers)]

    def plan(
        self,
        worlds: World | Sequence[World],
        requests: Sequence[PlanRequest],
        should_stop: ShouldStop | None = None,
    ) -> list[PlanResult]:
        """Plan every request, as ``plan_many`` does.

        Args:
            worlds: One world for all requests, or one for each.
            requests: The requests.
            should_stop: Polled while planning; requests not planned by then get CANCELED.

        Returns:
            One result per request, in order.

        Raises:
            ValueError: the numbers of worlds and requests differ.
            RuntimeError: a worker process ended; the pool is then of no use.
        """
        each = [worlds] * len(requests) if isinstance(worlds, World) else list(worlds)
        if len(each) != len(requests):
            raise ValueError(
                f"{len(each)} worlds for {len(requests)} requests; give one for all, or one each"
            )
        problems = [Problem(world, request) for world, request in zip(each, requests, strict=True)]
        with self._turn:
            if not self._crew:
                return _planned(self._local, problems, should_stop or never_stop)
            self._stop.clear()
            return self._shared_out(problems, should_stop or never_stop)

    def _shared_out(self, problems: list[Problem], should_stop: ShouldStop) -> list[PlanResult]:
        results: dict[int, list[PlanResult]] = {}
        parts = _parts(len(problems), self.workers)
        by_pipe = {worker.pipe: worker for worker in self._crew}
        sent: dict[object, deque[int]] = {pipe: deque() for pipe in by_pipe}

        def send_next(worker: WorkerProcess[list[Problem], list[PlanResult]]) -> None:
            if (part := next(parts, None)) is not None:
                sent[worker.pipe].append(part.start)
                worker.send([problems[i] for i in part])

        try:
            # Each worker has a second part waiting, so that it never waits for this process.
            for _ in range(AHEAD):
                for worker in self._crew:
                    send_next(worker)
            while busy := [pipe for pipe, worker in by_pipe.items() if worker.under_way]:
                for pipe in wait(busy, timeout=POLL_S):
                    worker = by_pipe[pipe]  # type: ignore[index]
                    answer = worker.receive()
                    send_next(worker)
                    results[sent[pipe].popleft()] = answer
                if should_stop():
                    self._stop.set()
        except BaseException:
            self._stop.set()
            for worker in self._crew:
                worker.discard()
            raise
        return [result for first in sorted(results) for result in results[first]]

    def close(self) -> None:
        """End the workers and the engine of this process."""
        for worker in self._crew:
            worker.dismiss()
        for worker in self._crew:
            worker.close()
        self._crew.clear()
        self._local.close()

    def __enter__(self) -> PlanPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _parts(count: int, workers: int) -> Iterator[range]:
    """Divide problems: pieces shrink towards the end, so that no worker has much left when the others are done."""
    first, most = 0, max(1, count // (CHUNKS * workers))
    while first < count:
        size = min(most, max(1, (count - first) // (3 * workers)))
        yield range(first, min(count, first + size))
        first += size


def _engine(robot: Robot, world_T_base: Pose) -> Engine:
    from .cpu_engine import CpuEngine

    return CpuEngine(robot, world_T_base, lambda _share, _text: None)


def _planned(engine: Engine, problems: Sequence[Problem], should_stop: ShouldStop) -> list[PlanResult]:
    before: World | None = None
    results = []
    for problem in problems:
        if should_stop():
            missed = PlanResult(Code.CANCELED, "stopped before it was planned", seed=problem.request.seed)
            results.append(missed)
            continue
        if problem.world is not before:
            engine.update_world(problem.world)
            before = problem.world
        results.append(engine.plan(problem.request, should_stop))
    return results


class _Planning:
    """Plans parts in a process of the pool.

    Args:
        robot: The robot.
        world_T_base: Pose of the robot's root link.
        stop: Set when planning must end.
    """

    def __init__(self, robot: Robot, world_T_base: Pose, stop: Event) -> None:
        self._engine, self._stop = _engine(robot, world_T_base), stop

    def answer(self, message: list[Problem]) -> list[PlanResult]:
        """Plan a part.

        Args:
            message: The problems of the part.
        """
        return _planned(self._engine, message, self._stop.is_set)

    def forget(self) -> None:
        """Nothing is kept from one part to the next."""

    def close(self) -> None:
        """End the engine."""
        self._engine.close()
