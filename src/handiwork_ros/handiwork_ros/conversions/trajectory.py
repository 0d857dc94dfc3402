"""Conversions of trajectories."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from handiwork_core.intake.limits import JOINTS, TRAJECTORY_POINTS
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory

from .pose import BadMessage, at_most, finite, time_from_msg, time_parts


def trajectory_from_msg(msg: JointTrajectory, field: str = "trajectory") -> Trajectory:
    """Read a timed path. Velocities and accelerations that are missing in every point are zero.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: There are fewer than two points or too many, the times do not rise from 0, a point has another count
            of numbers than there are joints, or a number is not finite.
    """
    n, dof = len(msg.points), len(msg.joint_names)
    at_most(f"{field}.points", n, TRAJECTORY_POINTS, "points")
    at_most(f"{field}.joint_names", dof, JOINTS, "names")
    if n < 2 or dof == 0:
        raise BadMessage(
            f"{field}.points", f"has {n} points of {dof} joints; send at least 2 of 1", Code.BAD_GOAL
        )
    q, qd, qdd = (
        _column(
            [getattr(p, name) for p in msg.points],
            dof,
            f"{field}.points.{name}",
            required=name == "positions",
        )
        for name in ("positions", "velocities", "accelerations")
    )
    t_s = np.array([_seconds(p.time_from_start) for p in msg.points])
    if not (np.diff(t_s) > 0.0).all() or abs(t_s[0]) > 1e-9:
        raise BadMessage(f"{field}.points.time_from_start", "must rise strictly from 0", Code.BAD_GOAL)
    return Trajectory(tuple(msg.joint_names), t_s, q, qd, qdd)


def trajectory_to_msg(trajectory: Trajectory) -> JointTrajectory:
    """Write a timed path.

    Args:
        trajectory: The path.

    Returns:
        The message; a stamp of zero means: start at once.
    """
    msg = JointTrajectory(joint_names=list(trajectory.joint_names))
    msg.header.stamp.sec, msg.header.stamp.nanosec = time_parts(trajectory.begin_s)
    columns = (trajectory.t_s, trajectory.q, trajectory.qd, trajectory.qdd)
    for t, q, qd, qdd in zip(*(column.tolist() for column in columns), strict=True):
        point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd)
        point.time_from_start.sec, point.time_from_start.nanosec = time_parts(t)
        msg.points.append(point)
    return msg


def _column(rows: list[object], dof: int, field: str, *, required: bool) -> Array:
    if not required and not any(len(row) for row in rows):  # type: ignore[arg-type]
        return np.zeros((len(rows), dof))
    for i, row in enumerate(rows):
        if len(row) != dof:  # type: ignore[arg-type]
            raise BadMessage(f"{field}[{i}]", f"has {len(row)} numbers; send {dof}", Code.BAD_GOAL)  # type: ignore[arg-type]
    return finite(np.array(rows, dtype=np.float64), field)


def _seconds(duration: Duration) -> float:
    return time_from_msg(duration)
