"""Plan published problems, or problems in a scene of one's own: ``python -m benchmarks.mbm --robot panda``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .measure import Options, make_engine, measure
from .problems import SCENES, load_problems
from .rows import faults, tables
from .sphere_robot import MOTION, load_sphere_robot


def main() -> int:
    """Print the table; not zero when a returned path or trajectory is not clean."""
    options = _arguments().parse_args()
    robot = load_sphere_robot(options.robot)
    scenes = tuple(options.scenes.split(",")) if options.scenes else ()
    problems = load_problems(options.robot, scenes, options.per_scene, options.file)
    chosen = Options(
        options.clock,
        options.budget,
        options.seeds,
        options.pose,
        "path" in options.parts,
        "full" in options.parts,
    )
    rows = measure(make_engine(robot), robot, problems, chosen)
    print(
        f"Handiwork, {options.robot}, {len(problems)} problems x {options.seeds} seeds, {options.clock} clock, ms\n"
    )
    print(tables(rows, options.budget))
    print("\n".join(["", *faults(rows)]))
    return 0 if all(r.clean for row in rows for r in (row.path, row.motion) if r is not None) else 1


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mbm", description=__doc__)
    parser.add_argument("--robot", default="panda", choices=sorted(MOTION))
    parser.add_argument("--scenes", default="", help=f"comma-separated, of {', '.join(SCENES)}")
    parser.add_argument("--per-scene", type=int, default=0, help="problems of each scene; 0: all")
    parser.add_argument("--file", type=Path, help="another file of problems in the same layout")
    parser.add_argument("--seeds", type=int, default=1, help="attempts at each problem")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each attempt")
    parser.add_argument("--clock", default="cpu", choices=("cpu", "wall"))
    parser.add_argument("--pose", action="store_true", help="goals are tool poses instead of configurations")
    parser.add_argument("--parts", default="path,full", help="path: search and simplify; full: with timing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
