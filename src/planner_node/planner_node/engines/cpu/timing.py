"""Time along a path of straight joint motions by two moving averages.

The joints run through the way points at constant velocities; averaging that over T1 and then over T2 bounds
acceleration by (change of velocity) / T1 and jerk by (change of acceleration over T2) / T2, brings both ends
to rest, keeps single segments straight and rounds corners (Biagiotti, Melchiorri, "FIR filters for online
trajectory planning", 2012). All is closed form: a moving average is a difference of integrals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.trajectory import Trajectory

STEP_S = 0.01
SMOOTH_S = 0.04
"""Shortest T2: gentler than the joints could do, for drives that have to follow."""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """(n,) each, scaled: velocity [rad/s], acceleration [rad/s^2], jerk [rad/s^3]."""

    velocity: Array
    acceleration: Array
    jerk: Array


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """Corner times ``knots`` (k,) [s] of the unfiltered motion through ``points`` (k, n), and both windows [s]."""

    knots: Array
    points: Array
    t1: float
    t2: float

    @property
    def duration_s(self) -> float:
        """Length with both windows."""
        return float(self.knots[-1]) + self.t1 + self.t2

    def evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations (m, n) at times ``t`` (m,) [s]."""
        return self._mix(t, 2), self._mix(t, 1), self.acceleration(t)

    def acceleration(self, t: Array) -> Array:
        """(m, n) at times ``t`` (m,) [s]."""
        return self._mix(t, 0)

    def corners(self) -> Array:
        """All times at which jerk changes: between two of them acceleration is linear."""
        k = self.knots
        return np.unique(np.concatenate([k, k + self.t1, k + self.t2, k + self.t1 + self.t2]))

    def _mix(self, t: Array, order: int) -> Array:
        late = np.concatenate([t, t - self.t1, t - self.t2, t - self.t1 - self.t2])
        a, b, c, d = self._integral(late, order).reshape(4, len(t), -1)
        return np.asarray((a - b - c + d) / (self.t1 * self.t2))

    def _integral(self, t: Array, order: int) -> Array:
        """The path (relative to its start, held at both ends) integrated ``order`` times from 0, at ``t`` (m,)."""
        k, x = self.knots, self.points - self.points[0]
        h = np.diff(k)[:, None]
        v = np.diff(x, axis=0) / h
        i = np.minimum(np.maximum(np.searchsorted(k, t, side="right") - 1, 0), len(k) - 1)
        u = np.maximum(t - k[i], 0.0)[:, None]
        still = np.zeros((1, x.shape[1]))
        slope = np.concatenate([v, still])[i]
        if order == 0:
            return np.asarray(x[i] + slope * u)
        one = np.concatenate([still, np.cumsum(x[:-1] * h + 0.5 * v * h**2, axis=0)])
        if order == 1:
            return np.asarray(one[i] + x[i] * u + 0.5 * slope * u**2)
        steps = one[:-1] * h + 0.5 * x[:-1] * h**2 + v * h**3 / 6.0
        two = np.concatenate([still, np.cumsum(steps, axis=0)])
        return np.asarray(two[i] + one[i] * u + 0.5 * x[i] * u**2 + slope * u**3 / 6.0)


def parameterise(points: Array, limits: Limits, pace: float = 1.0) -> Timed:
    """The shortest such timing of ``points`` (k, n), no two neighbours equal, among several windows.

    ``pace`` in (0, 1] slows everything down and, with it, rounds corners less. A repeated way point is a stop: it gets
    as much time as both windows, so that the motion comes to rest there and keeps the corner.
    """
    best: Timed | None = None
    for share in (1.0, 0.7, 0.5, 0.35, 0.25, 0.15):
        t1 = max(float((limits.velocity / limits.acceleration).max()) * share * pace, SMOOTH_S)
        timed = _with_window(points, limits, pace, t1)
        if best is None or timed.duration_s < best.duration_s:
            best = timed
    assert best is not None
    return best


def sample(timed: Timed, joint_names: tuple[str, ...]) -> Trajectory:
    """Samples about STEP_S apart; the ends are exactly the way points and exactly at rest."""
    count = max(2, int(np.ceil(timed.duration_s / STEP_S)) + 1)
    t = np.linspace(0.0, timed.duration_s, count)
    q, qd, qdd = timed.evaluate(t)
    q = q + timed.points[0]
    q[0], q[-1] = timed.points[0], timed.points[-1]
    for rate in (qd, qdd):
        rate[0] = rate[-1] = 0.0
    return Trajectory(joint_names, t, q, qd, qdd)


def _with_window(points: Array, limits: Limits, pace: float, t1: float) -> Timed:
    """Stretch segments until acceleration holds; half the velocity that the window allows is always enough.

    Jerk holds by the length of T2: it is at most twice the acceleration over T2.
    """
    t2 = max(float((2.0 * limits.acceleration / limits.jerk).max()), SMOOTH_S)
    moves = np.abs(np.diff(points, axis=0))
    fast = pace * np.minimum(limits.velocity, limits.acceleration * t1)
    safe = pace * np.minimum(limits.velocity, 0.5 * limits.acceleration * t1)
    shortest, longest = (moves / fast).max(axis=1), (moves / safe).max(axis=1)
    still = moves.max(axis=1) < 1e-12
    h = np.where(still, t1 + t2, np.maximum(shortest, 1e-6))
    longest = np.where(still, t1 + t2, np.maximum(longest, 1e-6))
    for _ in range(12):
        timed = Timed(np.concatenate([[0.0], np.cumsum(h)]), points, t1, t2)
        at = timed.corners()
        excess = (np.abs(timed.acceleration(at)) / limits.acceleration).max(axis=1)
        late = at[excess > 1.0 + 1e-6]
        if len(late) == 0:
            return timed
        # A segment acts on the output from its start until both windows have passed its end.
        start, end = timed.knots[:-1], timed.knots[1:] + t1 + t2
        acting = ((late[:, None] >= start) & (late[:, None] <= end)).any(axis=0) & ~still
        h = np.where(acting, np.minimum(h * 1.15, np.maximum(longest, h)), h)
    return Timed(np.concatenate([[0.0], np.cumsum(np.maximum(h, longest))]), points, t1, t2)
