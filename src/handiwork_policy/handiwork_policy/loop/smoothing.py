"""The curve that an arm follows between the references of two steps. Pure."""

from __future__ import annotations

from handiwork_core.control.trajectory_controller import Reference


def smoothed(before: Reference, after: Reference, step_s: float, time_s: float) -> Reference:
    """Return a point of the curve that an arm follows from one reference to the next.

    The velocity of references changes in jumps from step to step. The curve is half a step behind them, where the same
    velocities pass into each other with the acceleration that the guard has allowed; an arm that had to follow the
    jumps would overshoot while it brakes. It leaves the straight lines between references by an eighth of
    the change of velocity times the step.

    Args:
        before: Reference at the beginning of the step.
        after: Reference at its end.
        step_s: Time of a step, s.
        time_s: Time since the beginning of the step, s.
    """
    left_s = step_s - time_s
    rise = (after.velocity - before.velocity) / step_s
    end = after.position - 0.5 * step_s * after.velocity
    place = end - left_s * after.velocity + 0.5 * left_s**2 * rise
    return Reference(place, after.velocity - left_s * rise)
