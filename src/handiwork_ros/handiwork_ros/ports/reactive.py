"""Implements the Reactive port over the topic of a trajectory controller."""

from __future__ import annotations

from builtin_interfaces.msg import Duration
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec
from handiwork_ros.conversions import time_to_msg
from handiwork_ros.rclpy_support.qos import LATEST


class ReactiveClient:
    """Publisher of ``<arm>_controller/joint_trajectory``. Call it from a worker thread.

    Args:
        node: Hosts the publisher; another thread spins it.
        arm: Description of the arm.
    """

    def __init__(self, node: Node, arm: ArmSpec) -> None:
        self._node, self._names = node, list(arm.joint_names)
        self._topic = f"{arm.controller}/joint_trajectory"
        self._publisher = node.create_publisher(JointTrajectory, self._topic, LATEST)

    def fault(self) -> str:
        """See ``Reactive.fault``."""
        if self._node.count_subscribers(self._topic):
            return ""
        return f"nothing subscribes to {self._topic}; activate the arm's joint_trajectory_controller"

    def send(self, q: Array, v: Array, stamp_s: float, due_s: Array) -> None:
        """Send a schedule; see ``Reactive.send``.

        Args:
            q: Positions, (n, dof), rad or m.
            v: Velocities, (n, dof), rad/s or m/s.
            stamp_s: Time to which ``due_s`` refers, s.
            due_s: Time until each point, (n,), s.
        """
        message = JointTrajectory(joint_names=self._names)
        message.header.stamp = time_to_msg(stamp_s)
        message.points = [
            JointTrajectoryPoint(positions=place, velocities=speed, time_from_start=_duration(time_s))
            for place, speed, time_s in zip(q.tolist(), v.tolist(), due_s.tolist(), strict=True)
        ]
        # Not by the executor: a message that waits there comes too late. Publishers are safe between threads.
        self._publisher.publish(message)


def _duration(time_s: float) -> Duration:
    moment = time_to_msg(time_s)
    return Duration(sec=moment.sec, nanosec=moment.nanosec)
