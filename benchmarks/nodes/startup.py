"""Time from the start of the five processes until all are active: ``python -m benchmarks.nodes.startup [--runs 5]``."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.stack import Stack


def start_s() -> float:
    """Start the stack, wait until it serves, end it; return the duration of the first two, s."""
    began = time.monotonic()
    with Stack({"engine": "cpu"}, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        return time.monotonic() - began


def main() -> None:
    """Print one line. The first start may compile; it is left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    first, spent = start_s(), [start_s() for _ in progress(range(options.runs), "starts", unit="starts")]
    print(
        f"start to all nodes active: p50 {np.median(spent):.2f} s, greatest {max(spent):.2f} s "
        f"({options.runs} runs; one before them {first:.2f} s)"
    )


if __name__ == "__main__":
    main()
