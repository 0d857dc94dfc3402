"""Checks that an arm reaches all poses of a cell, before anything moves, and says in words which it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from decider_node.motion.controller import ReactiveController
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot.robot import ArmSpec, Robot

from .bin import HEIGHT_M, INSIDE, OUTSIDE, WALL_M, turned
from .cell import StackingCell, above_shelf, place_on_shelf, shelf_axis
from .seeds import JOINTS, CupSolver

Solver = Callable[[Pose, Array | None], Array | None]
"""Returns a configuration for a pose of the tip, or None: ``CellPort.configuration``."""
BISECTIONS = 7
HEADINGS_RAD = (0.0, 0.5 * np.pi)
DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)


def unreachable(site: StackingCell, robot: str, solve: Solver) -> list[str]:
    """Return a sentence for each part of a cell that an arm does not reach.

    Every pose is asked for by itself; whether the way there is free of collisions shows in the simulation only.

    Args:
        site: The cell.
        robot: Name of the robot, for the sentences.
        solve: Finds configurations.
    """
    faults = []
    for what, options, remedy in poses(site):
        if not any(solve(pose, None) is not None for pose in options):
            faults.append(f"{what}: {_words(options[0], robot, solve)}; {remedy}")
    return faults


def poses(site: StackingCell) -> Iterator[tuple[str, tuple[Pose, ...], str]]:
    """Yield the parts of a cell.

    Args:
        site: The cell.

    Yields:
        Key and position in words, poses of the tip in world of which one is enough, and the remedy.
    """
    yield _text("home", site.world_T_home), (site.world_T_home,), "move home"
    for index in range(len(site.layout)):
        place = site.layout.place(index)
        tips = tuple(pose @ OUTSIDE for pose in (place, turned(place)))
        yield (
            _text(f"layout: place {index}", tips[0]),
            tips,
            "move its column, or take an arm with more reach",
        )
        height = max(site.carry_z, float(tips[0].translation_m[2]) + site.actions.place.length)
        over = tuple(Pose.of((*tip.translation_m[:2], height), tip.rotation) for tip in tips)
        text = _text(f"layout: above place {index}", over[0])
        yield text, over, "write a smaller carry_z, fewer layers, or move its column"
    shelf = place_on_shelf(site.shelf)
    for what, held in (("put down", INSIDE), ("picked again", OUTSIDE)):
        options = tuple(pose @ held for pose in (shelf, turned(shelf)))
        yield _text(f"shelf: where a bin is {what}", options[0]), options, "move the shelf"
    yield from _around_shelf(site)
    belt = site.belt
    for z, what in ((belt.top_z + WALL_M, "bottom inside a bin"), (belt.top_z + HEIGHT_M, "bottom of a bin")):
        for x in (belt.x - site.feeder.aside, belt.x + site.feeder.aside):
            for y in (belt.end_y + 0.1, belt.barrier_y):
                options = tuple(
                    Pose.of((x, y, z), Rotation.from_axis_angle((0.0, 0.0, 1.0), turn) @ DOWN)
                    for turn in HEADINGS_RAD
                )
                yield _text(f"belt: the {what} at its end", options[0]), options, "move the belt, or its end"


def _around_shelf(site: StackingCell) -> Iterator[tuple[str, tuple[Pose, ...], str]]:
    """Yield the poses out of a bin that was put down, up from there, and over it."""
    shelf, bin_at = site.shelf, place_on_shelf(site.shelf)
    inside = tuple(pose @ INSIDE for pose in (bin_at, turned(bin_at)))
    back = tuple(Pose.of(tip.translation_m - shelf.out * shelf_axis(shelf), tip.rotation) for tip in inside)
    up = tuple(Pose.of(tip.translation_m + (0.0, 0.0, shelf.over - 0.03), tip.rotation) for tip in back)
    yield _text("shelf: out of a bin on it", back[0]), back, "move the shelf away from the base"
    yield _text("shelf: up beside a bin on it", up[0]), up, "move the shelf, or write a smaller shelf.over"
    over = tuple(
        Pose.of(above_shelf(shelf), Rotation.from_axis_angle((0.0, 0.0, 1.0), turn) @ DOWN)
        for turn in HEADINGS_RAD
    )
    yield _text("shelf: over a bin on it", over[0]), over, "write a smaller shelf.over or shelf.beyond"


def _text(what: str, pose: Pose) -> str:
    x, y, z = pose.translation_m
    return f"{what} (x {x:.2f}, y {y:.2f}, z {z:.2f})"


def _words(pose: Pose, robot: str, solve: Solver) -> str:
    """Return how far away the pose is, and how far the arm reaches in this direction at this height."""
    away = float(np.hypot(*pose.translation_m[:2]))
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        share = 0.5 * (low + high)
        x, y = share * pose.translation_m[:2]
        near = Pose.of((x, y, pose.translation_m[2]), pose.rotation)
        low, high = (share, high) if solve(near, None) is not None else (low, share)
    text = f"{robot} has no configuration for the cup there, {away:.2f} m from its axis"
    return f"{text}; at this height it reaches {low * away:.2f} m" if low > 0.0 else text


def check_reach(site: StackingCell, robot: Robot, arm: ArmSpec, source: str) -> None:
    """Refuse a cell that an arm does not reach.

    Args:
        site: The cell.
        robot: The robot.
        arm: Its arm with a suction cup.
        source: Name of the cell's file, for the error text.

    Raises:
        ConfigError: The arm has no cup or not six joints, or does not reach a part of the cell; all faults are listed.
    """
    if arm.gripper is None or arm.gripper.suction is None:
        text = f"arm {arm.name!r} of {robot.name} has no suction cup, which the bins need; choose an arm with one"
        raise ConfigError(source, [f"robot: {text}"])
    if len(arm.joint_names) != JOINTS:
        text = f"arm {arm.name!r} of {robot.name} has {len(arm.joint_names)} joints; take a UR, which has {JOINTS}"
        raise ConfigError(source, [f"robot: {text}"])
    controller = ReactiveController(robot, arm, Pose.identity())
    if faults := unreachable(site, robot.name, CupSolver(controller, arm.gripper.tcp_offset_m).configuration):
        raise ConfigError(source, faults)
