"""Implements the Cameras port over image topics."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import Image

from handiwork_core.contracts.reactive import Picture
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.rclpy_support.qos import STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.service_call import on_executor

SILENT_S = 1.0
"""An image that is older than this, s of steady time, is not used."""
CHANNELS = {
    "rgb8": (3, (0, 1, 2)),
    "bgr8": (3, (2, 1, 0)),
    "rgba8": (4, (0, 1, 2)),
    "bgra8": (4, (2, 1, 0)),
    "mono8": (1, (0, 0, 0)),
}
"""Encoding -> number of channels, and those of red, green and blue."""


class CameraClient:
    """Subscriber of image topics, from ``open`` to ``close``. Call it from a worker thread.

    Args:
        node: Hosts the subscriptions; another thread spins it.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._subscriptions: list[Any] = []
        self._newest: dict[str, tuple[float, Image]] = {}

    def open(self, topics: Sequence[str]) -> None:
        """Receive images from now on; see ``Cameras.open``.

        Args:
            topics: Names of the topics.
        """
        self.close()
        on_executor(self._node, partial(self._subscribe, tuple(dict.fromkeys(topics))))

    def picture(self, topic: str) -> Picture | str:
        """Return the newest image, or why there is none; see ``Cameras.picture``.

        Args:
            topic: Name of the topic.
        """
        newest = self._newest.get(topic)
        if newest is None:
            return f"{topic} has sent no image; start the camera, or correct the topic"
        age_s = time.monotonic() - newest[0]
        if age_s > SILENT_S:
            return f"{topic} has sent no image for {age_s:.1f} s; check the camera"
        try:
            rgb = rgb_of(newest[1])
        except ValueError as error:
            return f"{topic} {error}"
        return Picture(time_from_msg(newest[1].header.stamp), rgb)

    def close(self) -> None:
        """Receive no images any more."""
        old, self._subscriptions, self._newest = self._subscriptions, [], {}
        for one in old:
            on_executor(self._node, partial(self._node.destroy_subscription, one))

    def _subscribe(self, topics: Sequence[str]) -> None:
        made = self._subscriptions
        newest = self._newest
        for topic in topics:
            keep = guard(self._node, partial(_keep, newest, topic))
            made.append(self._node.create_subscription(Image, topic, keep, STREAM))


def _keep(newest: dict[str, tuple[float, Image]], topic: str, message: Image) -> None:
    newest[topic] = time.monotonic(), message


def rgb_of(image: Image) -> NDArray[np.uint8]:
    """Return the pixels of an image, (h, w, 3).

    Args:
        image: The message.

    Raises:
        ValueError: It has another encoding, or fewer bytes than its size says.
    """
    if image.encoding not in CHANNELS:
        raise ValueError(f"has the encoding {image.encoding!r}; publish one of {', '.join(CHANNELS)}")
    count, order = CHANNELS[image.encoding]
    height, width, step = int(image.height), int(image.width), int(image.step)
    if not height or not width or step < width * count or len(image.data) < height * step:
        size = f"{width}x{height} pixels in rows of {step} bytes"
        raise ValueError(f"has {len(image.data)} bytes for {size}; correct the camera's driver")
    rows = np.frombuffer(image.data, dtype=np.uint8, count=height * step).reshape(height, step)
    pixels = rows[:, : width * count].reshape(height, width, count)
    if order == (0, 1, 2) and count == len(order):
        return np.ascontiguousarray(pixels)  # An index by a tuple copies, 0.4 ms for 224x224.
    return np.ascontiguousarray(pixels[:, :, order])
