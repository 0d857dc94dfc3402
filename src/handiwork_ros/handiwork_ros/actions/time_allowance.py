"""The time that a client allows for a goal, measured by the server in the time of the robot's world."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.rclpy_support.safe_callbacks import guard

FIELD = "time_allowance"
LONGEST_S = 1e6
"""The longest allowance, s; a timer of ROS counts nanoseconds in 64 bits."""


def allowance_s(goal: Any) -> float:
    """Return the time that a goal message allows.

    Args:
        goal: Goal of an action, with or without the field ``time_allowance``.

    Returns:
        The time, s; 0 where the goal sets no limit.
    """
    return float(getattr(goal, FIELD, 0.0))


def allowance_fault(goal: Any) -> Outcome | None:
    """Check the time that a goal message allows.

    Args:
        goal: See ``allowance_s``.

    Returns:
        The fault; None if there is none.
    """
    given_s = allowance_s(goal)
    if math.isfinite(given_s) and 0.0 <= given_s <= LONGEST_S:
        return None
    text = f"{FIELD} is {given_s} s; send 0 for no limit, or at most {LONGEST_S:g} s"
    return Outcome(Code.BAD_NUMBER, text, "check", FIELD)


class TimeAllowance:
    """Calls a function once when the time of a goal is over. Use it on the executor's thread only.

    Args:
        node: Hosts the timer; its clock is the clock of the robot's world.
        given_s: The time from now, s; 0: never.
        on_over: Called with the reason in words.
    """

    def __init__(self, node: Node, given_s: float, on_over: Callable[[str], None]) -> None:
        self._node, self._timer = node, None
        if given_s <= 0.0:
            return

        def over() -> None:
            self.close()
            on_over(f"the {FIELD} of {given_s:g} s is over")

        self._timer = node.create_timer(given_s, guard(node, over))

    def close(self) -> None:
        """Stop counting."""
        timer, self._timer = self._timer, None
        if timer is not None:
            self._node.destroy_timer(timer)
