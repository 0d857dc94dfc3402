"""Waits until targets are at rest or move evenly, and measures how fast."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from skill_server.params.following import Following

from .expected_targets import DEVIATIONS, noise_of

POLL_S = 0.01
WINDOW_S = 0.16
"""Time over which a velocity is measured, s."""
NOISY_M = 3e-4
"""Standard deviation of a position above which a line is fitted to the positions, m."""
NOISY_WINDOW_S = 0.6
"""Time over which the velocity of such a target is measured, s."""
PATIENCE_S = 1.5
"""Longest time that a target may be too fast, or change its velocity, s of the robot's world."""
MOVES_MPS = 0.01
"""A target that is slower than this is at rest, m/s."""
EVEN_MPS, EVEN_SHARE = 0.015, 0.2
"""Both halves of the window differ by less than this in an even motion, m/s, or by this share of the velocity."""


class NotFollowed(StepFailed):
    """A target moves so that it cannot be followed, however often it is tried."""


Sample = tuple[float, Array]


def even_velocity(samples: Iterable[Sample]) -> Array | None:
    """Return the velocity of a target that moves evenly, or is at rest.

    Args:
        samples: Stamps [s] and positions (3,) [m], the oldest first.

    Returns:
        The velocity (3,), m/s, zero at rest; None while the samples span too little time, or the velocity changes.
    """
    rows = list(samples)
    if len(rows) < 3 or rows[-1][0] - rows[0][0] < WINDOW_S:
        return None
    half_s = rows[0][0] + 0.5 * WINDOW_S
    middle = min(range(1, len(rows) - 1), key=lambda i: abs(rows[i][0] - half_s))
    first, last = _velocity(rows[0], rows[middle]), _velocity(rows[middle], rows[-1])
    whole = _velocity(rows[0], rows[-1])
    apart, speed = float(np.linalg.norm(last - first)), float(np.linalg.norm(whole))
    if apart > max(EVEN_MPS, EVEN_SHARE * speed):
        return None
    return whole if speed > MOVES_MPS else np.zeros(3)


def fitted_velocity(samples: Iterable[Sample], noise_m: float) -> Array | None:
    """Return the velocity of a target with a noisy position, by a straight line through all samples.

    Args:
        samples: Stamps [s] and positions (3,) [m], the oldest first.
        noise_m: Standard deviation of a position along each axis, m.

    Returns:
        The velocity (3,), m/s, zero where noise alone may look like it; None while the samples span too little time, or
        are farther from an even motion than noise explains.
    """
    rows = list(samples)
    if len(rows) < 3 or rows[-1][0] - rows[0][0] < NOISY_WINDOW_S:
        return None
    t_s, at_m = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    t_s, at_m = t_s - t_s.mean(), at_m - at_m.mean(axis=0)
    velocity = t_s @ at_m / (t_s @ t_s)
    off_m = float(np.linalg.norm(at_m - np.outer(t_s, velocity), axis=1).max())
    if off_m > DEVIATIONS * noise_m:
        return None
    least_mps = max(MOVES_MPS, DEVIATIONS * noise_m / float(np.sqrt(t_s @ t_s)))
    return np.asarray(velocity) if float(np.linalg.norm(velocity)) > least_mps else np.zeros(3)


def _velocity(a: Sample, b: Sample) -> Array:
    return np.asarray((b[1] - a[1]) / (b[0] - a[0]))


def await_even_motion(names: Iterable[str], following: Following, context: Context) -> dict[str, Array]:
    """Return once each target is at rest or moves evenly, at once where all are at rest.

    Args:
        names: The targets.
        following: The greatest speed.
        context: Ports of the run.

    Returns:
        Velocities (3,) of those that move, m/s in world axes.

    Raises:
        NotFollowed: OBJECT_MOVED when a target stays too fast, or moves unevenly for ``PATIENCE_S``.
        Stopped: The token was set.
    """
    found = dict[str, Array]()
    for name in names:
        velocity = _velocity_of(name, following, context)
        if velocity.any():
            found[name] = velocity
    return found


def _velocity_of(name: str, following: Following, context: Context) -> Array:
    begun_s, samples, velocity, noise_m = context.clock.now_s(), deque[Sample](), None, 0.0
    while True:
        context.token.check()
        state = context.world.snapshot().states.get(name)
        if state is None or (not samples and float(np.linalg.norm(state.world_v_object)) < MOVES_MPS):
            return np.zeros(3)
        if not samples or state.stamp_s > samples[-1][0]:
            noise_m = max(noise_m, noise_of(state).position_m)
            samples.append((state.stamp_s, state.world_T_object.translation_m))
            window_s = NOISY_WINDOW_S if noise_m > NOISY_M else WINDOW_S
            while len(samples) > 3 and samples[-1][0] - samples[1][0] >= window_s:
                samples.popleft()
            velocity = fitted_velocity(samples, noise_m) if noise_m > NOISY_M else even_velocity(samples)
        if velocity is not None and float(np.linalg.norm(velocity)) <= following.speed_mps:
            return velocity
        if context.clock.now_s() - begun_s > PATIENCE_S:
            raise NotFollowed(Outcome(Code.OBJECT_MOVED, _why(name, velocity, following), "select"))
        context.clock.sleep(POLL_S, should_stop=context.token.is_set)


def _why(name: str, velocity: Array | None, following: Following) -> str:
    if velocity is None:
        return f"{name!r} keeps changing its velocity; an object that moves evenly is followed, send the goal again"
    return (
        f"{name!r} moves at {float(np.linalg.norm(velocity)):.2f} m/s; it is followed up to follow_speed, "
        f"{following.speed_mps:g} m/s; slow it down"
    )
