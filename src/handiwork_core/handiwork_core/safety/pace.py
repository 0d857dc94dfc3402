"""How much slower a path must be followed in the reduced mode."""

from __future__ import annotations

import numpy as np

from handiwork_core.control.joint_groups import ArmAxis
from handiwork_core.model.geometry import Array

from .monitor import SafetyMonitor

PERIOD_S = 0.02
"""A path's tool speed is looked at so often."""
MOST = 300
"""Places of a path that are looked at, at most."""
BELOW = 0.95
"""Of the limit, for what lies between two places."""


def reduced_scale(
    monitor: SafetyMonitor, arm: ArmAxis, position: Array, scale: float, tool_limit: float
) -> float:
    """The share of its speed at which an arm may follow its path.

    Args:
        monitor: of the robot.
        arm: whose controller follows a path.
        position: of all joints (n,) now [rad, m].
        scale: that was asked for.
        tool_limit: greatest speed of a tool centre point [m/s]; inf for none.

    Returns:
        ``scale``, or less where the tool would be faster than the limit.
    """
    path = arm.controller.path
    if path is None or not np.isfinite(tool_limit):
        return scale
    left_s = max(path.duration_s - arm.controller.path_s, 0.0)
    times = np.linspace(path.duration_s - left_s, path.duration_s, int(np.clip(left_s / PERIOD_S, 2, MOST)))
    q, qd = np.tile(position, (len(times), 1)), np.zeros((len(times), len(position)))
    q[:, arm.indices], qd[:, arm.indices] = path.position(times), path.velocity(times)
    fastest = monitor.fastest_tool(q, qd)
    return min(scale, BELOW * tool_limit / fastest) if fastest > 0.0 else scale
