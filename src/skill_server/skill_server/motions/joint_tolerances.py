"""Tolerances of the joints that follow from those of a waypoint."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import ArmSpec, Robot

STEP = 0.01
"""Motion of a joint by which its effect on the hand is measured, rad or m."""


def joint_tolerances(robot: Robot, arm: ArmSpec, q: Array, t_eps: float, o_eps: float) -> Array:
    """Return how far each joint alone may be off at the end of a motion, so that the hand stays at its waypoint.

    Each tolerance is that of one joint while the others are exact: errors of several may add up or cancel, and the
    executor measures the hand itself after the motion. A controller that took less would end motions that the waypoint
    allows, one that took more would report a success that is none.

    Args:
        robot: The robot.
        arm: The arm.
        q: Configuration at the end, (dof,), rad or m.
        t_eps: Position tolerance of the waypoint, m.
        o_eps: Angle tolerance of the waypoint, rad.

    Returns:
        Tolerances, (dof,), rad or m; at most the greatest that the arm's controller accepts.
    """
    here = forward(robot, arm.name, q)
    tolerances = np.full(len(q), arm.controller_profile.greatest_goal_tolerance)
    for i in range(len(q)):
        moved = np.array(q)
        moved[i] += STEP
        gap_m, turn_rad = here.distance_to(forward(robot, arm.name, moved))
        for allowed, effect in ((t_eps, gap_m), (o_eps, turn_rad)):
            if effect > 0.0:
                tolerances[i] = min(tolerances[i], allowed * STEP / effect)
    return tolerances
