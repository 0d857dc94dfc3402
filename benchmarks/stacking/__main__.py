"""Stack bins for some seeds and print how exactly they are placed: ``python -m benchmarks.stacking --help``."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from .disturbances import Kind
from .episode import Result
from .runs import Run, run_all, table
from .simulated_cell import UR10


def in_words(result: Result, wall_s: float) -> str:
    """Return the end of a stack as a sentence.

    Args:
        result: The end.
        wall_s: Wall time, s.
    """
    if not result.good:
        return (
            f"The stack is not as it shall be: {result.stacked} of {result.places} bins are in their places."
        )
    off = f"{result.worst_m * 1e3:.1f} mm and {result.worst_deg:.1f} degrees"
    speed = f"{result.simulated_s:.0f} s of the cell took {wall_s:.0f} s"
    return f"All {result.places} bins are stacked, open side down, none is farther from its place than {off}; {speed}."


def parsed() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stacking", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--first-seed", type=int, default=0, help="they are counted up from this one")
    parser.add_argument("--jobs", type=int, default=1, help="processes that work side by side, a seed each")
    parser.add_argument("--full", action="store_true", help="36 bins instead of 12")
    parser.add_argument("--tier", action="store_true", help="one layer of 4 bins instead of 12")
    parser.add_argument("--layout", type=Path, help="a layout of yours, such as config/stacking/small.yaml")
    text = "a cell of yours with its layout, such as config/stacking/ur5e.yaml"
    parser.add_argument("--cell", type=Path, help=text)
    parser.add_argument("--robot", type=Path, default=UR10, help="folder of an arm of UR with a suction cup")
    parser.add_argument(
        "--slip", type=float, default=0.0, help="sliding while the lip closes, deviation [mm]"
    )
    parser.add_argument(
        "--slip-deg", type=float, default=0.0, help="turn while the lip closes, deviation [deg]"
    )
    parser.add_argument(
        "--creep", type=float, default=0.0, help="sliding under load across the cup [mm/s per N]"
    )
    parser.add_argument("--no-correction", action="store_true", help="place without the measured correction")
    parser.add_argument(
        "--disturb",
        choices=[*(kind.value for kind in Kind), "all", "each"],
        default="none",
        help="what is done to the cell; all: another one with each seed, each: every one with each seed",
    )
    parser.add_argument("--view", action="store_true", help="draw the network while it runs")
    parser.add_argument("--video", type=Path, help="film the (last) seed into this .webp, 15 times as fast")
    parser.add_argument("--out", type=Path, help="append the results to this file as JSON lines")
    arguments = parser.parse_args()
    if arguments.seeds < 1 or arguments.jobs < 1:
        parser.error("--seeds and --jobs must be 1 or more")
    if arguments.jobs > 1 and (arguments.view or arguments.video is not None):
        parser.error("--view and --video show one seed after the other: leave --jobs out")
    return arguments


def main() -> int:
    """Run all seeds; the exit status is 1 if one was neither good nor refused with a true reason."""
    arguments = parsed()
    runs: list[Run] = []
    begin_s = time.monotonic()
    for run in run_all(arguments):
        runs.append(run)
        print(run.text(), flush=True)
        if arguments.out is not None:
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(run.record() + "\n")
        if arguments.view:
            print(in_words(run.result, time.monotonic() - begin_s))
    counts = Counter(run.outcome for run in runs)
    right, placings = (sum(getattr(run.result, key) for run in runs) for key in ("right", "placings"))
    print(f"{right} of {placings} placings were right at the first try")
    print(
        f"{table(runs)}\n{counts['good']} of {len(runs)} good, {counts['refused']} refused with a true reason"
    )
    return 1 if counts["NOT GOOD"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
