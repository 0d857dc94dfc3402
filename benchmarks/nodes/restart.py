"""Time from SIGKILL of a node until it is active again: ``python -m benchmarks.nodes.restart [--runs 3]``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.stack import Stack

RESPAWNED = ("planner_node", "skill_server", "conditionals_node")
LIMIT_S = 120.0


def restart_s(stack: Stack, node: str) -> float:
    """Kill a node and wait for its successor.

    Args:
        stack: A running stack.
        node: Name of the node.

    Returns:
        Time until the new process is active, s; nan after ``LIMIT_S``.
    """
    signs = stack.client.signs
    old = signs.pid(node)
    assert old is not None, f"{node} is not known"
    began = time.monotonic()
    os.kill(old, signal.SIGKILL)
    while time.monotonic() - began < LIMIT_S:
        if signs.is_active(node) and signs.pid(node) != old:
            return time.monotonic() - began
        threading.Event().wait(0.01)
    return float("nan")


def main() -> None:
    """Print one line for each node."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with Stack({"engine": "cpu"}, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        for node in RESPAWNED:
            spent = [restart_s(stack, node) for _ in progress(range(options.runs), node, unit="restarts")]
            print(f"{node:18} p50 {np.median(spent):5.2f} s, greatest {max(spent):5.2f} s", flush=True)


if __name__ == "__main__":
    main()
