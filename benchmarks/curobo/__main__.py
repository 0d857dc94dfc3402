"""The cuRobo engine on this machine's GPU: ``python -m benchmarks.curobo [--only overhead,batch,...]``.

Prints Markdown. Not zero when a motion was not clean, or a soak found something wrong.
"""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks.perception import clouds_on_gpu
from planner_node.engines import CuroboEngine

from . import (
    agreement,
    batch,
    cold,
    configurations,
    grasp,
    mbm,
    overhead,
    regimes,
    robots,
    soak,
    together,
)
from .machine import machine


def _service(options: argparse.Namespace) -> int:
    """Run the only part that needs ROS, which is therefore imported last."""
    from . import service

    return service.main(options)


PARTS = {
    "regimes": regimes.main,
    "configurations": configurations.main,
    "overhead": overhead.main,
    "agreement": agreement.main,
    "mbm": mbm.main,
    "soak": soak.main,
    "cold": cold.main,
    "batch": batch.main,
    "grasp": grasp.main,
    "robots": robots.main,
    "together": together.main,
    "voxels": clouds_on_gpu.main,
    "service": _service,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curobo", description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated parts")
    parser.add_argument("--per-scene", type=int, default=50, help="MotionBenchMaker problems of each scene")
    parser.add_argument("--plans", type=int, default=500, help="plans of the soak")
    options = parser.parse_args()
    why_not = CuroboEngine.why_not()
    if why_not and options.only != "service":  # which measures the CPU engine then
        print(f"cuRobo cannot run here: {why_not}")
        return 2
    print(why_not or machine(), flush=True)
    wrong = 0
    for name in options.only.split(","):
        began = time.monotonic()
        print(f"\n## {name}\n", flush=True)
        wrong += PARTS[name](options)
        print(f"\n({time.monotonic() - began:.0f} s)", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
