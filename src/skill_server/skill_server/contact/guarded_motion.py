"""Trajectories of moves that end by contact: their bound in the sensor's frame, and their speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.trajectory import Trajectory
from skill_server.motions.arm_motions import hand_at

SPEED_PER_FORCE = 0.0003
"""Greatest speed of the hand for each newton of the bound, m/s: 3 mm/s for 10 N.

A contact that is hit at speed v has the force v * sqrt(stiffness * mass of the arm) before any controller can act, and
grows by v * stiffness in each period of it. The product of both stays below the bound for contacts as soft as rubber.
"""

ROUNDING = 1e-9


def fastest(force_n: float) -> float:
    """Return the greatest speed at which a force may end a move, m/s.

    Args:
        force_n: The force, N.
    """
    return SPEED_PER_FORCE * force_n


def guarded(trajectory: Trajectory, command: Command, context: Context) -> Trajectory:
    """Return the trajectory of a command, with its bound of the force and at its speed of the hand.

    Args:
        trajectory: The motion as planned.
        command: Its command.
        context: Context of the run.

    Returns:
        The motion; unchanged for a command with neither.
    """
    slow = trajectory if command.tool_speed <= 0.0 else slowed(trajectory, command.tool_speed, context)
    if command.stop_force_n <= 0.0:
        return slow
    first, last = (hand_at(context, q) for q in (trajectory.q[0], trajectory.q[-1]))
    return replace(slow, stop_force=stop_force(first, last, command.stop_force_n))


def stop_force(first: Pose, last: Pose, force_n: float) -> Array:
    """Return the force on the tool that ends a straight motion: it points against the motion.

    Args:
        first: world_T_ee at the begin.
        last: world_T_ee at the end, with the same rotation.
        force_n: Size of the force, N.

    Returns:
        The force in the EE frame, (3,), N; zero for a motion without length.
    """
    way = last.translation_m - first.translation_m
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return np.zeros(3)
    return np.asarray(first.rotation.matrix().T @ (-force_n / length * way))


def slowed(trajectory: Trajectory, tool_speed: float, context: Context) -> Trajectory:
    """Stretch the time of a motion until the hand is nowhere faster.

    Args:
        trajectory: The motion.
        tool_speed: Greatest speed of the hand, m/s.
        context: Context of the run.

    Returns:
        The motion; unchanged where it is slow enough.
    """
    points = np.array([hand_at(context, q).translation_m for q in trajectory.q])
    speed = np.linalg.norm(np.diff(points, axis=0), axis=1) / np.diff(trajectory.t_s)
    stretch = float(speed.max()) / tool_speed
    if stretch <= 1.0 + ROUNDING:  # a motion that was slowed before, in a preview, stays as it is
        return trajectory
    return trajectory.stretched(stretch)
