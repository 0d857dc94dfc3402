"""Lets a node in a namespace take its simulated time from the clock of that namespace."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

CLOCK_RULE = re.compile(r"(rostopic://)?/?clock:=")


def clock_arguments(argv: Sequence[str] | None = None) -> list[str]:
    """Return the arguments of a node that make the clock of rclpy's time source relative to its namespace.

    rclpy subscribes to the absolute ``/clock``, and two simulations in one domain would share it. A rule of the process
    for ``/clock`` counts more: a node's own rules would hide it.

    Args:
        argv: Arguments of the process; None: those of ``sys.argv``.

    Returns:
        Words for ``cli_args`` of ``rclpy.node.Node``.
    """
    words = sys.argv if argv is None else argv
    return [] if any(CLOCK_RULE.match(word) for word in words) else ["--ros-args", "-r", "/clock:=clock"]
