"""Processor time of each node without any request: ``python -m benchmarks.nodes.idle [--seconds 10]``."""

from __future__ import annotations

import argparse
import sys
import time

from handiwork_msgs.srv import SetPaused

from benchmarks.processor_time import processor_s
from handiwork_cli.stack.stack import NODES, Stack

SETTLE_S = 3.0
"""Time after the last node is active during which discovery and warm-up continue, s."""


def measure(stack: Stack, seconds: float, what: str) -> None:
    """Print one row: percent of one core for each node, and their sum.

    Args:
        stack: The stack.
        seconds: Length of the measurement, s.
        what: Label of the row.
    """
    time.sleep(SETTLE_S)  # noqa: TID251 - a measurement takes its time
    pids = {name: stack.client.signs.pid(name) or 0 for name in NODES}
    before, began = {name: processor_s(pid) for name, pid in pids.items()}, time.monotonic()
    time.sleep(seconds)  # noqa: TID251 - a measurement takes its time
    wall = time.monotonic() - began
    share = [100.0 * (processor_s(pids[name]) - before[name]) / wall for name in NODES]
    print(f"{what:<30}" + "".join(f"{value:>18.1f}" for value in [*share, sum(share)]), flush=True)


def pause(stack: Stack, paused: bool) -> None:
    """Pause the world's time, or continue it.

    Args:
        stack: The stack.
        paused: Whether to pause.
    """
    stack.call(SetPaused, "sim/set_paused", SetPaused.Request(paused=paused))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each measurement")
    parser.add_argument("--factor", type=float, default=1.0, help="simulated seconds per second")
    options = parser.parse_args()
    arguments = {"engine": "cpu", "real_time_factor": str(options.factor)}
    with Stack(arguments, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        print(f"{'[% of one core]':<30}" + "".join(f"{name:>18}" for name in (*NODES, "sum")))
        pause(stack, True)
        measure(stack, options.seconds, "paused, before any goal")
        pause(stack, False)
        measure(stack, options.seconds, f"running, factor {options.factor:g}, arm still")
        report = stack.client.pick("cube")
        print(f"pick: {report.outcome.code.name}, {report.planning_time_s:.2f} s of planning")
        pause(stack, True)
        measure(stack, options.seconds, "paused, after a pick")


if __name__ == "__main__":
    main()
