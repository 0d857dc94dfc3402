"""Plan published problems, or problems in a scene of one's own: ``python -m benchmarks.mbm --robot panda``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.run import Absent, run_peer
from benchmarks.peers.setup import PEERS

from .measure import Options, make_engine, measure
from .own_scene import FR3, own_problems
from .problems import SCENES, Problem, load_problems
from .rows import RATIO_HEADS, Row, faults, markdown, ratios, tables
from .sphere_robot import MOTION, SphereRobot, load_sphere_robot
from .targets import targets

PEER_LIMIT_S = 5.0
"""Time limit of peers, s: longer than that of the product, so that their percentiles include their slow problems."""

BUSY = 8.0
"""The engine's budget is steady time: on a busy machine, so many seconds may hold one of processor time."""


def main() -> int:
    """Print the tables; not zero when a returned path or trajectory is not clean."""
    options = _arguments().parse_args()
    scenes = tuple(options.scenes.split(",")) if options.scenes else ()
    if options.scene:
        robot, problems = own_problems(options.scene, options.robot_dir, options.per_scene or 50)
    else:
        robot = load_sphere_robot(options.robot)
        problems = load_problems(options.robot, scenes, options.per_scene, options.file)
    chosen = Options(
        options.clock,
        options.budget * (BUSY if options.clock == "cpu" else 1.0),
        options.seeds,
        options.pose or options.scene is not None,
        "path" in options.parts,
        "full" in options.parts,
    )
    rows = measure(make_engine(robot), robot, problems, chosen)
    about = f"{robot.robot.name}, {len(problems)} problems, {options.clock} clock, ms, rad"
    print(f"### Handiwork, {about}, {options.seeds} seeds\n\n{tables(rows, options.budget)}\n")
    print("\n".join(faults(rows)))
    others = beside(options, robot, problems, rows, about) if options.peers else {}
    if options.robot == "panda" and not options.scene and not options.pose:
        print(f"\n{targets(rows, others)}")
    return 0 if all(r.clean for row in rows for r in (row.path, row.motion) if r is not None) else 1


def beside(
    options: argparse.Namespace,
    robot: SphereRobot,
    problems: Sequence[Problem],
    rows: Sequence[Row],
    about: str,
) -> dict[str, list[Row]]:
    """Print the peers' tables and their comparison.

    Args:
        options: The command line.
        robot: The robot.
        problems: The problems.
        rows: The product's rows.
        about: Description of the measurement for titles.

    Returns:
        The peers' rows by name.
    """
    found, lines = {}, [ratios("Handiwork", rows, rows, options.budget)]
    for name in options.peers:
        try:
            theirs = run_peer(name, robot, problems, clock=options.clock, limit_s=PEER_LIMIT_S)
        except Absent as absent:
            print(f"\n{absent}")
            continue
        found[name], title = theirs, PEERS[name].title
        print(f"\n### {title}, {about}\n\n{tables(theirs, options.budget)}\n")
        print("\n".join(faults(theirs)))
        lines.append(ratios(title, theirs, rows, options.budget))
    print(f"\n### Side by side, {about}\n\n{markdown(RATIO_HEADS, lines)}")
    return found


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mbm", description=__doc__)
    parser.add_argument("--robot", default="panda", choices=sorted(MOTION))
    parser.add_argument("--scenes", default="", help=f"comma-separated, of {', '.join(SCENES)}")
    parser.add_argument("--per-scene", type=int, default=0, help="problems of each scene; 0: all")
    parser.add_argument("--file", type=Path, help="another file of problems in the same layout")
    parser.add_argument("--scene", type=Path, help="a scene YAML; plans to random tool poses in it instead")
    parser.add_argument("--robot-dir", type=Path, default=FR3, help="the robot's folder, for --scene")
    parser.add_argument(
        "--peers", type=_peers, default=(), help=f"all, or comma-separated, of {', '.join(PEERS)}"
    )
    parser.add_argument("--seeds", type=int, default=1, help="attempts at each problem")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each attempt")
    parser.add_argument("--clock", default="cpu", choices=("cpu", "wall"))
    parser.add_argument("--pose", action="store_true", help="goals are tool poses instead of configurations")
    parser.add_argument("--parts", default="path,full", help="path: search and simplify; full: with timing")
    return parser


def _peers(text: str) -> tuple[str, ...]:
    names = tuple(PEERS) if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(PEERS)}, all")
    return names


if __name__ == "__main__":
    sys.exit(main())
