"""``handiwork reach ROBOT``: where an arm reaches, from how many sides, and how well it moves there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_cli.processes.progress import progress
from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene

from .export_usd import scene_file

if TYPE_CHECKING:
    from handiwork_core.contracts.planning import Engine
    from handiwork_core.robot.reach_map import ReachMap
    from handiwork_core.scene.layout import Scene

CELLS_M = (0.01, 0.5)
"""The smallest and the largest cell, m."""
MOST_DIRECTIONS, MOST_ROLLS = 1000, 255


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "reach", help="compute where an arm reaches, as a file and a picture; see docs/how-to/reach.md"
    )
    parser.add_argument(
        "robot", help="name of a folder in robot_description/robots, or a path of such a folder"
    )
    parser.add_argument("--arm", default="", help="name of the arm; needed where the robot has several")
    parser.add_argument(
        "--scene", default="", help="a scene, whose fixed objects are obstacles; name or path"
    )
    parser.add_argument("--cell", type=float, default=0.08, help="distance of the places [m]")
    parser.add_argument("--directions", type=int, default=12, help="number of directions of approach")
    parser.add_argument("--rolls", type=int, default=2, help="number of angles about each direction")
    parser.add_argument("--down", action="store_true", help="only the direction straight down")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=None, help="processes; default: one for each core")
    parser.add_argument(
        "--engine", choices=("cpu", "curobo"), default="cpu", help="curobo: one process and an NVIDIA GPU"
    )
    parser.add_argument(
        "--out", type=Path, default=None, help="file of the map; default: <robot>_<arm>_reach.npz"
    )
    parser.add_argument(
        "--picture", type=Path, default=None, help="picture: .png, .svg or .pdf; default: beside it"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compute the map, write file and picture, and print a summary.

    Args:
        options: Parsed command line.

    Returns:
        Exit code.

    Raises:
        ConfigError: There is no such robot, arm or scene, or an option is out of its range.
    """
    _check(options)
    robot = load_robot(robot_folder(options.robot))
    arm = _arm(robot, options.arm)
    out = options.out or Path(f"{robot.name}_{arm.name}_reach.npz")
    try:
        found = _computed(robot, arm, options)
        found.save(out)
    except OSError as error:
        print(f"handiwork reach: {out} cannot be written: {error}", file=sys.stderr)
        return 2
    print(summary(found))
    print(f"map: {out}")
    return _draw(found, options.picture or out.with_suffix(".png"))


def summary(found: ReachMap) -> str:
    """Return what a map says, in one line.

    Args:
        found: The map.
    """
    shares = found.shares
    volume = found.cell_m**3
    tried = found.source.rolls * len(found.approaches)
    reached = shares[shares > 0.0]
    most = float(reached.max(initial=0.0))
    counts = ", ".join(
        f"{np.count_nonzero(reached >= share) * volume:.2f} m3 in {share:.0%}" for share in (0.25, 0.5, 0.75)
    )
    return (
        f"{found.source.robot}, {found.source.arm}: the TCP reaches {np.count_nonzero(shares) * volume:.2f} m3 "
        f"of {found.source.frame} in at least one of {tried} orientations; {counts} of them or more; "
        f"at best {most:.0%}"
    )


def _check(options: argparse.Namespace) -> None:
    faults = []
    if not CELLS_M[0] <= options.cell <= CELLS_M[1]:
        faults.append(f"--cell is {options.cell:g}; give {CELLS_M[0]:g} to {CELLS_M[1]:g} m")
    for name, most in (("directions", MOST_DIRECTIONS), ("rolls", MOST_ROLLS)):
        if not 1 <= getattr(options, name) <= most:
            faults.append(f"--{name} is {getattr(options, name)}; give 1 to {most}")
    if options.seed < 0:
        faults.append(f"--seed is {options.seed}; give 0 or more")
    if options.workers is not None and options.workers < 1:
        faults.append(f"--workers is {options.workers}; give 1 or more")
    if faults:
        raise ConfigError("options", faults)


def _arm(robot: Robot, name: str) -> ArmSpec:
    if name and name not in robot.arms:
        raise ConfigError(
            "--arm", [f"{name!r} is no arm of {robot.name}; {nearest(name, sorted(robot.arms))}"]
        )
    if not name and len(robot.arms) > 1:
        raise ConfigError("--arm", [f"{robot.name} has several arms; give one of {', '.join(robot.arms)}"])
    return robot.arm(name)


def _computed(robot: Robot, arm: ArmSpec, options: argparse.Namespace) -> ReachMap:
    from handiwork_planning.reach.analysis import ReachSampling, compute_reach
    from handiwork_planning.reach.orientations import sphere_directions

    directions = sphere_directions(1 if options.down else options.directions)
    scene = load_scene(scene_file(options.scene)) if options.scene else None

    engine = _gpu_engine(robot, scene) if options.engine == "curobo" else None

    def watch(blocks: Collection[int]) -> Iterable[int]:
        return progress(blocks, f"reach of {arm.name}", unit="blocks")

    try:
        return compute_reach(
            robot,
            arm,
            ReachSampling(options.cell, directions, options.rolls, options.seed),
            world_T_base=None if scene is None else scene.world_T_base,
            world=None if scene is None else scene.fixed_world(),
            scene="" if scene is None else scene.name,
            workers=options.workers,
            watch=watch,
            engine=engine,
        )
    finally:
        if engine is not None:
            engine.close()


def _gpu_engine(robot: Robot, scene: Scene | None) -> Engine:
    from planner_node.engines import CuroboEngine

    why_not = CuroboEngine.why_not()
    if why_not:
        raise ConfigError("--engine", [f"'curobo' cannot run here: {why_not}; give --engine cpu"])
    base = Pose.identity() if scene is None else scene.world_T_base
    return CuroboEngine(robot, base, lambda _share, _text: None, builds_planners=False)


def _draw(found: ReachMap, path: Path) -> int:
    from handiwork_viz.plots.picture import NoPlotterError
    from handiwork_viz.plots.reach_picture import draw_reach

    try:
        draw_reach(found, path)
    except NoPlotterError as error:
        print(f"no picture: {error}", file=sys.stderr)
        return 0
    except (OSError, ValueError) as error:
        print(f"handiwork reach: {path} cannot be written: {error}", file=sys.stderr)
        return 2
    print(f"picture: {path}")
    return 0
