"""Converts the progress of a trajectory to the feedback of FollowJointTrajectory."""

from __future__ import annotations

from array import array

from trajectory_msgs.msg import JointTrajectoryPoint

from control_msgs.action import FollowJointTrajectory
from handiwork_core.control.drivers import ArmProgress
from handiwork_core.model.geometry import Array
from handiwork_ros.conversions import time_to_msg


def feedback_to_msg(progress: ArmProgress) -> FollowJointTrajectory.Feedback:
    """Write the desired state, the actual state and the error, which is desired minus actual.

    Args:
        progress: Progress of the arm on its trajectory.

    Returns:
        The feedback message; ``time_from_start`` of its points is the time on the trajectory's path.
    """
    message = FollowJointTrajectory.Feedback(joint_names=list(progress.joint_names))
    message.header.stamp = time_to_msg(progress.stamp_s)
    wanted, actual = progress.desired, progress.actual
    message.desired = _point(wanted.position, wanted.velocity, progress.path_s)
    message.actual = _point(actual.position, actual.velocity, progress.path_s)
    difference = wanted.position - actual.position, wanted.velocity - actual.velocity
    message.error = _point(*difference, progress.path_s)
    return message


def _point(position: Array, velocity: Array, path_s: float) -> JointTrajectoryPoint:
    point = JointTrajectoryPoint()
    point.positions, point.velocities = array("d", position.tobytes()), array("d", velocity.tobytes())
    point.time_from_start.sec = int(path_s)
    point.time_from_start.nanosec = int((path_s % 1.0) * 1e9)
    return point
