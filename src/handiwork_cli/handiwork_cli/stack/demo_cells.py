"""Where each arm of each robot is shown: a scene, and the object and the container that the arm reaches in it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot

DEFAULT_SCENE = "tabletop"
RETREAT_M = 0.1


SIMULATED = ("mujoco", "isaac_stand_in", "isaac")
"""Backends that simulate; Isaac Sim itself must run already."""


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Let a command choose where it runs."""
    text = "what simulates; isaac needs a running Isaac Sim, isaac_stand_in is MuJoCo behind Isaac Sim's wire"
    parser.add_argument("--backend", choices=SIMULATED, default="mujoco", help=text)


@dataclass(frozen=True, slots=True)
class Target:
    """What one arm picks, and where it places that."""

    arm: str
    object: str
    container: str
    retreat: tuple[float, float, float] = (0.0, 0.0, -0.1)
    """Of the EE after the release, in its frame [m]."""


def described_robots() -> tuple[str, ...]:
    """Names of all robots that are described."""
    folder = share_of("robot_description") / "robots"
    return tuple(sorted(path.parent.name for path in folder.glob("*/robot.yaml")))


def standing_robots() -> tuple[str, ...]:
    """Those that work at a table before them; one that drives fetches by a task, ``config/tasks/fetch.yaml``."""
    return tuple(name for name in described_robots() if robot_of(name).base is None)


@cache
def robot_of(name: str) -> Robot:
    """The robot of a folder in ``robot_description/robots``."""
    return load_robot(share_of("robot_description") / "robots" / name)


def scene_of(robot: str) -> str:
    """The robot's own table, ``<robot>_table``, or the common one."""
    own = share_of("handiwork_bringup") / f"config/scenes/{robot}_table.yaml"
    return own.stem if own.is_file() else DEFAULT_SCENE


def stack_arguments(name: str, robot: Robot, scene: str) -> dict[str, str]:
    """Launch arguments of a robot in a scene (none: its own), with conditions that fit its number of arms."""
    conditions = "conditions" if len(robot.arms) == 1 else "conditions_two_arms"
    return {"robot": name, "scene": scene or scene_of(name), "conditions": conditions}


def target_of(robot: Robot, arm: str) -> Target:
    """In a scene for several arms each has its own: ``left_cube`` and ``left_bin`` for ``left_arm``.

    The hand retreats against the axis that points to its TCP, so it leaves what it let go.

    Raises:
        KeyError: no such arm, or none is named and there are several.
    """
    found = robot.arm(arm)
    prefix = "" if len(robot.arms) == 1 else found.name.removesuffix("arm")
    ahead = 2 if found.gripper is None else found.gripper.ee_axis
    x, y, z = (-RETREAT_M if axis == ahead else 0.0 for axis in range(3))
    return Target(found.name, f"{prefix}cube", f"{prefix}bin", (x, y, z))
