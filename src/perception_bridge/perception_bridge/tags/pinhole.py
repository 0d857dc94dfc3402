"""The calibration of a camera, checked, as OpenCV takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

MODELS = {"": (0,), "plumb_bob": (0, 4, 5), "rational_polynomial": (8, 12, 14)}
"""Distortion models, and the numbers of coefficients that they have."""


@dataclass(frozen=True, slots=True, eq=False)
class Pinhole:
    """A camera with distortion.

    Attributes:
        width: Columns of the image.
        height: Rows of the image.
        matrix: Camera matrix K, (3, 3), pixels.
        distortion: Coefficients in OpenCV's order, (n,).
    """

    width: int
    height: int
    matrix: Array
    distortion: Array

    @classmethod
    def of(cls, width: int, height: int, k: Sequence[float], model: str, d: Sequence[float]) -> Pinhole:
        """Return the camera of a sensor_msgs/CameraInfo.

        Args:
            width: Columns of the image.
            height: Rows of the image.
            k: Camera matrix by rows, (9,), pixels.
            model: Distortion model.
            d: Its coefficients.

        Raises:
            ValueError: The calibration cannot be true; the message says why.
        """
        matrix, distortion = np.array(k, dtype=float).reshape(3, 3), np.array(d, dtype=float)
        if not (np.isfinite(matrix).all() and np.isfinite(distortion).all()):
            raise ValueError("k or d has numbers that are not finite; calibrate the camera")
        if min(matrix[0, 0], matrix[1, 1]) <= 0.0:
            raise ValueError(
                f"k has the focal lengths {matrix[0, 0]:g} and {matrix[1, 1]:g}; calibrate the camera"
            )
        if model not in MODELS:
            known = ", ".join(name for name in MODELS if name)
            raise ValueError(
                f"distortion_model {model[:80]!r} is not known; rectify the image, or use {known}"
            )
        if len(distortion) not in MODELS[model]:
            text = " or ".join(str(count) for count in MODELS[model])
            raise ValueError(f"d has {len(distortion)} coefficients, and {model or 'no model'} has {text}")
        return cls(width, height, matrix, distortion)
