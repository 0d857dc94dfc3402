"""Plans a second by the planner's services, one request at a time and as a batch.

``python -m benchmarks.planning.service [--plans 200] [--workers 1,2] [--runs 5]``; the planner and the world that it
plans in are processes, as in a real stack.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from benchmarks.curobo.machine import FR3, fr3
from benchmarks.curobo.service import READY_S, client, wait_until
from benchmarks.mbm.rows import markdown
from benchmarks.nodes.processes import process
from handiwork_core.contracts.planning import PlanRequest
from handiwork_core.model.outcome import Code
from handiwork_ros.clients.batch_plan_client import BatchPlanClient
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.ports.planner import PlannerClient

from .batch import problems

HEADS = ("requests", "processes", "plans/s, median", "least", "most", "solved")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=200)
    parser.add_argument("--workers", default="1,2", help="numbers of processes, separated by commas")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    requests = problems(fr3(), options.plans, 0)
    rows: list[list[str]] = []
    with process("-m", "benchmarks.curobo.shown_world"):
        for workers in map(int, options.workers.split(",")):
            given = ("-p", f"robot_dir:={FR3}", "-p", "engine:=cpu", "-p", f"batch_workers:={workers}")
            with process("-m", "planner_node.node", "--ros-args", *given), client() as node:
                signs = Heartbeats(node)
                wait_until(lambda s=signs: s.is_active("planner_node"), READY_S)  # type: ignore[misc]
                if not rows:
                    service = PlannerClient(node, fr3(), signs)
                    rows.append(["one at a time", "1", *one_by_one(service, requests, options.runs)])
                with BatchPlanClient(fr3()) as planner:
                    rows.append(["a batch", str(workers), *as_batch(planner, requests, options.runs)])
    print(
        f"{options.plans} plans, {options.runs} runs, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    print(markdown(HEADS, rows))
    return 0


def one_by_one(service: PlannerClient, requests: list[PlanRequest], runs: int) -> list[str]:
    """Plan requests one after the other, and return cells of the table.

    Args:
        service: The client of the planner.
        requests: The requests.
        runs: Number of runs, after one that does not count.
    """
    rates, solved = [], 0
    for _ in range(runs + 1):
        before = time.perf_counter()
        results = [service.plan(request, should_stop=lambda: False) for request in requests]
        rates.append(len(requests) / (time.perf_counter() - before))
        solved = sum(result.code is Code.OK for result in results)
    return cells(rates[1:], solved)


def as_batch(planner: BatchPlanClient, requests: list[PlanRequest], runs: int) -> list[str]:
    """Plan requests as one batch, and return cells of the table.

    Args:
        planner: The client of the planner.
        requests: The requests.
        runs: Number of runs, after one in which the processes start.

    Raises:
        RuntimeError: The batch was refused.
    """
    rates, solved = [], 0
    for _ in range(runs + 1):
        before = time.perf_counter()
        answer = planner.plan(requests)
        rates.append(len(requests) / (time.perf_counter() - before))
        if not answer.ok:
            raise RuntimeError(f"the batch was refused: {answer.outcome.message}")
        solved = sum(result.code is Code.OK for result in answer.results)
    return cells(rates[1:], solved)


def cells(rates: list[float], solved: int) -> list[str]:
    """Return cells of rates.

    Args:
        rates: Plans a second of each run.
        solved: Number of requests that were solved in the last run.
    """
    return [f"{np.median(rates):.0f}", f"{min(rates):.0f}", f"{max(rates):.0f}", str(solved)]


if __name__ == "__main__":
    raise SystemExit(main())
