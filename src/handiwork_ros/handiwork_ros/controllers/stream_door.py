"""The topic by which a reactive controller moves an arm, point by point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from handiwork_core.control.control_thread import ControlThread
from handiwork_core.control.trajectory_controller import Reference
from handiwork_core.control.trajectory_goal import GoalRefused
from handiwork_core.robot import ArmSpec
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.guards import guard
from handiwork_ros.qos import LATEST


class StreamDoor:
    """``<arm>_controller/joint_trajectory`` with one point, to be reached at once; 0.1 s of silence brake the arm.

    The name is that of ros2_control's trajectory controller. A goal of the action has precedence. The header's stamp
    and ``time_from_start`` say for when the point is, so that one which comes late does not jerk; stamp 0: for now.
    """

    def __init__(self, node: Node, loop: Callable[[], ControlThread], arm: ArmSpec) -> None:
        self._node, self._loop, self._arm = node, loop, arm
        topic = f"{arm.controller}/joint_trajectory"
        self._sub = node.create_subscription(JointTrajectory, topic, guard(node, self._take), LATEST)

    def _take(self, message: Any) -> None:
        if len(message.points) != 1 or sorted(message.joint_names) != sorted(self._arm.joint_names):
            self._warn(f"give one point for the joints {list(self._arm.joint_names)}")
            return
        point, order = message.points[0], [message.joint_names.index(name) for name in self._arm.joint_names]
        rates = point.velocities or [0.0] * len(order)
        if len(point.positions) != len(order) or len(rates) != len(order):
            self._warn(
                f"{len(point.positions)} positions and {len(rates)} velocities for {len(order)} joints"
            )
            return
        wanted = Reference(np.array(point.positions)[order], np.array(rates)[order])
        start_s = time_from_msg(message.header.stamp)
        due_s = start_s + point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
        loop = self._loop()

        def stream() -> None:
            arm, joints = loop.plant.arms[self._arm.name], loop.plant.joints()
            age_s = joints.stamp_s - due_s if start_s > 0.0 else 0.0
            try:
                arm.controller.stream(wanted, joints.position[arm.indices], age_s)
            except GoalRefused as refusal:
                self._warn(str(refusal))

        loop.submit(stream)

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(
            f"{self._arm.controller}/joint_trajectory: {text}", throttle_duration_sec=2.0
        )
