"""Images with AprilTags: they are searched in a thread of their own, so that the node goes on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

import cv2
import numpy as np
from sensor_msgs.msg import CameraInfo, Image

from handiwork_core.intake.limits import CAMERA_PIXELS
from handiwork_core.scene.tags import TagSpec
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from perception_bridge.tags.pinhole import Pinhole
from perception_bridge.tags.tag_detector import Gray
from perception_bridge.tags.tag_finder import SeenObject, TagFinder

CHANNELS = {
    "mono8": (1, None),
    "8UC1": (1, None),
    "rgb8": (3, cv2.COLOR_RGB2GRAY),
    "bgr8": (3, cv2.COLOR_BGR2GRAY),
    "rgba8": (4, cv2.COLOR_RGBA2GRAY),
    "bgra8": (4, cv2.COLOR_BGRA2GRAY),
}
"""Encodings with their channels, and the conversion to grey."""


class Searched(NamedTuple):
    """What a searched image has: objects, the frame and the time [s] of the image, and a sentence for each fault."""

    seen: list[SeenObject]
    frame: str
    stamp_s: float
    faults: list[str]


class TagImages:
    """The images of one camera. Where they come faster than they are searched, the newest counts.

    Args:
        node: Hosts the subscriptions.
        topic: Topic of the images.
        info_topic: Topic of their calibration.
        tags: Tags by label.
        stamp_fault: Returns why the time of an image [s] is not believed; empty for a good one.
    """

    def __init__(
        self,
        node: ManagedNode,
        topic: str,
        info_topic: str,
        tags: Mapping[str, tuple[TagSpec, ...]],
        stamp_fault: Callable[[float], str],
    ) -> None:
        self._finder, self._info_topic, self._stamp_fault = TagFinder(tags), info_topic, stamp_fault
        self._camera: Pinhole | None = None
        self._camera_fault = (
            f"no CameraInfo came on {info_topic} yet; start the camera's driver with its calibration"
        )
        self._wake, self._waiting = threading.Condition(), list[Image]()
        self._done, self._closed = list[Searched](), False
        node.create_subscription(CameraInfo, info_topic, guard(node, self._on_info), STREAM)
        node.create_subscription(Image, topic, guard(node, self._on_image), STREAM)
        self._thread = threading.Thread(target=self._run, name="tags", daemon=True)
        self._thread.start()

    def poll(self) -> list[Searched]:
        """Return what was found since the last call."""
        with self._wake:
            done, self._done = self._done, []
        return done

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(5.0)

    def _on_info(self, message: CameraInfo) -> None:
        try:
            made = Pinhole.of(message.width, message.height, message.k, message.distortion_model, message.d)
            self._camera, self._camera_fault = made, ""
        except ValueError as error:
            self._camera, self._camera_fault = None, f"{self._info_topic}: {error}"

    def _on_image(self, message: Image) -> None:
        with self._wake:
            self._waiting = [message]
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                image = self._waiting.pop()
            searched = self._searched(image)
            with self._wake:
                self._done.append(searched)

    def _searched(self, image: Image) -> Searched:
        stamp_s, frame = time_from_msg(image.header.stamp), image.header.frame_id
        camera, fault = self._camera, self._stamp_fault(stamp_s) or self._camera_fault
        if camera is None or fault:
            return Searched([], frame, stamp_s, [fault])
        try:
            gray = to_gray(image)
            if gray.shape != (camera.height, camera.width):
                rows, columns = gray.shape
                size = f"{camera.width} x {camera.height}"
                text = f"the image has {columns} x {rows} pixels, and {self._info_topic} {size}"
                raise ValueError(f"{text}; take the calibration of this image")
            seen, faults = self._finder.find(gray, camera)
            return Searched(seen, frame, stamp_s, faults)
        except (ValueError, cv2.error) as error:
            return Searched([], frame, stamp_s, [str(error)])


def to_gray(image: Image) -> Gray:
    """Return the pixels of an image in grey, (rows, columns).

    Args:
        image: The image.

    Raises:
        ValueError: Its encoding is not known, or its size and its data do not fit.
    """
    if image.encoding not in CHANNELS:
        raise ValueError(f"encoding {image.encoding[:80]!r} is not known; send {', '.join(CHANNELS)}")
    if not 0 < image.width * image.height <= CAMERA_PIXELS:
        text = f"the image has {image.width} x {image.height} pixels; at most {CAMERA_PIXELS} are taken"
        raise ValueError(f"{text}, and one at least")
    channels, conversion = CHANNELS[image.encoding]
    row = image.width * channels
    if image.step < row or len(image.data) < image.step * image.height:
        text = f"has {len(image.data)} bytes in rows of {image.step}"
        raise ValueError(f"the image {text}; {image.height} rows of {row} bytes are needed")
    pixels = np.frombuffer(image.data, np.uint8, image.step * image.height).reshape(image.height, image.step)
    used = np.ascontiguousarray(pixels[:, :row])
    if conversion is None:
        return used
    return np.asarray(cv2.cvtColor(used.reshape(image.height, image.width, channels), conversion), np.uint8)
