"""Trajectory messages of clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from handiwork_core.intake.limits import JOINTS, TRAJECTORY_POINTS
from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_ros import conversions as to
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.paths.timed_path import completed, group_of_joints
from moveit_facade.robot.groups import Group


def trajectory_of(
    msg: Any, groups: Mapping[str, Group], mimics: frozenset[str], measured: Mapping[str, float]
) -> tuple[Group, Trajectory]:
    """Read ``moveit_msgs/msg/RobotTrajectory``.

    Args:
        msg: The message.
        groups: The groups by name.
        mimics: Joints that follow others.
        measured: Measured joint positions by name, rad or m.

    Returns:
        The group that it commands, and the trajectory in the order of its joints.

    Raises:
        RequestError: INVALID_MOTION_PLAN, with the reason.
    """
    if msg.multi_dof_joint_trajectory.points:
        text = "multi_dof_joint_trajectory has points, which no joint here can follow; send joint_trajectory"
        raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)
    path = msg.joint_trajectory
    to.at_most("joint_trajectory.points", len(path.points), TRAJECTORY_POINTS, "points")
    to.at_most("joint_trajectory.joint_names", len(path.joint_names), JOINTS, "names")
    if not path.points or not path.joint_names:
        text = f"joint_trajectory has {len(path.points)} points of {len(path.joint_names)} joints; plan first"
        raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)
    if len(set(path.joint_names)) < len(path.joint_names):
        raise RequestError(ErrorCode.INVALID_MOTION_PLAN, "joint_trajectory.joint_names has a name twice")
    group = group_of_joints(groups, list(path.joint_names), mimics)
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in path.points])
    position = _column(path, "positions")
    if position is None:
        raise RequestError(ErrorCode.INVALID_MOTION_PLAN, "joint_trajectory.points have no positions")
    columns = (position, _column(path, "velocities"), _column(path, "accelerations"))
    return group, completed(group, list(path.joint_names), times, columns, measured)


def _column(path: Any, name: str) -> Array | None:
    """Return the rows of one kind; None if no point has any."""
    rows, dof = [getattr(point, name) for point in path.points], len(path.joint_names)
    if not any(len(row) for row in rows):
        return None
    for i, row in enumerate(rows):
        if len(row) != dof or not np.isfinite(row).all():
            text = f"joint_trajectory.points[{i}].{name} are {list(row)[:20]}; send {dof} finite numbers"
            raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)
    return np.array(rows, dtype=np.float64)
