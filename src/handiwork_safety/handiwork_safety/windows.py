"""What a controller of ros2_control is sent: the next moments of a motion, and a stop at their end. No ROS.

A window is all that a controller knows of a motion. Whoever sends it may die at any time: the arm then goes on to the
end of the window, which is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.control.trajectory_controller import TrajectoryController
from handiwork_core.control.trajectory_goal import CheckedTrajectory, JointLimits
from handiwork_core.model.geometry import Array
from handiwork_core.safety.braking import ControlledStop, stop_time

ROW_S = 0.02
"""Time between two points of a window."""
FEWEST_ROWS = 2
"""In a window: a single point is followed as one of a stream, which a running window does not let in."""
LEAD_S = 0.4
"""How much of the motion is in a window before the stop."""
BRAKE_S = 0.4
"""How long the stop along a path takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Points of one arm: times from now (r,) [s], positions and velocities (r, dof); the last velocity is zero."""

    times_s: Array
    position: Array
    rate: Array


def grid(duration_s: float) -> Array:
    """Times of points up to ``duration_s``, and one that is not before it; ``FEWEST_ROWS`` at least."""
    rows = max(FEWEST_ROWS, int(np.ceil(duration_s / ROW_S - 1e-9)))
    return np.asarray(ROW_S * np.arange(1, rows + 1), dtype=np.float64)


def along_path(path: CheckedTrajectory, path_s: float, rate: float) -> Window:
    """The next ``LEAD_S`` of a path, then a stop on the path.

    Args:
        path: that is followed.
        path_s: time on it now [s].
        rate: path time per second.
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
    """On with the present velocity for ``lead_s``, then a stop.

    Args:
        limits: of the arm.
        position: commanded now (dof,).
        rate: commanded velocity (dof,).
        lead_s: before the stop begins [s].
    """
    stop = ControlledStop(position + rate * lead_s, rate, limits.acceleration, limits.lower, limits.upper)
    times = grid(lead_s + stop_time(rate, limits.acceleration))
    places, rates = stop.ahead(np.maximum(times - lead_s, 0.0))
    early = times < lead_s
    places[early], rates[early] = position + rate * times[early, None], rate
    rates[-1] = 0.0
    return Window(times, np.clip(places, limits.lower, limits.upper), rates)


def window_of(controller: TrajectoryController, position: Array, rate: Array, stream_lead_s: float) -> Window:
    """What an arm is to do next, as its controller has it.

    Args:
        controller: of the arm.
        position: that the safety layer let pass (dof,).
        rate: of that.
        stream_lead_s: how long a streamed motion goes on before its stop [s].
    """
    if controller.path is not None:
        return along_path(controller.path, controller.path_s, controller.path_rate)
    return from_here(controller.limits, position, rate, stream_lead_s if controller.busy else 0.0)
