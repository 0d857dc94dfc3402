"""Takes images with the joints of the same time, for a calibration."""

from __future__ import annotations

import time
from collections.abc import Callable

import rclpy
from rclpy.node import Node
from rclpy.time import Time
from sensor_msgs.msg import CameraInfo, Image
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.geometry import Pose
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_core.robot.joint_history import JointHistory
from handiwork_ros.conversions import BadMessage, joint_state_from_msg, time_from_msg
from handiwork_ros.ports.frames import FrameBuffer, UnknownFrame
from handiwork_ros.rclpy_support.qos import STREAM
from perception_bridge.calibration.board import Gray
from perception_bridge.calibration.recording import CameraSpec
from perception_bridge.ros.tag_images import to_gray

WAIT_S = 10.0
"""The longest wait for a message, s."""


class LookRecorder:
    """One camera and the joints of the robot.

    Args:
        node: Hosts the subscriptions; this object spins it.
        camera: Namespace of the camera, with ``image_raw`` and ``camera_info`` below it.
    """

    def __init__(self, node: Node, camera: str) -> None:
        self._node, self._camera = node, camera.rstrip("/")
        self._info: CameraInfo | None = None
        self._image: Image | None = None
        self._history, self._speed = JointHistory(), 0.0
        self._frames = FrameBuffer(node, dynamic=False)
        node.create_subscription(CameraInfo, f"{self._camera}/camera_info", self._on_info, STREAM)
        node.create_subscription(Image, f"{self._camera}/image_raw", self._on_image, STREAM)
        node.create_subscription(JointStateMsg, "joint_states", self._on_joints, STREAM)

    def camera(self) -> CameraSpec:
        """Return the calibration of the camera.

        Raises:
            ValueError: There is none, or it cannot be true.
        """
        self._wait(lambda: self._info is not None, f"no CameraInfo came on {self._camera}/camera_info")
        info = self._info
        assert info is not None
        return CameraSpec(info.width, info.height, tuple(info.k), info.distortion_model, tuple(info.d))

    def optical_frame(self) -> str:
        """Return the frame of the images.

        Raises:
            ValueError: No image comes.
        """
        return str(self._new_image().header.frame_id)

    def frame_T_optical(self, frame: str, optical: str) -> Pose:
        """Return the pose of the images' frame in another one.

        Args:
            frame: The other frame.
            optical: The frame of the images.

        Raises:
            ValueError: ``/tf_static`` does not connect them.
        """
        self._spin(1.0)
        try:
            return self._frames.lookup(frame, optical)
        except (UnknownFrame, BadMessage) as error:
            raise ValueError(f"{error}; --frame needs a fixed frame of the camera") from error

    def take(self) -> tuple[Gray, dict[str, float]]:
        """Return an image that was taken from now on, in grey, and the joints of its time.

        Raises:
            ValueError: The robot moves, or image or joints do not come.
        """
        image = self._new_image()
        stamp_s = time_from_msg(image.header.stamp)
        self._wait(
            lambda: self._history.at(stamp_s) is not None, "no joint_states of the time of the image came"
        )
        if self._speed > JOINT_REST:
            raise ValueError(f"a joint moves at {self._speed:.2f} rad/s; take looks with the arm at rest")
        joints = self._history.at(stamp_s)
        assert joints is not None
        return to_gray(image), joints

    def _new_image(self) -> Image:
        asked = self._node.get_clock().now()

        def is_new() -> bool:
            return self._image is not None and Time.from_msg(self._image.header.stamp) >= asked

        self._wait(is_new, f"no new image came on {self._camera}/image_raw")
        assert self._image is not None
        return self._image

    def _wait(self, is_there: Callable[[], bool], words: str) -> None:
        end_s = time.monotonic() + WAIT_S
        while not is_there():
            if time.monotonic() > end_s:
                raise ValueError(
                    f"{words} within {WAIT_S:g} s; is the driver running, and use_sim_time as there?"
                )
            rclpy.spin_once(self._node, timeout_sec=0.05)

    def _spin(self, seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            rclpy.spin_once(self._node, timeout_sec=0.05)

    def _on_info(self, message: CameraInfo) -> None:
        self._info = message

    def _on_image(self, message: Image) -> None:
        self._image = message

    def _on_joints(self, message: JointStateMsg) -> None:
        try:
            joints = joint_state_from_msg(message)
        except BadMessage as error:
            self._node.get_logger().warning(f"joint_states: {error}", throttle_duration_sec=5.0)
            return
        self._history.take(joints)
        self._speed = max((abs(one) for one in joints.velocity.values()), default=0.0)
