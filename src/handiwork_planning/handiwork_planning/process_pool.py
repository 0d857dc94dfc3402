"""Many planning problems at once, on all cores: for data sets, and for trying scenes and goals out.

Processes, not threads: kernels run without the GIL, but the Python between them takes it for half of an easy plan.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
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

POLL_S = 0.01
"""Period at which a stop is polled while workers plan, s."""
CHUNKS = 8
"""Pieces per worker, so that one with hard problems does not keep the others waiting."""


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
    """Worker processes with an engine each, which live until ``close``."""

    def __init__(self, robot: Robot, world_T_base: Pose, workers: int | None = None) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None
        # Workers need it too: it compiles the kernels once, or every worker would compile them at the same time.
        self._local = _engine(robot, world_T_base)
        if self.workers > 1:
            # A fork of this process would copy locks that its threads hold; the fork server has no threads.
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([__name__, "handiwork_planning.warm_up"])
            self._stop = context.Event()
            self._pool = ProcessPoolExecutor(self.workers, context, _begin, (robot, world_T_base, self._stop))

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
        """
        each = [worlds] * len(requests) if isinstance(worlds, World) else list(worlds)
        if len(each) != len(requests):
            raise ValueError(
                f"{len(each)} worlds for {len(requests)} requests; give one for all, or one each"
            )
        problems = [Problem(world, request) for world, request in zip(each, requests, strict=True)]
        if self._pool is None:
            return _planned(self._local, problems, should_stop or never_stop)
        self._stop.clear()
        size = max(1, len(problems) // (CHUNKS * self.workers))
        parts = [problems[i : i + size] for i in range(0, len(problems), size)]
        futures = [self._pool.submit(_work, part) for part in parts]
        _watch(futures, should_stop or never_stop, self._stop.set)
        return [result for future in futures for result in future.result()]

    def close(self) -> None:
        """End the workers and the engine of this process."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._local.close()

    def __enter__(self) -> PlanPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _watch(
    futures: list[Future[list[PlanResult]]], should_stop: ShouldStop, stop: Callable[[], None]
) -> None:
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, timeout=POLL_S)
        if waiting and should_stop():
            stop()
            return


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


_worker: list[tuple[Engine, Event]] = []
"""Engine and stop flag of this worker process; empty in other processes."""


def _begin(robot: Robot, world_T_base: Pose, stop: Event) -> None:
    _worker.append((_engine(robot, world_T_base), stop))


def _work(problems: list[Problem]) -> list[PlanResult]:
    engine, stop = _worker[0]
    return _planned(engine, problems, stop.is_set)
