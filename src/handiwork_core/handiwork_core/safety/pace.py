"""The reduction of a path's speed in the reduced mode."""

from __future__ import annotations

import numpy as np

from handiwork_core.control.joint_groups import ArmAxis
from handiwork_core.model.geometry import Array

from .monitor import SafetyMonitor

PERIOD_S = 0.02
"""Time between two places of a path at which its tool speed is computed, s."""
MOST = 300
"""Greatest number of these places."""
BELOW = 0.95
"""Share of the limit that is used, because the tool may be faster between two places."""


def reduced_scale(
    monitor: SafetyMonitor, arm: ArmAxis, position: Array, scale: float, tool_limit: float
) -> float:
    """Return the share of its speed at which an arm may follow its path.

    Args:
        monitor: Monitor of the robot.
        arm: The arm; its controller follows a path.
        position: Present positions of all joints, (n,), rad or m.
        scale: The requested share.
        tool_limit: Greatest speed of a tool centre point, m/s; inf for none.

    Returns:
        ``scale``, or less if the tool would be faster than the limit.
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
