"""A straight joint motion from rest to rest, for commands that name joints and need no planner."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, BaseSpec, Robot

PERIOD_S = 0.02
PEAK_VELOCITY, PEAK_ACCELERATION, PEAK_JERK = 1.875, 5.7736, 60.0
"""The peaks of a quintic from 0 to 1 in unit time."""


def quintic(
    robot: Robot, arm: ArmSpec | BaseSpec, start: Array, goal: Array, velocity: float, acceleration: float
) -> Trajectory:
    """Make a fifth-order polynomial between two configurations, as fast as the limits allow.

    The limits of velocity and acceleration are scaled by the two factors, that of jerk is not.

    Args:
        robot: Robot with the joint limits.
        arm: Arm or base whose joints move.
        start: Start configuration, (dof,), rad or m.
        goal: Goal configuration, (dof,), rad or m.
        velocity: Scaling of the velocity limits, 0 to 1.
        acceleration: Scaling of the acceleration limits, 0 to 1.

    Returns:
        The trajectory, from rest to rest.
    """
    move = np.abs(goal - start)
    joints = [robot.joints[name] for name in arm.joint_names]
    duration = 2.0 * PERIOD_S
    for distance, joint in zip(move, joints, strict=True):
        duration = max(
            duration,
            PEAK_VELOCITY * distance / (joint.velocity * velocity),
            float(np.sqrt(PEAK_ACCELERATION * distance / (joint.acceleration * acceleration))),
            float(np.cbrt(PEAK_JERK * distance / joint.jerk)),
        )
    n = int(np.ceil(duration / PERIOD_S)) + 1
    u = np.linspace(0.0, 1.0, n)[:, None]
    delta = (goal - start)[None, :]
    return Trajectory(
        arm.joint_names,
        np.linspace(0.0, duration, n).astype(np.float64),
        start + (10 * u**3 - 15 * u**4 + 6 * u**5) * delta,
        (30 * u**2 - 60 * u**3 + 30 * u**4) * delta / duration,
        (60 * u - 180 * u**2 + 120 * u**3) * delta / duration**2,
    )
