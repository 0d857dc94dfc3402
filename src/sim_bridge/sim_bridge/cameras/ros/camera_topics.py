"""The topics of one camera: images, depths, their calibration, and a cloud, each only while it has a subscriber."""

from __future__ import annotations

import sys
from array import array

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField
from std_msgs.msg import Header

from handiwork_core.cameras.camera import LINK_T_OPTICAL, Camera, DepthEncoding
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import time_to_msg, transform_to_msg
from handiwork_ros.rclpy_support.qos import LATEST
from sim_bridge.cameras.images import (
    POINT_STEP,
    Depths,
    FrameSchedule,
    cloud,
    in_millimetres,
    noisy_color,
    noisy_depth,
)
from sim_bridge.cameras.renderer import SceneRenderer

PREFIX = "cameras"
"""All topics of a camera begin with ``cameras/<camera>``."""


class CameraTopics:
    """Publishes one camera. The thread that draws calls ``publish``.

    Args:
        node: Hosts the publishers.
        camera: The camera.
        seed: Seed of its noise.
    """

    def __init__(self, node: Node, camera: Camera, seed: int) -> None:
        self.camera, self._schedule = camera, FrameSchedule(camera.rate_hz)
        self._rng = np.random.default_rng(seed)
        self._rays = camera.intrinsics.rays().astype(np.float32)
        start = f"{PREFIX}/{camera.name}"
        self._color = node.create_publisher(Image, f"{start}/color/image_raw", LATEST)
        self._color_info = node.create_publisher(CameraInfo, f"{start}/color/camera_info", LATEST)
        self._depth = node.create_publisher(Image, f"{start}/depth/image_raw", LATEST)
        self._depth_info = node.create_publisher(CameraInfo, f"{start}/depth/camera_info", LATEST)
        self._points = node.create_publisher(PointCloud2, f"{start}/depth/points", LATEST)
        self._info = camera_info(camera)

    def is_wanted(self) -> bool:
        """Check whether any of its topics has a subscriber."""
        topics = (self._color, self._color_info, self._depth, self._depth_info, self._points)
        return any(one.get_subscription_count() for one in topics)

    def is_due(self, stamp_s: float) -> bool:
        """Check whether the state of this time becomes an image; see ``FrameSchedule``.

        Args:
            stamp_s: Time of the state, s.
        """
        return self._schedule.due(stamp_s)

    def publish(self, renderer: SceneRenderer, stamp_s: float) -> None:
        """Draw what is wanted of the placed state, and publish it.

        Args:
            renderer: Draws.
            stamp_s: Time of the state, s.
        """
        header = Header(stamp=time_to_msg(stamp_s), frame_id=self.camera.optical_frame)
        points = self._points.get_subscription_count() > 0
        color = points or self._color.get_subscription_count() > 0
        depth = points or self._depth.get_subscription_count() > 0
        drawn = renderer.draw(self.camera, color=color, depth=depth) if color or depth else None
        self._info.header = header
        for info in (self._color_info, self._depth_info):
            if info.get_subscription_count():
                info.publish(self._info)
        if drawn is None:
            return
        colors, depths = drawn.color, drawn.depth
        if colors is not None:
            colors = noisy_color(colors, self.camera.noise, self._rng)
            self._color.publish(image(header, "rgb8", colors.shape, colors.tobytes()))
        if depths is not None:
            depths = noisy_depth(depths, self.camera.noise, self._rng)
            self._depth.publish(depth_image(header, self.camera.depth_encoding, depths))
        if points and colors is not None and depths is not None:
            self._points.publish(point_cloud(header, depths.shape, cloud(self._rays, depths, colors)))


def camera_info(camera: Camera) -> CameraInfo:
    """Return the calibration of an ideal camera: no distortion, rectified as it is.

    Args:
        camera: The camera.
    """
    pinhole = camera.intrinsics
    matrix = pinhole.matrix()
    info = CameraInfo(width=pinhole.width, height=pinhole.height, distortion_model="plumb_bob")
    info.d = [0.0] * 5
    info.k = matrix.ravel().tolist()
    info.r = np.eye(3).ravel().tolist()
    info.p = np.hstack([matrix, np.zeros((3, 1))]).ravel().tolist()
    return info


def image(header: Header, encoding: str, shape: tuple[int, ...], data: bytes) -> Image:
    """Return an image without gaps between its rows.

    Args:
        header: Its header.
        encoding: Encoding of its pixels.
        shape: Rows and columns, and channels if there are several.
        data: Its bytes.
    """
    message = Image(header=header, encoding=encoding, height=shape[0], width=shape[1])
    message.is_bigendian = int(sys.byteorder == "big")
    message.step = len(data) // shape[0]
    message.data = array("B", data)  # an array of bytes is taken whole, anything else byte by byte
    return message


def depth_image(header: Header, encoding: DepthEncoding, depth: Depths) -> Image:
    """Return a depth image as REP-118 has it: beyond the range it is infinite, in millimetres 0.

    Args:
        header: Its header.
        encoding: Its encoding.
        depth: The depths, (height, width), m.
    """
    pixels = depth if encoding is DepthEncoding.METRES else in_millimetres(depth)
    return image(header, encoding.value, depth.shape, pixels.tobytes())


def point_cloud(header: Header, shape: tuple[int, ...], data: bytes) -> PointCloud2:
    """Return an organised cloud, one point for each pixel.

    Args:
        header: Its header.
        shape: Rows and columns.
        data: Its bytes; see ``images.cloud``.
    """
    message = PointCloud2(header=header, height=shape[0], width=shape[1], is_dense=False)
    kind = PointField.FLOAT32
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=kind, count=1)
        for i, name in enumerate(("x", "y", "z", "rgb"))
    ]
    message.point_step, message.row_step = POINT_STEP, POINT_STEP * shape[1]
    message.data = array("B", data)
    return message


def static_frames(robot: Robot, camera: Camera) -> list[TransformStamped]:
    """Return the frames of a camera: that of its body in its parent, and the optical frame in that.

    Args:
        robot: The robot, which may carry it.
        camera: The camera.
    """
    parent = f"{robot.name}/{camera.link}" if camera.link else "world"
    body = TransformStamped(child_frame_id=camera.link_frame)
    body.header.frame_id, body.transform = parent, transform_to_msg(camera.parent_T_camera)
    optical = TransformStamped(child_frame_id=camera.optical_frame)
    optical.header.frame_id, optical.transform = camera.link_frame, transform_to_msg(LINK_T_OPTICAL)
    return [body, optical]
