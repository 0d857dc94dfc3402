"""The demo of each arm of each robot: a scene, and the object and the container within the arm's reach."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot

DEFAULT_SCENE = "tabletop"

SIMULATED = ("mujoco", "isaac_stand_in", "isaac")
"""The backends that simulate; Isaac Sim itself must run already."""


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Add the option for the backend.

    Args:
        parser: Parser of the command.
    """
    text = "what simulates; isaac needs a running Isaac Sim, isaac_stand_in is MuJoCo with the interface of Isaac Sim"
    parser.add_argument("--backend", choices=SIMULATED, default="mujoco", help=text)


FLAT_TRAY_M = 0.05
"""Height over a flat tray up to which an object is on it, m, as in ``pick_and_place``."""


@dataclass(frozen=True, slots=True)
class Target:
    """The object that an arm picks, and the container where it places it.

    Attributes:
        arm: Name of the arm.
        object: Name of the object.
        container: Name of the container.
        above_rim_m: Height over the rim up to which the object is in the container, m; a flat tray has no rim.
    """

    arm: str
    object: str
    container: str
    above_rim_m: float = 0.0

    def chosen(self, object: str, container: str) -> Target:
        """Return the target with the object and the container that a user names.

        Args:
            object: Name of the object; empty for the target's own.
            container: Name of the container, which may be flat; empty for the target's own.
        """
        above_rim_m = FLAT_TRAY_M if container else self.above_rim_m
        return Target(self.arm, object or self.object, container or self.container, above_rim_m)

    @property
    def placed(self) -> str:
        """The arguments of the condition ``object_in_container`` that holds after the demo."""
        return f"{{object: {self.object}, container: {self.container}, above_rim: {self.above_rim_m}}}"


def described_robots() -> tuple[str, ...]:
    """Return the names of all robots in ``robot_description``."""
    folder = share_of("robot_description") / "robots"
    return tuple(sorted(path.parent.name for path in folder.glob("*/robot.yaml")))


def standing_robots() -> tuple[str, ...]:
    """Return the robots that work at a table; one that drives fetches by a task, ``config/tasks/fetch.yaml``."""
    return tuple(name for name in described_robots() if robot_of(name).base is None)


@cache
def robot_of(name: str) -> Robot:
    """Return a robot.

    Args:
        name: Folder in ``robot_description/robots``.
    """
    return load_robot(share_of("robot_description") / "robots" / name)


def scene_of(robot: str) -> str:
    """Return the scene of a robot: its own table, ``<robot>_table``, or the common one.

    Args:
        robot: Name of the robot.
    """
    own = share_of("handiwork_bringup") / f"config/scenes/{robot}_table.yaml"
    return own.stem if own.is_file() else DEFAULT_SCENE


def stack_arguments(name: str, robot: Robot, scene: str) -> dict[str, str]:
    """Return the launch arguments of a robot in a scene, with conditions that fit its number of arms.

    Args:
        name: Folder of the robot.
        robot: The robot.
        scene: Name of the scene; empty for the robot's own.
    """
    conditions = "conditions" if len(robot.arms) == 1 else "conditions_two_arms"
    return {"robot": name, "scene": scene or scene_of(name), "conditions": conditions}


def target_of(robot: Robot, arm: str) -> Target:
    """Return the object and the container of an arm.

    In a scene for several arms each has its own: ``left_cube`` and ``left_bin`` for ``left_arm``.

    Args:
        robot: The robot.
        arm: Name of the arm; empty for the only one.

    Raises:
        KeyError: There is no such arm, or none is named and there are several.
    """
    found = robot.arm(arm)
    prefix = "" if len(robot.arms) == 1 else found.name.removesuffix("arm")
    return Target(found.name, f"{prefix}cube", f"{prefix}bin")
