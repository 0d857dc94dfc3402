"""Scales trajectories to the speed of the tool centre point at which the safety layer would stop them."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.batch_kinematics import BatchChain
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import Robot

BELOW = 0.95
"""Share of the limit that is used: controllers interpolate between the samples."""
STEP_S = 1e-5
"""Time on each side of a sample over which its speed is computed, s."""


class ToolSpeedLimit:
    """The limit of one robot.

    Attributes:
        limit: Greatest speed of a tool centre point, m/s; inf for none.

    Args:
        robot: The robot.
        limit: See above.
    """

    def __init__(self, robot: Robot, limit: float) -> None:
        self._robot, self.limit = robot, limit
        self._chains = {
            name: BatchChain(robot, arm.tcp_link, arm.base_link) for name, arm in robot.arms.items()
        }

    def kept(self, arm: str, trajectory: Trajectory) -> Trajectory:
        """Return a motion in as much more time as the limit asks for; its path is the same.

        Args:
            arm: Name of the arm.
            trajectory: Its motion.

        Returns:
            The motion; the same one where it is slow enough.
        """
        if not np.isfinite(self.limit):
            return trajectory
        stretch = self.fastest(arm, trajectory) / (BELOW * self.limit)
        if stretch <= 1.0:
            return trajectory
        return trajectory.stretched(stretch)

    def fastest(self, arm: str, trajectory: Trajectory) -> float:
        """Return the greatest speed of the tool centre point at the samples, and halfway between them.

        Args:
            arm: Name of the arm.
            trajectory: Its motion.

        Returns:
            Speed, m/s.
        """
        h = np.diff(trajectory.t_s)[:, None]
        q, qd = trajectory.q, trajectory.qd
        middle = 0.5 * (q[1:] + q[:-1]) + h * (qd[:-1] - qd[1:]) / 8.0
        rate = 1.5 * (q[1:] - q[:-1]) / h - 0.25 * (qd[1:] + qd[:-1])
        at, speed = np.concatenate([q, middle]), np.concatenate([qd, rate])
        around = np.concatenate([at - STEP_S * speed, at + STEP_S * speed])
        before, after = np.split(self._points(arm, trajectory.joint_names, around), 2)
        return float(np.linalg.norm(after - before, axis=1).max() / (2.0 * STEP_S))

    def _points(self, arm: str, names: tuple[str, ...], q: Array) -> Array:
        """Return the places of the tool centre point in the frame of the arm's base, (k, 3), m."""
        chain = self._chains[arm]
        columns = dict(zip(names, q.T, strict=True))
        positions = {
            name: columns.get(name, np.full(len(q), joint_position(self._robot, name, {})))
            for name in chain.drivers
        }
        return np.asarray(chain.poses(positions, np.eye(4))[:, :3, 3])
