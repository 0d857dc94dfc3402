"""Topics and services that the graph lacks, by standard messages: contacts, cups, belts, poses, reset, pause, step."""

from __future__ import annotations

from functools import partial

import rclpy
from geometry_msgs.msg import TwistStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from handiwork_core import isaac_wire as wire
from handiwork_core.model.geometry import Pose, Rotation
from isaac_bridge.isaac_app.session import Session
from tf2_msgs.msg import TFMessage

LATEST, EACH = QoSProfile(depth=1), QoSProfile(depth=100)
CALLS = 5
"""The largest number of callbacks between two frames."""


class BridgeTopics:
    """A node of its own. Between two frames it serves requests and publishes states.

    Args:
        session: The running cell.
    """

    def __init__(self, session: Session) -> None:
        self._session, self._context = session, Context()
        self._context.init()
        self._published_s = -1.0
        self.node = rclpy.create_node("isaac_sim", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._contacts = self.node.create_publisher(String, wire.CONTACTS, LATEST)
        self._cups = self.node.create_publisher(String, wire.SUCTION_STATE, LATEST)
        self.node.create_subscription(TFMessage, wire.SET_POSES, self._take_poses, EACH)
        self.node.create_subscription(TwistStamped, wire.BELT_VELOCITY, self._take_belt, EACH)
        self.node.create_service(Trigger, wire.RESET, self._reset)
        self.node.create_service(SetBool, wire.PAUSE, self._pause)
        self.node.create_service(Trigger, wire.STEP, self._step)
        for name in session.index.grippers:
            self.node.create_service(SetBool, wire.suction_service(name), partial(self._switch, name))

    def between_frames(self) -> None:
        """Serve waiting requests, and publish when time has advanced."""
        for _ in range(CALLS):
            self._executor.spin_once(timeout_sec=0.0)
        now_s = self._session.app.time_s()
        if now_s == self._published_s:
            return
        self._published_s = now_s
        self._contacts.publish(String(data=wire.contacts_text(self._session.contacts(), now_s)))
        if self._session.index.grippers:
            self._cups.publish(String(data=wire.cups_text(self._session.cups(), now_s)))

    def close(self) -> None:
        """End the node."""
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()

    def _take_poses(self, message: TFMessage) -> None:
        for item in message.transforms:
            p, q = item.transform.translation, item.transform.rotation
            try:
                pose = Pose.of((p.x, p.y, p.z), Rotation.from_xyzw((q.x, q.y, q.z, q.w)))
                fault = self._session.place(item.child_frame_id, pose)
            except ValueError as error:
                fault = str(error)
            if fault:
                self.node.get_logger().warning(f"{wire.SET_POSES}: {fault}")

    def _take_belt(self, message: TwistStamped) -> None:
        wanted = message.twist.linear
        fault = self._session.run_belt(message.header.frame_id, (wanted.x, wanted.y, wanted.z))
        if fault:
            self.node.get_logger().warning(f"{wire.BELT_VELOCITY}: {fault}")

    def _reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._session.reset()
        response.success = True
        return response

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._session.pause(paused=request.data)
        response.success = True
        return response

    def _step(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.message = self._session.step()
        response.success = not response.message
        return response

    def _switch(self, name: str, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._session.switch(name, close=request.data)
        response.success = True
        return response
