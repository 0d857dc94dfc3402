"""A stand-in for nav2's bt_navigator: serves ``navigate_to_pose`` and drives the simulated base by its controller.

``python -m support.nodes.nav2_stand_in [failing]`` runs it; ``failing`` ends each goal with NO_VALID_PATH at once. It
drives straight, as there is no map. Like nav2 it sends feedback all the time, and ends a canceled goal when it has
asked the base to stop, not when the base is at rest.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import Any

import rclpy
from geometry_msgs.msg import PoseStamped, TransformStamped
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from control_msgs.action import FollowJointTrajectory
from handiwork_ros.rclpy_support.qos import LATEST, TF_STATIC
from nav2_msgs.action import NavigateToPose
from tf2_msgs.msg import TFMessage

JOINTS = ("base_x", "base_y", "base_yaw")
SPEED, FEEDBACK_S = 0.3, 0.05
NO_VALID_PATH, FAILED = 208, 9000
TRIES = 10
READY, READY_AFTER = "ready\n", 3


class Nav2StandIn(Node):
    """The server. The map lies 0.5 m beside the world, so that a goal in the wrong frame is noticed."""

    MAP_Y = -0.5

    def __init__(self, *, fails: bool) -> None:
        super().__init__("bt_navigator")
        self._fails, self._q = fails, (0.0, 0.0, 0.0)
        group = ReentrantCallbackGroup()
        self._controller = ActionClient(
            self, FollowJointTrajectory, "base_controller/follow_joint_trajectory", callback_group=group
        )
        self.create_subscription(JointState, "joint_states", self._take, LATEST, callback_group=group)
        self._static = self.create_publisher(TFMessage, "tf_static", TF_STATIC)
        edge = TransformStamped(child_frame_id="map")
        edge.header.frame_id = "world"
        edge.transform.translation.y, edge.transform.rotation.w = self.MAP_Y, 1.0
        self._published = 0
        self.create_timer(0.5, lambda: self._publish(TFMessage(transforms=[edge])))
        self._server = ActionServer(
            self,
            NavigateToPose,
            "navigate_to_pose",
            self._navigate,
            cancel_callback=lambda _goal: CancelResponse.ACCEPT,
            callback_group=group,
        )

    def _publish(self, edge: TFMessage) -> None:
        """Publish the map again and again, and write a line once it was received and the controller is there."""
        self._static.publish(edge)
        is_met = self._static.get_subscription_count() > 0 and self._controller.server_is_ready()
        self._published += is_met
        if is_met and self._published == READY_AFTER:
            sys.stdout.write(READY)
            sys.stdout.flush()

    def _take(self, message: JointState) -> None:
        found = dict(zip(message.name, message.position, strict=True))
        if set(JOINTS) <= found.keys():
            self._q = (found[JOINTS[0]], found[JOINTS[1]], found[JOINTS[2]])

    def _navigate(self, handle: Any) -> NavigateToPose.Result:
        if self._fails:
            handle.abort()
            return NavigateToPose.Result(error_code=NO_VALID_PATH, error_msg="no valid path found")
        sent = self._sent(handle.request.pose)
        if sent is None:
            handle.abort()
            return NavigateToPose.Result(
                error_code=FAILED, error_msg="the base controller refused the motion"
            )
        result = sent.get_result_async()
        while not result.done():
            handle.publish_feedback(NavigateToPose.Feedback(distance_remaining=1.0))
            if handle.is_cancel_requested:
                sent.cancel_goal_async()
                handle.canceled()
                return NavigateToPose.Result()
            threading.Event().wait(FEEDBACK_S)
        handle.succeed()
        return NavigateToPose.Result()

    def _sent(self, pose: PoseStamped) -> Any:
        """Return the accepted goal of the controller; one from where the base was before is refused, and made again."""
        for _ in range(TRIES):
            sent = self._wait(self._controller.send_goal_async(self._trajectory(pose)))
            if sent is not None and sent.accepted:
                return sent
            threading.Event().wait(0.2)
        return None

    def _wait(self, future: Any) -> Any:
        end_s = time.monotonic() + 30.0
        while not future.done() and time.monotonic() < end_s:
            threading.Event().wait(0.01)
        return future.result()

    def _trajectory(self, pose: PoseStamped) -> FollowJointTrajectory.Goal:
        """Return the straight motion to a pose in the map, with smooth ends."""
        assert pose.header.frame_id == "map"
        turn = 2.0 * math.atan2(pose.pose.orientation.z, pose.pose.orientation.w)
        yaw = self._q[2] + math.remainder(turn - self._q[2], 2.0 * math.pi)
        end = (pose.pose.position.x, pose.pose.position.y + self.MAP_Y, yaw)
        lasts_s = max(0.5, 1.9 * max(abs(b - a) for a, b in zip(self._q, end, strict=True)) / SPEED)
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(JOINTS)
        for i in range(1, 101):
            s = i / 100.0
            part, rate = s**3 * (10 - 15 * s + 6 * s * s), 30 * s * s * (1 - s) ** 2 / lasts_s
            point = JointTrajectoryPoint()
            point.positions = [a + part * (b - a) for a, b in zip(self._q, end, strict=True)]
            point.velocities = [rate * (b - a) for a, b in zip(self._q, end, strict=True)]
            point.time_from_start.sec = int(s * lasts_s)
            point.time_from_start.nanosec = int(s * lasts_s % 1.0 * 1e9)
            goal.trajectory.points.append(point)
        return goal


def main() -> None:
    """Run the server until the process is ended."""
    rclpy.init()
    node = Nav2StandIn(fails="failing" in sys.argv[1:])
    executor = MultiThreadedExecutor(4)
    executor.add_node(node)
    executor.spin()


if __name__ == "__main__":
    main()
