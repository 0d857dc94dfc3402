"""Trajectories of clients as the controllers need them: complete, in the group's order, from the present state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.robot.groups import Group

from .start_check import start_fault


def group_of_joints(groups: Mapping[str, Group], names: Sequence[str], mimics: frozenset[str]) -> Group:
    """Return the group that a trajectory commands.

    Args:
        groups: The groups by name.
        names: Names of the joints.
        mimics: Joints that follow others, which are left out.

    Raises:
        RequestError: INVALID_MOTION_PLAN, when no group has exactly these joints.
    """
    wanted = sorted(set(names) - mimics)
    for group in groups.values():
        if sorted(group.joint_names) == wanted:
            return group
    known = {name: list(group.joint_names) for name, group in groups.items()}
    text = f"the trajectory has the joints {list(names)[:20]}; one group has to have exactly these: {known}"
    raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)


def completed(
    group: Group,
    names: Sequence[str],
    t_s: Array,
    columns: tuple[Array, Array | None, Array | None],
    measured: Mapping[str, float],
) -> Trajectory:
    """Return a trajectory of a group.

    A first time above 0 is the time to reach the first point from the measured state, which must be near it, too, as in
    MoveIt; of a gripper only the end counts. Velocities that are missing are central differences, with rest at both
    ends; accelerations that are missing are those of the velocities.

    Args:
        group: The group.
        names: Names of the columns.
        t_s: Times, (n,), s.
        columns: Positions, (n, m), and velocities and accelerations or None.
        measured: Measured joint positions by name, rad or m.

    Raises:
        RequestError: INVALID_MOTION_PLAN, when the times do not rise or there is no motion; START_STATE_INVALID, when
            the first point is not where the robot is.
    """
    order = [list(names).index(name) for name in group.joint_names]
    q, qd, qdd = (None if column is None else column[:, order] for column in columns)
    assert q is not None
    if group.is_arm and (why := start_fault(group.joint_names, q[0].tolist(), measured)):
        raise RequestError(ErrorCode.START_STATE_INVALID, why, "trajectory_execution")
    if t_s[0] > 1e-9:
        first = np.array([[measured[name] for name in group.joint_names]])
        t_s, q = np.concatenate(([0.0], t_s)), np.vstack((first, q))
        zero = np.zeros_like(first)
        qd = None if qd is None else np.vstack((zero, qd))
        qdd = None if qdd is None else np.vstack((zero, qdd))
    if len(t_s) < 2 or not (np.diff(t_s) > 0.0).all():
        text = (
            f"the trajectory has {len(t_s)} points, whose time_from_start must rise strictly; "
            "send a time-parameterised trajectory of at least 2 points"
        )
        raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)
    if qd is None:
        qd = _slopes(t_s, q)
        qd[0] = qd[-1] = 0.0
    if qdd is None:
        qdd = _slopes(t_s, qd)
    return Trajectory(group.joint_names, t_s, q, qd, qdd)


def _slopes(t_s: Array, values: Array) -> Array:
    """Return the derivative by second order differences."""
    slopes: Array = np.gradient(values, t_s, axis=0, edge_order=1)
    return slopes
