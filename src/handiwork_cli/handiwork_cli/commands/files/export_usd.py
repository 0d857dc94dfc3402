"""``handiwork export-usd SCENE --robot NAME -o stage.usda`` writes a scene and a robot for Isaac Sim."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from isaac_bridge.usd.export import export_scene


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("export-usd", help="write a scene and a robot as an OpenUSD stage")
    parser.add_argument("scene", help="file in config/scenes, without .yaml, or a path of a scene file")
    parser.add_argument("--robot", default="fr3", help="name or folder of a robot")
    parser.add_argument("-o", "--out", type=Path, required=True, help="stage to write: .usda, .usdc or .usd")
    parser.add_argument("--seed", type=int, help="scatter the objects by this seed; none: as declared")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the stage, and print the differences to the scene.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the stage was written.

    Raises:
        ConfigError: There is no such scene or robot, or a file is faulty.
    """
    folder = robot_folder(options.robot)
    scene, robot = load_scene(scene_file(options.scene)), load_robot(folder)
    try:
        if options.seed is not None:
            scene = scene.randomized(options.seed)
        found = export_scene(scene, robot, folder, options.out)
    except ValueError as error:
        print(f"handiwork export-usd: {error}", file=sys.stderr)
        return 1
    for note in found.notes:
        print(f"note: {note}")
    print(f"{options.out}: {robot.name} at {found.robot_path}, {len(found.object_paths)} objects")
    return 0


def scene_file(name: str) -> Path:
    """Return a scene's file.

    Args:
        name: Name in ``config/scenes``, or a path.

    Raises:
        ConfigError: There is none.
    """
    folder = share_of("handiwork_bringup") / "config/scenes"
    for path in (folder / f"{name}.yaml", Path(name)):
        if path.is_file():
            return path
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    raise ConfigError("scene", [f"{name!r} is no scene; {nearest(name, known)}"])
