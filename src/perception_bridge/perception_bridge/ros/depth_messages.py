"""Depth images and clouds of points as arrays, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

from handiwork_core.intake.limits import CAMERA_PIXELS
from perception_bridge.tags.pinhole import Pinhole

Floats = NDArray[np.float32]
BYTES = {"16UC1": 2, "32FC1": 4}
"""Encodings of depth images, as REP-118 has them, and the bytes of a pixel."""


def depth_of(image: Image) -> Floats:
    """Return the depths of an image, (rows, columns), m; 0, NaN and infinity stay as they are.

    Args:
        image: The image.

    Raises:
        ValueError: Its encoding is not known, or its size and its data do not fit.
    """
    if image.encoding not in BYTES:
        known = ", ".join(BYTES)
        raise ValueError(f"encoding {image.encoding[:80]!r} is not known for depth; send {known}")
    if not 0 < image.width * image.height <= CAMERA_PIXELS:
        text = f"the image has {image.width} x {image.height} pixels; at most {CAMERA_PIXELS} are taken"
        raise ValueError(f"{text}, and one at least")
    row = image.width * BYTES[image.encoding]
    if image.step < row or len(image.data) < image.step * image.height:
        text = f"has {len(image.data)} bytes in rows of {image.step}"
        raise ValueError(f"the image {text}; {image.height} rows of {row} bytes are needed")
    order = ">" if image.is_bigendian else "<"
    kind = np.dtype(f"{order}{'u2' if image.encoding == '16UC1' else 'f4'}")
    lines = np.frombuffer(image.data, np.uint8, image.step * image.height).reshape(image.height, image.step)
    pixels = np.ascontiguousarray(lines[:, :row]).view(kind)
    if image.encoding == "16UC1":
        return np.asarray(pixels * np.float32(0.001), np.float32)
    return np.asarray(pixels, np.float32)


def lens_of(info: CameraInfo, shape: tuple[int, int]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the focal lengths and the principal point of a depth image, pixels.

    Args:
        info: Its calibration.
        shape: Rows and columns of the image.

    Raises:
        ValueError: The calibration cannot be true, is of another size, or has a distortion.
    """
    made = Pinhole.of(info.width, info.height, info.k, info.distortion_model, info.d)
    if (made.height, made.width) != shape:
        size = f"{made.width} x {made.height}"
        text = f"the image has {shape[1]} x {shape[0]} pixels, and its CameraInfo {size}"
        raise ValueError(f"{text}; take the calibration of this image")
    if np.any(made.distortion != 0.0):
        raise ValueError("the depth image is distorted (d is not 0); send the rectified one")
    k = made.matrix
    return (float(k[0, 0]), float(k[1, 1])), (float(k[0, 2]), float(k[1, 2]))


def points_of(cloud: PointCloud2) -> Floats:
    """Return the points of a cloud, (n, 3), m; those that are not finite stay.

    Args:
        cloud: The cloud.

    Raises:
        ValueError: It has no coordinates of 32 bits, or its size and its data do not fit.
    """
    count = cloud.width * cloud.height
    if count > CAMERA_PIXELS:
        raise ValueError(f"the cloud has {count} points; at most {CAMERA_PIXELS} are taken")
    at = {f.name: f.offset for f in cloud.fields if f.datatype == PointField.FLOAT32 and f.count <= 1}
    missing = [name for name in "xyz" if name not in at]
    if missing:
        raise ValueError(f"the cloud has no field {missing[0]!r} of FLOAT32; send x, y and z as such")
    step, needed = cloud.point_step, cloud.row_step * cloud.height
    if max(at[name] for name in "xyz") + 4 > step or cloud.row_step < step * cloud.width:
        text = f"has points of {step} bytes in rows of {cloud.row_step}"
        raise ValueError(f"the cloud {text}, which do not hold its fields and its {cloud.width} points a row")
    if len(cloud.data) < needed:
        raise ValueError(f"the cloud has {len(cloud.data)} bytes; {needed} are needed")
    if count == 0:
        return np.zeros((0, 3), np.float32)
    rows = np.frombuffer(cloud.data, np.uint8, needed).reshape(cloud.height, cloud.row_step)
    order = ">" if cloud.is_bigendian else "<"
    kind = np.dtype(
        {
            "names": list("xyz"),
            "formats": [f"{order}f4"] * 3,
            "offsets": [at[name] for name in "xyz"],
            "itemsize": step,
        }
    )
    points = np.ascontiguousarray(rows[:, : step * cloud.width]).reshape(-1).view(kind)
    return np.column_stack([points[name] for name in "xyz"]).astype(np.float32)
