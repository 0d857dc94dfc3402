"""``handiwork document-robot``: a page in Markdown about each robot, with its picture and its reach."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot

from .show_robot import robot_folder, shipped_robots

PAGES, PICTURES = Path("docs/reference/robots"), Path("docs/images/robots")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "document-robot", help="write a page about a robot: arms, grippers, limits, sources of its numbers"
    )
    parser.add_argument("robots", nargs="*", help="names or paths of folders; none: all that ship")
    parser.add_argument("--out", type=Path, default=PAGES, help="folder of the pages")
    parser.add_argument(
        "--pictures",
        type=Path,
        default=PICTURES,
        help="folder with ROBOT.png of `draw-robots` and ROBOT_ARM_reach.png of `reach`; those it has are shown",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the pages.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 when every page was written.

    Raises:
        ConfigError: There is no such robot, its file is faulty, or a page cannot be written.
    """
    for name in options.robots or shipped_robots():
        folder = robot_folder(name)
        robot = load_robot(folder)
        path = options.out / f"{robot.name}.md"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page_of(robot, folder, options.pictures, path.parent), encoding="utf-8")
        except OSError as error:
            raise ConfigError(str(path), [f"cannot be written: {error}; give another --out"]) from error
        print(path)
    return 0


def page_of(robot: Robot, folder: Path, pictures: Path, page_folder: Path) -> str:
    """Return the page of a robot, with the pictures that are there.

    Args:
        robot: The robot.
        folder: Its folder, whose README.md names the sources of the numbers; without one the page has none.
        pictures: Folder of the pictures.
        page_folder: Folder of the page, to which addresses are relative.

    Returns:
        The page, in Markdown.
    """
    from handiwork_viz.show.robot_document import read_readme, robot_document

    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8", errors="replace") if readme.is_file() else ""
    relative = Path(os.path.relpath(pictures, page_folder))
    shown = f"{robot.name}.png"
    reaches = [(arm, f"{robot.name}_{arm}_reach.png") for arm in robot.arms]
    return robot_document(
        robot,
        read_readme(text, robot.name),
        (relative / shown).as_posix() if (pictures / shown).is_file() else "",
        [(arm, (relative / file).as_posix()) for arm, file in reaches if (pictures / file).is_file()],
    )
