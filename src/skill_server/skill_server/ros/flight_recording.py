"""The flight recorder of the node: its parameters, the log of all nodes, and a minute of the world."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rcl_interfaces.msg import Log
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, ReliabilityPolicy

from handiwork_core.bundles.bundle import LogLine
from handiwork_core.bundles.folder import KEPT, KEPT_MB, BundleFolder, bundle_folder
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.safe_callbacks import guard
from skill_server.flight.recorder import HISTORY_STEP_S, FlightRecorder

LEVELS = {10: "DEBUG", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "FATAL"}
TEXT = 2000
"""The greatest length of a line of the log that is kept, characters."""
LIST = 1000
"""The greatest length of a list of a goal message that is kept."""
GOAL_TEXT = 100_000
"""The greatest length of a text of a goal message that is kept, characters."""


def open_recorder(
    node: ManagedNode, robot: Robot, robot_dir: Path, snapshot: Callable[[], World]
) -> FlightRecorder | None:
    """Make the flight recorder that the parameters ask for.

    Args:
        node: Node of the skill server.
        robot: Its robot.
        robot_dir: Folder of the robot's files.
        snapshot: Returns the newest world.

    Returns:
        The recorder; None if it is turned off, or no folder is writable.

    Raises:
        ConfigError: A parameter is out of its range.
    """
    key = "flight_recorder."
    is_on = node.parameter(key + "on", True, "whether goals that do not succeed leave a bundle")
    folder = node.parameter(key + "folder", "", "folder of the bundles; empty: that of the user's state")
    kept = node.parameter(key + "kept", KEPT, "greatest number of bundles that are kept")
    kept_mb = node.parameter(key + "kept_mb", KEPT_MB, "greatest size of all bundles together [MB]")
    for name, value in (("kept", kept), ("kept_mb", kept_mb)):
        if not 1 <= value < 1e9:
            raise ConfigError(
                f"node {node.get_name()}", [f"parameter {key}{name}: is {value}; give 1 or more"]
            )
    place = Path(folder).expanduser() if folder else bundle_folder(os.environ)
    if not is_on or place is None:
        why = "the parameter is false" if not is_on else "no folder is writable; name one"
        node.get_logger().info(f"flight_recorder.on: no goal leaves a bundle: {why}")
        return None
    recorder = FlightRecorder(robot, str(robot_dir), BundleFolder(place, kept, kept_mb))
    best_effort = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(
        Log, "/rosout", guard(node, lambda line: recorder.note_log(_line(line))), best_effort
    )
    clock = node.get_clock()
    node.create_timer(
        HISTORY_STEP_S,
        guard(node, lambda: recorder.note_world(clock.now().nanoseconds * 1e-9, snapshot())),
        clock=Clock(clock_type=ClockType.STEADY_TIME),
    )
    return recorder


def _line(message: Log) -> LogLine:
    level = LEVELS.get(message.level, str(message.level))
    return LogLine(time_from_msg(message.stamp), level, message.name, message.msg[:TEXT])


def goal_mapping(message: Any) -> dict[str, Any]:
    """Return a message as nested mappings of plain values.

    Args:
        message: The message.
    """
    return {name: _plain(getattr(message, name)) for name in message.get_fields_and_field_types()}


def _plain(value: Any) -> Any:
    if hasattr(value, "get_fields_and_field_types"):
        return goal_mapping(value)
    if isinstance(value, (list, tuple, array, np.ndarray)):
        return [_plain(one) for one in value[:LIST]]
    if isinstance(value, str):
        return value[:GOAL_TEXT]
    return value.item() if isinstance(value, np.generic) else value


def plain_goal(message: Any) -> Mapping[str, Any]:
    """Return a goal message as nested mappings; empty for one that cannot be read.

    Args:
        message: The goal message.
    """
    try:
        return goal_mapping(message)
    except (AttributeError, TypeError, ValueError):
        return {}
