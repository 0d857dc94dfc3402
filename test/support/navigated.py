"""The mobile FR3 with a base that a navigation server drives, or a differential one, as no robot of the project has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from handiwork_core.robot.robot import NavigationSpec, Robot
from handiwork_core.robot_files.loader import load_robot

from .paths import ROBOTS

NAVIGATION = NavigationSpec("navigate_to_pose", "map", "base_link")


def navigated_robot() -> Robot:
    """Return the robot."""
    robot = load_robot(ROBOTS / "fr3_mobile")
    assert robot.base is not None
    return replace(robot, base=replace(robot.base, navigation=NAVIGATION))


def navigated_folder(folder: Path, kind: str = "holonomic") -> Path:
    """Write the robot's folder, beside links to the others.

    Args:
        folder: An empty folder.
        kind: Kind of the base.

    Returns:
        The robot's folder.
    """
    return folder_with_base(folder, f"kind: {kind}, navigate_action: navigate_to_pose")


def folder_with_base(folder: Path, words: str) -> Path:
    """Write a folder of the robot with another base, beside links to the others.

    Args:
        folder: An empty folder.
        words: Words in place of ``kind: holonomic``.

    Returns:
        The robot's folder.
    """
    made = folder / "robots"
    made.mkdir()
    for robot in ROBOTS.iterdir():
        (made / robot.name).symlink_to(robot)
    own = made / "fr3_mobile"
    own.unlink()
    own.mkdir()
    for file in (ROBOTS / "fr3_mobile").iterdir():
        (own / file.name).symlink_to(file)
    text = (own / "robot.yaml").read_text(encoding="utf-8")
    (own / "robot.yaml").unlink()
    changed = text.replace("base: {kind: holonomic,", f"base: {{{words},")
    assert changed != text
    (own / "robot.yaml").write_text(changed, encoding="utf-8")
    return own
