"""The topic with which a reactive controller moves an arm, point by point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from handiwork_core.control.control_thread import ControlThread
from handiwork_core.control.goal_refusal import GoalRefused
from handiwork_core.control.trajectory_controller import Reference
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec, BaseSpec
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.rclpy_support.qos import LATEST
from handiwork_ros.rclpy_support.safe_callbacks import guard


class PointStreamServer:
    """Subscriber of ``<arm>_controller/joint_trajectory``: one point to reach at once, or several with their times.

    Name and meaning are those of ros2_control's joint_trajectory_controller. A goal of the action has precedence. For
    one point, the header's stamp and ``time_from_start`` give the time at which it is due, so that a late point causes
    no jerk; stamp 0 means now. 0.1 s without a point brake the arm. Several points are followed to the last, unless
    others come.

    Args:
        node: Hosts the subscription.
        loop: Returns the control thread that owns the arm.
        arm: Description of the arm or base.
        controller: Prefix of the topic; empty: the arm's own.
    """

    def __init__(
        self,
        node: Node,
        loop: Callable[[], ControlThread],
        arm: ArmSpec | BaseSpec,
        controller: str = "",
    ) -> None:
        self._node, self._loop, self._arm = node, loop, arm
        self._topic = f"{controller or arm.controller}/joint_trajectory"
        self._sub = node.create_subscription(JointTrajectory, self._topic, guard(node, self._take), LATEST)

    def _take(self, message: Any) -> None:
        names = list(message.joint_names)
        if not message.points or sorted(names) != sorted(self._arm.joint_names):
            self._warn(f"give points for the joints {list(self._arm.joint_names)}")
            return
        for point in message.points:
            counts = len(point.positions), len(point.velocities) or len(names)
            if counts != (len(names), len(names)):
                text = f"{counts[0]} positions and {counts[1]} velocities for {len(names)} joints"
                self._warn(text)
                return
        order = [names.index(name) for name in self._arm.joint_names]
        q = np.array([point.positions for point in message.points])[:, order]
        qd = np.array([point.velocities or [0.0] * len(order) for point in message.points])[:, order]
        start_s = time_from_msg(message.header.stamp)
        due_s = np.array([time_from_msg(point.time_from_start) for point in message.points])
        # The future of this work is not read, so its exceptions are logged by ``guard``.
        work = guard(self._node, self._pass_on)
        self._loop().submit(lambda: work(q, qd, due_s, start_s))

    def _pass_on(self, q: Array, qd: Array, due_s: Array, start_s: float) -> None:
        """Give the points to the arm's controller; on the controllers' thread."""
        plant = self._loop().plant
        arm, joints = plant.arms[self._arm.name], plant.joints()
        late_s = joints.stamp_s - start_s if start_s > 0.0 else 0.0
        try:
            if refusal := plant.safety.refusal():
                raise refusal
            if len(q) > 1:
                arm.controller.schedule(due_s - late_s, q, qd)
                return
            age_s = late_s - due_s[0] if start_s > 0.0 else 0.0
            arm.controller.stream(Reference(q[0], qd[0]), joints.position[arm.indices], age_s)
        except GoalRefused as refusal:
            self._warn(str(refusal))

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(f"{self._topic}: {text}", throttle_duration_sec=2.0)
