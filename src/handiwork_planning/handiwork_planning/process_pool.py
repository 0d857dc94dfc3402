"""Many planning problems at once, on all cores: for data sets, and for trying scenes and goals out.

Processes, not threads: kernels run without the GIL, but the Python between them takes it for half of an easy plan.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
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

from .packed_problems import packed, unpacked
from .shared_block import BlockReader, SharedBlock

POLL_S = 0.01
"""Period at which a stop is polled while workers plan, s."""
CHUNKS = 8
"""Pieces per worker, so that one with hard problems does not keep the others waiting."""
AHEAD = 2
"""Parts under way in each worker: one that it plans, and one that waits."""
CLOSE_S = 10.0
"""The longest time that a worker is given to end, s of steady time."""


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
        self._crew: list[_Worker] = []
        # Workers need it too: it compiles the kernels once, or every worker would compile them at the same time.
        self._local = _engine(robot, world_T_base)
        if self.workers > 1:
            # A fork of this process would copy locks that its threads hold; the fork server has no threads.
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([__name__, "handiwork_planning.warm_up"])
            self._stop = context.Event()
            self._crew = [_Worker(context, robot, world_T_base, self._stop) for _ in range(self.workers)]

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
        try:
            # Each worker has a second part waiting, so that it never waits for this process.
            for _ in range(AHEAD):
                for worker in self._crew:
                    worker.send_next(parts, problems)
            while busy := [pipe for pipe, worker in by_pipe.items() if worker.under_way]:
                for pipe in wait(busy, timeout=POLL_S):
                    worker = by_pipe[pipe]  # type: ignore[index]
                    first, data = worker.receive()
                    worker.send_next(parts, problems)
                    results[first] = _checked(unpacked(data))
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


class _Worker:
    """One worker process as the pool sees it: the parts that are under way in it, and where they are written."""

    def __init__(self, context: ForkServerContext, robot: Robot, world_T_base: Pose, stop: Event) -> None:
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, robot, world_T_base, stop), daemon=True)
        self._process.start()
        theirs.close()
        self._blocks = deque(SharedBlock() for _ in range(AHEAD))
        self._reader = BlockReader()
        self.under_way = 0

    def send_next(self, parts: Iterator[range], problems: list[Problem]) -> None:
        """Send the next part, if there is one.

        Args:
            parts: The parts that are left.
            problems: All problems.
        """
        part = next(parts, None)
        if part is None:
            return
        # A worker answers in order: the block of the oldest part is the one that it has read.
        self._blocks.rotate(-1)
        note = self._blocks[-1].write(packed([problems[i] for i in part]))
        try:
            self.pipe.send((part.start, note))
        except OSError as error:
            raise self._lost() from error
        self.under_way += 1

    def receive(self) -> tuple[int, bytes]:
        """Wait for the results of the oldest part: the index of its first problem, and the packed results."""
        try:
            first, note = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        self.under_way -= 1
        return first, self._reader.read(note)

    def discard(self) -> None:
        """Wait for the parts that are under way, and forget their results."""
        try:
            while self.under_way:
                self.receive()
        except RuntimeError:
            self.under_way = 0

    def dismiss(self) -> None:
        """Ask the process to end."""
        with contextlib.suppress(OSError):
            self.pipe.send(None)

    def close(self) -> None:
        """Wait for the end of the process, and free its memory."""
        self._process.join(CLOSE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._reader.close()
        for block in self._blocks:
            block.close()
        self.pipe.close()

    def _lost(self) -> RuntimeError:
        self.under_way = 0
        self._process.join(1.0)
        return RuntimeError(
            f"process {self._process.pid} of the pool has ended with exit code {self._process.exitcode}; "
            "make a new pool, with fewer workers if memory ran out"
        )


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


def _checked(answer: list[PlanResult] | Exception) -> list[PlanResult]:
    if isinstance(answer, Exception):
        raise answer
    return answer


def _serve(pipe: Connection, robot: Robot, world_T_base: Pose, stop: Event) -> None:
    """Plan parts until None comes or the pool's process has ended.

    Results lie in turns in as many blocks as parts may be under way: by the time a block is written again its former
    results have been read, because the pool sends a part only after it has read one.
    """
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C goes to all processes: the pool ends its workers itself
    engine = _engine(robot, world_T_base)
    reader, blocks = BlockReader(), deque(SharedBlock() for _ in range(AHEAD + 1))
    try:
        while (message := pipe.recv()) is not None:
            first, note = message
            answer: list[PlanResult] | Exception
            try:
                answer = _planned(engine, unpacked(reader.read(note)), stop.is_set)
            except Exception as error:  # noqa: BLE001 - it is raised again in the pool's process
                answer = error
            blocks.rotate(-1)
            pipe.send((first, blocks[-1].write(packed(answer))))
    except (EOFError, OSError):
        pass
    finally:
        for block in blocks:
            block.close()
        reader.close()
        engine.close()
