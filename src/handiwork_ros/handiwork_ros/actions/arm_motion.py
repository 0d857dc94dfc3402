"""Describes the current motion of the robot, for the message of a goal that was given up."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState

from handiwork_core.model.thresholds import JOINT_REST
from handiwork_ros.rclpy_support.qos import STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.service_call import on_executor

OBSERVATION_S = 0.8
"""The longest time to wait for a robot at rest, s."""

UNKNOWN = "whether the arm moves is not known"


def fastest_joint(names: Sequence[str], velocities: Sequence[float]) -> tuple[str, float] | None:
    """Return the name and speed of the fastest joint.

    Args:
        names: Joint names.
        velocities: Their velocities in the same order, rad/s or m/s.

    Returns:
        Name and absolute speed, rad/s or m/s; None if the speeds are not known.
    """
    if not names or len(names) != len(velocities) or not all(math.isfinite(v) for v in velocities):
        return None
    index = max(range(len(names)), key=lambda i: abs(velocities[i]))
    return names[index], abs(velocities[index])


def motion_sentence(fastest: tuple[str, float] | None) -> str:
    """Return a sentence on the robot's motion for a person.

    Args:
        fastest: Name and speed (rad/s or m/s) of the fastest joint in the newest ``joint_states``; None for none.
    """
    if fastest is None:
        return f"{UNKNOWN}, as no joint_states came"
    name, speed = fastest
    return "the arm is at rest" if speed <= JOINT_REST else f"the arm moves, joint {name} at {speed:.2f}/s"


def observe_motion(node: Node, timeout_s: float = OBSERVATION_S) -> str:
    """Watch ``joint_states`` until the robot is at rest or time is up, and describe its motion.

    The subscription exists only meanwhile: the stream costs more than everything else that a client does. Call this
    from a thread that does not spin ``node``.

    Args:
        node: Another thread spins it.
        timeout_s: Longest time to watch, s.

    Returns:
        One sentence; it says so if the motion is not known.
    """
    newest: list[tuple[str, float] | None] = [None]
    at_rest = threading.Event()
    subscriptions: list[Any] = []

    def on_joints(message: JointState) -> None:
        newest[0] = fastest_joint(list(message.name), list(message.velocity))
        if newest[0] is not None and newest[0][1] <= JOINT_REST:
            at_rest.set()

    def begin() -> None:
        subscriptions.append(
            node.create_subscription(JointState, "joint_states", guard(node, on_joints), STREAM)
        )

    def end() -> None:
        for subscription in subscriptions:
            node.destroy_subscription(subscription)

    try:
        on_executor(node, guard(node, begin))
    except RuntimeError:
        return f"{UNKNOWN}, as the client is closed"
    at_rest.wait(timeout_s)
    sentence = motion_sentence(newest[0])
    on_executor(node, guard(node, end))
    return sentence
