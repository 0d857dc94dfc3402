"""Reading of the goals of arms and grippers from their messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectoryPoint

from handiwork_core.control.contact_guard import bound_of
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.intake.limits import TRAJECTORY_POINTS
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import GripperAction, GripperSpec
from handiwork_ros.conversions import time_from_msg


def read_trajectory(request: Any) -> TrajectoryGoal:
    """Read a FollowJointTrajectory goal.

    Args:
        request: The goal message.

    Returns:
        The goal; its velocities are None if no point has any.

    Raises:
        ValueError: The points have unequal sizes or are too many, or parts are used that are not supported.
    """
    if (
        request.multi_dof_trajectory.points
        or request.component_path_tolerance
        or request.component_goal_tolerance
    ):
        raise ValueError(
            "multi_dof_trajectory and component tolerances are not supported; send trajectory alone"
        )
    if len(request.trajectory.points) > TRAJECTORY_POINTS:
        count = len(request.trajectory.points)
        raise ValueError(f"trajectory has {count} points; at most {TRAJECTORY_POINTS} are taken, send fewer")
    points: list[JointTrajectoryPoint] = list(request.trajectory.points)
    names = tuple(request.trajectory.joint_names)
    qd = (
        _rows([p.velocities for p in points], len(names), "velocities")
        if any(p.velocities for p in points)
        else None
    )
    joint_tolerances, stop_force = bound_of(_tolerances(request.path_tolerance, "path_tolerance"))
    return TrajectoryGoal(
        names,
        np.array([time_from_msg(p.time_from_start) for p in points]),
        _rows([p.positions for p in points], len(names), "positions"),
        qd,
        joint_tolerances,
        _tolerances(request.goal_tolerance, "goal_tolerance"),
        time_from_msg(request.goal_time_tolerance),
        time_from_msg(request.trajectory.header.stamp),
        stop_force,
    )


def _tolerances(given: Any, what: str) -> dict[str, float]:
    """Return the tolerances by name; of two for one name none is right, because the other would be dropped."""
    found: dict[str, float] = {one.name: one.position for one in given}
    if len(found) < len(given):
        names = [one.name for one in given]
        raise ValueError(f"{what} names {names}; send one for each name")
    for one in given:
        # Below zero asks for no check of it, and there is none.
        for part in ("velocity", "acceleration"):
            value = getattr(one, part)
            if not value <= 0.0:
                text = f"{what} of {one.name!r} has {part} {value:g}, and only positions are checked"
                raise ValueError(f"{text}; send 0, and limit the speed of the trajectory itself")
    return found


def _rows(rows: list[Any], count: int, what: str) -> Array:
    for index, row in enumerate(rows):
        if len(row) != count:
            raise ValueError(f"point {index} has {len(row)} {what} for {count} joints; send one for each")
    return np.array(rows, dtype=np.float64).reshape(len(rows), count)


def read_gripper(request: Any, gripper: GripperSpec) -> GripperGoal:
    """Read a goal of the gripper's action.

    Args:
        request: The goal message; an empty joint name means the gripper's joint.
        gripper: Description of the gripper.

    Returns:
        The goal: position in m or rad, force in N and speed of a finger in m/s; both 0 if the message has none.

    Raises:
        ValueError: The goal names another joint, or does not have exactly one position.
    """
    command = request.command
    if gripper.action_type is GripperAction.SINGLE:
        return GripperGoal(float(command.position), float(command.max_effort), 0.0)
    if list(command.name) not in ([], [gripper.joint]) or len(command.position) != 1:
        raise ValueError(
            f"command names {list(command.name)} with {len(command.position)} positions; send one for {gripper.joint!r}"
        )
    force = float(command.effort[0]) if len(command.effort) else 0.0
    speed = float(command.velocity[0]) if len(command.velocity) else 0.0
    return GripperGoal(float(command.position[0]), force, speed)
