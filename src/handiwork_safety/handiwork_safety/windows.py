"""Makes windows for ros2_control: the next points of a motion, with a stop at their end. Without ROS.

A window is all that a controller receives of a motion. Its sender may die at any time: the arm then continues to the
end of the window, where it is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.control.trajectory_controller import TrajectoryController
from handiwork_core.control.trajectory_goal import CheckedTrajectory, JointLimits
from handiwork_core.model.geometry import Array
from handiwork_core.safety.braking import ControlledStop, stop_time

ROW_S = 0.02
"""The time between two points of a window, s."""
FEWEST_ROWS = 2
"""The smallest number of points of a window: a single point counts as a stream, which a window prevents."""
LEAD_S = 0.4
"""The length of the motion in a window before the stop, s."""
BRAKE_S = 0.4
"""The duration of the stop along a path, s."""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Points of one arm.

    Attributes:
        times_s: Times from now, (r,), s.
        position: Joint positions, (r, dof), rad or m.
        rate: Joint velocities, (r, dof), rad/s or m/s; the last row is zero.
    """

    times_s: Array
    position: Array
    rate: Array


def grid(duration_s: float) -> Array:
    """Return the times of a window's points.

    Args:
        duration_s: Duration of the motion, s.

    Returns:
        Times from ``ROW_S`` on, (r,), s: the last is not before ``duration_s``, and there are at least ``FEWEST_ROWS``.
    """
    rows = max(FEWEST_ROWS, int(np.ceil(duration_s / ROW_S - 1e-9)))
    return np.asarray(ROW_S * np.arange(1, rows + 1), dtype=np.float64)


def along_path(path: CheckedTrajectory, path_s: float, rate: float) -> Window:
    """Return the next ``LEAD_S`` of a path, then a stop on the path.

    Args:
        path: The path that is followed.
        path_s: Current time on it, s.
        rate: Path time per second.

    Returns:
        The window; it ends early at the end of the path.
    """
    times = grid(LEAD_S + BRAKE_S)
    braking = np.clip(times - LEAD_S, 0.0, BRAKE_S)
    at = path_s + rate * (np.minimum(times, LEAD_S) + braking - 0.5 * braking**2 / BRAKE_S)
    rates = rate * (1.0 - braking / BRAKE_S)
    over = at >= path.duration_s
    rows = len(times) if not over.any() else max(FEWEST_ROWS, int(np.argmax(over)) + 1)
    at, rates = np.minimum(at, path.duration_s)[:rows], np.where(over, 0.0, rates)[:rows]
    velocity = path.velocity(at) * rates[:, None]
    velocity[-1] = 0.0
    return Window(times[:rows], path.position(at), velocity)


def from_here(limits: JointLimits, position: Array, rate: Array, lead_s: float) -> Window:
    """Continue with the current velocity for ``lead_s``, then stop.

    Args:
        limits: Limits of the arm's joints.
        position: Commanded joint positions, (dof,), rad or m.
        rate: Commanded joint velocities, (dof,), rad/s or m/s.
        lead_s: Time before the stop begins, s.

    Returns:
        The window; its positions are within the limits.
    """
    stop = ControlledStop(position + rate * lead_s, rate, limits.acceleration, limits.lower, limits.upper)
    times = grid(lead_s + stop_time(rate, limits.acceleration))
    places, rates = stop.ahead(np.maximum(times - lead_s, 0.0))
    early = times < lead_s
    places[early], rates[early] = position + rate * times[early, None], rate
    rates[-1] = 0.0
    return Window(times, np.clip(places, limits.lower, limits.upper), rates)


def window_of(controller: TrajectoryController, position: Array, rate: Array, stream_lead_s: float) -> Window:
    """Return the next window of an arm, from the state of its controller.

    Args:
        controller: Controller of the arm.
        position: Joint positions that the safety layer passed, (dof,), rad or m.
        rate: Joint velocities that the safety layer passed, (dof,), rad/s or m/s.
        stream_lead_s: Time for which a streamed motion continues before its stop, s.
    """
    if controller.path is not None:
        return along_path(controller.path, controller.path_s, controller.path_rate)
    return from_here(controller.limits, position, rate, stream_lead_s if controller.busy else 0.0)
