"""Motions of the joint of a gripper, which needs no planner: its fingers move on a line."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import Joint

SAMPLES = 20


def gripper_rows(
    joint: Joint, start: float, goal: float, velocity_scaling: float
) -> tuple[Array, Array, Array, Array]:
    """Return a motion from rest to rest with a quintic profile within the joint's limits.

    The profile ``10 s^3 - 15 s^4 + 6 s^5`` has a peak speed of 1.875 and a peak acceleration of 5.774 times the mean
    (Craig, Introduction to Robotics, section 7.3).

    Args:
        joint: The joint with its limits.
        start: Position at the start, rad or m.
        goal: Position at the end, rad or m.
        velocity_scaling: Share of the limits, above 0 and at most 1.

    Returns:
        Times, (n,), s; positions, velocities and accelerations, each (n, 1).
    """
    way = goal - start
    by_speed = 1.875 * abs(way) / max(joint.velocity * velocity_scaling, 1e-6)
    by_acceleration = np.sqrt(5.774 * abs(way) / max(joint.acceleration * velocity_scaling, 1e-6))
    duration = max(by_speed, float(by_acceleration), 0.1)
    s: Array = np.arange(SAMPLES, dtype=np.float64) / (SAMPLES - 1)
    q = start + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = way / duration * (30 * s**2 - 60 * s**3 + 30 * s**4)
    qdd = way / duration**2 * (60 * s - 180 * s**2 + 120 * s**3)
    return s * duration, q[:, None], qd[:, None], qdd[:, None]
