"""Time from SIGKILL of a node until it is active again: ``python -m benchmarks.nodes.restart [--runs 3]``.

The processor time of the successor until then does not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from contextlib import suppress

import numpy as np

from benchmarks.processor_time import processor_s
from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.stack import Stack

RESPAWNED = ("planner_node", "skill_server", "conditionals_node")
LIMIT_S = 120.0


def restart_s(stack: Stack, node: str) -> tuple[float, float]:
    """Kill a node and wait for its successor.

    Args:
        stack: A running stack.
        node: Name of the node.

    Returns:
        Time until the new process is active, and its processor time, s; nan after ``LIMIT_S``.
    """
    signs = stack.client.signs
    old = signs.pid(node)
    assert old is not None, f"{node} is not known"
    began = time.monotonic()
    os.kill(old, signal.SIGKILL)
    while time.monotonic() - began < LIMIT_S:
        new = signs.pid(node)
        if new is not None and new != old and signs.is_active(node):
            with suppress(ProcessLookupError):  # a successor that has ended is none
                return time.monotonic() - began, processor_s(new)
        threading.Event().wait(0.01)
    return float("nan"), float("nan")


def main() -> None:
    """Print one line for each node."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with Stack({"engine": "cpu"}, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        for node in RESPAWNED:
            runs = [restart_s(stack, node) for _ in progress(range(options.runs), node, unit="restarts")]
            spent, used = np.array(runs).T
            print(
                f"{node:18} p50 {np.median(spent):5.2f} s, greatest {spent.max():5.2f} s; "
                f"processor time p50 {np.median(used):5.2f} s",
                flush=True,
            )
    print(f"load {os.getloadavg()[0]:.1f}, bytecode {'kept' if not sys.dont_write_bytecode else 'not kept'}")


if __name__ == "__main__":
    main()
