"""From cuRobo's control points to a trajectory: the same cubic spline in float64, as fast as the limits allow."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_planning.timing.parameterization import Limits

STEP_S = 0.02
"""The longest time between samples, s."""
STILL_RAD = 2.0e-6
"""Points nearer than this to an end belong to the spline's rest before or after the motion: float32 noise, rad."""
SLACK = 1.0 + 1.0e-9


def timed(points: Array, limits: Limits, names: tuple[str, ...]) -> Trajectory:
    """Return the clamped cubic spline through points that are evenly spaced in time, as fast as the limits allow.

    A cubic B-spline that rests at both ends is that spline through its own values at the knots, so nothing of the
    optimised motion is lost. Its jerk is constant between the points, its acceleration linear: their largest values
    are exact.

    Args:
        points: Joint positions, (k, n), rad or m.
        limits: Limits of velocity, acceleration and jerk.
        names: Names of the joints.

    Returns:
        The trajectory, with samples at most STEP_S apart.
    """
    from scipy.interpolate import CubicSpline  # type: ignore[import-untyped]  # heavy, and only needed here

    points = without_rest(points)
    spline = CubicSpline(np.arange(len(points)), points, bc_type="clamped")
    unit_s = _seconds_per_step(spline, len(points) - 1, limits)
    parts = max(1, int(np.ceil(unit_s / STEP_S)))
    u = np.arange((len(points) - 1) * parts + 1) / parts
    q, qd, qdd = spline(u), spline(u, 1) / unit_s, spline(u, 2) / unit_s**2
    q[0], q[-1], qd[[0, -1]] = points[0], points[-1], 0.0
    return Trajectory(names, u * unit_s, q, qd, qdd)


def without_rest(points: Array) -> Array:
    """Remove the points at either end that repeat the end.

    Args:
        points: Joint positions, (k, n), rad or m.

    Returns:
        The points that are left, at least three.
    """
    moved = np.abs(points - points[0]).max(axis=1) > STILL_RAD
    ended = np.abs(points - points[-1]).max(axis=1) > STILL_RAD
    if not moved.any():
        return np.array([points[0], 0.5 * (points[0] + points[-1]), points[-1]])
    first, last = int(np.argmax(moved)) - 1, len(points) - int(np.argmax(ended[::-1]))
    kept = points[first : last + 1].copy()
    kept[0], kept[-1] = points[0], points[-1]
    return kept if len(kept) > 2 else np.array([kept[0], 0.5 * (kept[0] + kept[-1]), kept[-1]])


def _seconds_per_step(spline: object, steps: int, limits: Limits) -> float:
    """Return the time between two points at which the motion reaches the tightest of its limits."""
    at = np.arange(steps + 1)
    v, a = spline(at, 1), spline(at, 2)  # type: ignore[operator]
    change = np.diff(a, axis=0)
    # Between two points velocity is a parabola: its peak is where the acceleration is zero, if that is between them.
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = np.clip(np.nan_to_num(-a[:-1] / change, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
    between = v[:-1] + peak * (a[:-1] + 0.5 * peak * change)
    velocity = np.maximum(np.abs(v).max(axis=0), np.abs(between).max(axis=0))
    acceleration, jerk = np.abs(a).max(axis=0), np.abs(change).max(axis=0)
    needed = (
        float((velocity / limits.velocity).max()),
        float(np.sqrt(acceleration / limits.acceleration).max()),
        float(np.cbrt(jerk / limits.jerk).max()),
    )
    return max(*needed, 1.0e-3) * SLACK


def resampled(path: Array, count: int) -> Array:
    """Return points that are evenly spaced along a joint path.

    Args:
        path: Joint positions, (k, n), rad or m.
        count: Number of points.

    Returns:
        Joint positions, (count, n), rad or m.
    """
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    if at[-1] < 1.0e-9:
        return np.repeat(path[:1], count, axis=0)
    wanted = np.linspace(0.0, at[-1], count)
    return np.column_stack([np.interp(wanted, at, column) for column in path.T])
