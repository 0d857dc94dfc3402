"""The round trip over ROS beside the bare cuRobo call: the same requests, one after the other, in one run.

The planner is a process, its client this one, and the robot and its world a third, as in a real stack.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from benchmarks.mbm.rows import markdown
from benchmarks.nodes.processes import process
from benchmarks.planning.demo import down
from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import PlanRequest, PoseGoals
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.ports.planner import PlannerClient
from planner_node.engines import CuroboEngine

from .machine import FR3, engine, fr3
from .overhead import Bare, base_rows

RUNS, WARM_UPS = 60, 3
READY_S = 60.0
HEADS = (
    "ms, median", "engine", "round trip", "p95", "bare cuRobo", "p95", "service less bare", "in the engine",
    "added by ROS", "p95", "solved",
)  # fmt: skip


def main(_options: argparse.Namespace) -> int:
    lines = []
    with process("-m", "benchmarks.curobo.shown_world"):
        why_not = CuroboEngine.why_not()
        if why_not:
            print(f"the CPU engine alone, for what ROS adds: {why_not}\n")
        for kind in ("cpu",) if why_not else ("curobo", "cpu"):
            given = ("-p", f"robot_dir:={FR3}", "-p", f"engine:={kind}", "-p", "fall_back_to_cpu:=false")
            with process("-m", "planner_node.node", "--ros-args", *given), client() as node:
                signs = Heartbeats(node)
                wait_until(lambda s=signs: s.is_active("planner_node"), READY_S)  # type: ignore[misc]
                service = PlannerClient(node, fr3(), signs)
                for what, count in (("one pose", 1), ("set of 100 poses", 100)):
                    bare = bare_curobo(count) if kind == "curobo" else None
                    lines.append([what, kind, *measured(service, bare, count)])
    print(markdown(HEADS, lines))
    return 0


def bare_curobo(count: int) -> Bare:
    """Return cuRobo's own planner for sets of poses, in this process.

    Args:
        count: Number of poses in a set.
    """
    ours = engine(CuroboEngine)
    assert isinstance(ours, CuroboEngine)
    return Bare(ours._gpu, np.array(fr3().arm("").home_q), count)


def measured(service: PlannerClient, bare: Bare | None, count: int) -> list[str]:
    """Measure round trips and bare calls, in turns, of RUNS plans, and return one row of the table.

    Args:
        service: The client of the planner.
        bare: cuRobo's own planner; None without it.
        count: Number of poses in a set.
    """
    rng, home = np.random.default_rng(0), np.array(fr3().arm("").home_q)
    rows, solved = [], 0
    for i in progress(range(RUNS + WARM_UPS), "service"):
        poses = tuple(
            down(fr3(), 0.45 + x, 0.2 + y, rng.uniform(0.15, 0.3), rng.uniform(-3, 3))
            for x, y in rng.uniform(-0.05, 0.05, (count, 2))
        )
        goals = PoseGoals(poses)
        alone = np.nan if bare is None else clocked(lambda b=bare, g=goals: b.plan(base_rows(g)))[0]  # type: ignore[misc]
        request = PlanRequest("", home, goals, seed=i)
        whole, result = clocked(lambda r=request: service.plan(r, should_stop=lambda: False))  # type: ignore[misc]
        rows.append((whole, alone, 1e3 * result.planning_time_s))
        solved += result.code is Code.OK
    if bare is not None:
        bare.close()
    return [*table_row(np.array(rows[WARM_UPS:])), f"{solved} of {RUNS + WARM_UPS}"]


def table_row(ms: Array) -> list[str]:
    """Return cells of percentiles.

    Args:
        ms: Round trips, bare calls (NaN: none) and times in the engine, (n, 3), ms.
    """
    whole, alone, inside = ms.T
    added = whole - inside
    numbers = (
        *np.percentile(whole, (50, 95)),
        *np.percentile(alone, (50, 95)),
        np.median(whole) - np.median(alone),
        np.median(inside),
        *np.percentile(added, (50, 95)),
    )
    return ["" if np.isnan(n) else f"{n:.2f}" for n in numbers]


def clocked(work: Callable[[], object]) -> tuple[float, Any]:
    """Return the duration of a call, ms, and its value.

    Args:
        work: The call.
    """
    before = time.perf_counter()
    value = work()
    return 1e3 * (time.perf_counter() - before), value


@contextmanager
def client() -> Iterator[Node]:
    """Run a node in a thread within the block.

    Yields:
        The node.
    """
    context, over = Context(), threading.Event()
    context.init()
    executor = SingleThreadedExecutor(context=context)
    node = Node("service_benchmark", context=context)
    executor.add_node(node)

    def spin() -> None:
        while not over.is_set():
            executor.spin_once()

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield node
    finally:
        over.set()
        executor.wake()
        thread.join()
        executor.shutdown()
        node.destroy_node()
        context.shutdown()


def wait_until(condition: Callable[[], bool], limit_s: float) -> None:
    """Wait until a condition holds.

    Args:
        condition: The condition.
        limit_s: Longest wait, s.

    Raises:
        TimeoutError: it did not hold in time.
    """
    end_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end_s:
            raise TimeoutError(f"the planner was not active after {limit_s:g} s; its log is above")
        threading.Event().wait(0.02)
