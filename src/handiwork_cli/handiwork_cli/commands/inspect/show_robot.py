"""``handiwork show-robot NAME`` serves a page with a robot; ``handiwork draw-robots`` draws pictures of all."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.robot.reach_map import load_reach_map
from handiwork_core.robot_files.loader import load_robot

MISSING = "needs viser; pip install -r requirements/show.txt"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare both commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    show = commands.add_parser(
        "show-robot", help="show a robot in the browser: shapes, spheres, frames, joints"
    )
    show.add_argument(
        "robot", help="name of a folder in robot_description/robots, or a path of such a folder"
    )
    show.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to serve at; 0.0.0.0 opens the page to others",
    )
    show.add_argument(
        "--port", type=int, default=8080, help="to serve at; the next free one where it is taken"
    )
    show.add_argument(
        "--reach", type=Path, help="file of `handiwork reach`, whose places are shown as points"
    )
    show.set_defaults(run=run_show)
    draw = commands.add_parser("draw-robots", help="draw each robot with its EE and TCP frames")
    draw.add_argument("robots", nargs="*", help="names or paths of folders; none: all")
    draw.add_argument("--out", type=Path, default=Path("docs/images/robots"), help="folder of the pictures")
    draw.set_defaults(run=run_draw)


def run_show(options: argparse.Namespace) -> int:
    """Serve the page until it is interrupted.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0 after the interrupt, 1 when the page cannot be served.

    Raises:
        ConfigError: There is no such robot, its file is faulty, or the map is of another robot.
    """
    from handiwork_viz.show.page_guard import PageNotGuarded
    from handiwork_viz.show.robot_page import RobotPage

    folder = robot_folder(options.robot)
    robot = load_robot(folder)
    reach = None if options.reach is None else load_reach_map(options.reach)
    if reach is not None and reach.source.robot != robot.name:
        raise ConfigError(str(options.reach), [f"is a map of {reach.source.robot}; give one of {robot.name}"])
    try:
        page = RobotPage(robot, folder, options.host, options.port)
    except ImportError as error:
        print(f"handiwork show-robot: {MISSING} ({error})", file=sys.stderr)
        return 1
    except PageNotGuarded as error:
        print(f"handiwork show-robot: {error}", file=sys.stderr)
        return 1
    if reach is not None:
        page.add_reach(reach)
    print(f"{robot.name}: http://{options.host}:{page.port}   end it with Ctrl-C", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        page.close()
    return 0


def run_draw(options: argparse.Namespace) -> int:
    """Draw the pictures.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 when every picture was written.

    Raises:
        ConfigError: There is no such robot, or its file is faulty.
    """
    from handiwork_viz.show.robot_picture import draw_robot, write_picture

    for name in options.robots or shipped_robots():
        folder = robot_folder(name)
        robot = load_robot(folder)
        arm = next(iter(robot.arms.values()))
        path = options.out / f"{robot.name}.png"
        write_picture(draw_robot(robot, folder, arm), path)
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
    return 0


def robot_folder(name: str) -> Path:
    """Return the folder of a robot.

    Args:
        name: Name in ``robot_description/robots``, or a path.

    Raises:
        ConfigError: There is none.
    """
    for folder in (_robots() / name, Path(name)):
        if (folder / "robot.yaml").is_file():
            return folder
    raise ConfigError("robot", [f"{name!r} has no robot.yaml; {nearest(name, shipped_robots())}"])


def shipped_robots() -> list[str]:
    """Return the names of the folders in ``robot_description/robots``."""
    return sorted(path.parent.name for path in _robots().glob("*/robot.yaml"))


def _robots() -> Path:
    return share_of("robot_description") / "robots"
