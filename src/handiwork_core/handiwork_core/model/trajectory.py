"""Timed joint paths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .geometry import Array


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Joint motion that starts and ends at rest, or the rest of one.

    Attributes:
        joint_names: Names of the joints, (dof,).
        t_s: Times, (n,), s, strictly rising from 0.
        q: Positions, (n, dof), rad or m.
        qd: Velocities, (n, dof), rad/s or m/s.
        qdd: Accelerations, (n, dof), rad/s^2 or m/s^2.
        goal_tolerance: Largest distance of each joint from its end, (dof,), rad or m; None: the controller's own.
        stop_force: Change of the force on the tool at which the motion ends, (3,), N, in the EE frame; None: it is not
            watched. Needs a force-torque sensor.
        begin_s: Time of the robot's world at which the motion is to begin, s, so that several arms begin together; 0:
            at once.
    """

    joint_names: tuple[str, ...]
    t_s: Array
    q: Array
    qd: Array
    qdd: Array
    goal_tolerance: Array | None = None
    stop_force: Array | None = None
    begin_s: float = 0.0

    @property
    def duration_s(self) -> float:
        """Time from the first to the last sample, s."""
        return float(self.t_s[-1])

    def stretched(self, factor: float) -> Trajectory:
        """Return the motion on the same path in more time.

        Args:
            factor: The new duration by the old one.
        """
        return replace(self, t_s=self.t_s * factor, qd=self.qd / factor, qdd=self.qdd / factor**2)

    def remaining(self, from_s: float) -> Trajectory:
        """Return the rest of the trajectory, with times from 0; it may begin in motion.

        Args:
            from_s: Time on the trajectory, s.

        Returns:
            The rest; the whole for a time before the beginning, the last two samples for one after the end.
        """
        is_over = from_s > self.t_s[-1] - 1e-6
        at = float(self.t_s[-2] if is_over else max(from_s, self.t_s[0]))
        later = self.t_s > at + 1e-9
        i = int(np.argmax(later))
        q, qd = self.sample(at)
        share = (at - self.t_s[i - 1]) / (self.t_s[i] - self.t_s[i - 1]) if i else 0.0
        qdd = self.qdd[i] if not i else (1.0 - share) * self.qdd[i - 1] + share * self.qdd[i]
        t = np.concatenate([[0.0], self.t_s[later] - at])
        q_rows, qd_rows, qdd_rows = (
            np.vstack([first, rest[later]]) for first, rest in ((q, self.q), (qd, self.qd), (qdd, self.qdd))
        )
        return replace(self, t_s=t, q=q_rows, qd=qd_rows, qdd=qdd_rows)

    def sample(self, t_s: float) -> tuple[Array, Array]:
        """Return positions and velocities at a time, by cubic Hermite interpolation between samples.

        Args:
            t_s: Time on the trajectory, s; beyond an end, the end's values are returned.

        Returns:
            Positions, (dof,), rad or m, and velocities, (dof,), rad/s or m/s.
        """
        t = float(np.clip(t_s, self.t_s[0], self.t_s[-1]))
        i = int(np.clip(np.searchsorted(self.t_s, t, side="right") - 1, 0, len(self.t_s) - 2))
        h = float(self.t_s[i + 1] - self.t_s[i])
        u = (t - float(self.t_s[i])) / h
        q0, q1, v0, v1 = self.q[i], self.q[i + 1], self.qd[i] * h, self.qd[i + 1] * h
        position = (2 * u**3 - 3 * u**2 + 1) * q0 + (u**3 - 2 * u**2 + u) * v0
        position = position + (3 * u**2 - 2 * u**3) * q1 + (u**3 - u**2) * v1
        velocity = (
            (6 * u**2 - 6 * u) * (q0 - q1) + (3 * u**2 - 4 * u + 1) * v0 + (3 * u**2 - 2 * u) * v1
        ) / h
        return position, velocity
