"""Starts the controllers of a robot's ``ros2_control.yaml``: the process becomes ros2_control's own spawner.

``spawn_controllers robots/fr3``; further words are passed to the spawner.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError, read_yaml

from .formats.ros2_control import FILE


def command(robot_dir: Path, more: Sequence[str] = ()) -> list[str]:
    """Return the spawner's command line for every controller that has a type in the manager's entry.

    Args:
        robot_dir: Folder of the robot.
        more: Further arguments of the spawner.

    Raises:
        ConfigError: The file cannot be read.
    """
    path = robot_dir / FILE
    manager = read_yaml(path)["controller_manager"]["ros__parameters"]
    names = [name for name, item in manager.items() if isinstance(item, dict) and "type" in item]
    return ["ros2", "run", "controller_manager", "spawner", *names, "--param-file", str(path), *more]


def main() -> None:
    """Run the executable."""
    if len(sys.argv) < 2:
        sys.exit("spawn_controllers: name the folder of a robot, such as robots/fr3")
    # Launch adds arguments for a node, which the spawner must not receive.
    given = sys.argv[2 : sys.argv.index("--ros-args")] if "--ros-args" in sys.argv else sys.argv[2:]
    try:
        words = command(Path(sys.argv[1]), given)
    except ConfigError as error:
        sys.exit(f"spawn_controllers: {error}; `python -m robot_description.formats.ros2_control` writes it")
    try:
        os.execvp(words[0], words)
    except FileNotFoundError:
        sys.exit("spawn_controllers: ros2 is not there; source a ROS 2 with ros2_control")
