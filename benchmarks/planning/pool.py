"""Rate of ``PlanPool`` beside processes that share nothing: ``python -m benchmarks.planning.pool [--plans 2048]``.

The processes make their own problems and keep their results, so that their rate is what the cores can do. Each kind of
problem is planned once by the pool before the runs that count.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event, Semaphore

import numpy as np

from benchmarks.curobo.batch import hard_enough
from benchmarks.curobo.machine import fr3
from benchmarks.planning.batch import problems as easy
from benchmarks.planning.demo import demo_world
from handiwork_core.model.geometry import Pose
from handiwork_planning.process_pool import PlanPool, Problem, _engine, _planned

POOL_RUNS, ALONE_RUNS = 5, 3
KINDS = ("own worlds", "one world")


def made(kind: str, count: int) -> list[Problem]:
    """Return problems of the FR3 in the demo world.

    Args:
        kind: One of ``KINDS``: each problem with an object of its own beside the goals, or all in one world.
        count: Number of problems.
    """
    if kind == KINDS[0]:
        return hard_enough(fr3(), count)
    world = demo_world()
    return [Problem(world, request) for request in easy(fr3(), count, 0)]


def alone(kind: str, count: int, ready: Semaphore, go: Event, out: Queue[tuple[float, float]]) -> None:
    """Plan problems in this process, once ``go`` is set; the body of a process that shares nothing.

    Args:
        kind: The kind of problems.
        count: Their number.
        ready: Released when all is warm.
        go: Set when all processes are to begin.
        out: Receives the times of beginning and end, s of steady time.
    """
    engine, mine = _engine(fr3(), Pose.identity()), made(kind, count)
    _planned(engine, mine[:16], lambda: False)
    ready.release()
    go.wait()
    begin = time.perf_counter()
    _planned(engine, mine, lambda: False)
    out.put((begin, time.perf_counter()))


def alone_rate(kind: str, workers: int, count: int) -> float:
    """Return plans per second of processes that share nothing, from the first beginning to the last end.

    Args:
        kind: The kind of problems.
        workers: Number of processes.
        count: Number of problems of all together.
    """
    context = multiprocessing.get_context("forkserver")
    ready, go, out = context.Semaphore(0), context.Event(), context.Queue()
    each = count // workers
    crew = [context.Process(target=alone, args=(kind, each, ready, go, out)) for _ in range(workers)]
    for process in crew:
        process.start()
    for _ in crew:
        ready.acquire()
    go.set()
    times = [out.get() for _ in crew]
    for process in crew:
        process.join()
    return each * workers / (max(end for _, end in times) - min(begin for begin, _ in times))


def pool_rates(kind: str, workers: int, count: int) -> tuple[list[float], int]:
    """Return plans per second of each run of the pool, and how many of the problems it solved.

    Args:
        kind: The kind of problems.
        workers: Number of processes.
        count: Number of problems.
    """
    todo = made(kind, count)
    worlds = [problem.world for problem in todo] if kind == KINDS[0] else todo[0].world
    requests = [problem.request for problem in todo]
    rates, solved = [], 0
    with PlanPool(fr3(), Pose.identity(), workers) as pool:
        pool.plan(worlds, requests)
        for _ in range(POOL_RUNS):
            before = time.perf_counter()
            results = pool.plan(worlds, requests)
            rates.append(count / (time.perf_counter() - before))
            solved = sum(result.trajectory is not None for result in results)
    return rates, solved


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=2048)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    for kind in KINDS:
        rates, solved = pool_rates(kind, options.workers, options.plans)
        free = [alone_rate(kind, options.workers, options.plans) for _ in range(ALONE_RUNS)]
        print(
            f"{kind}, {options.workers} workers, {options.plans} problems, {solved} solved: "
            f"pool {[round(rate) for rate in rates]}, alone {[round(rate) for rate in free]} plans/s, "
            f"share of the medians {np.median(rates) / np.median(free):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
