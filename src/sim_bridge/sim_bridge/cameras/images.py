"""Images as sensors deliver them: noise, invalid depths as REP-118 has them, and clouds. No ROS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handiwork_core.cameras.camera import CameraNoise

Pixels = NDArray[np.uint8]
Depths = NDArray[np.float32]

FARTHEST_MM = 65_535
"""Greatest depth of an image in millimetres."""
POINT_STEP = 16
"""Bytes of a point of a cloud: x, y, z and the colour, 4 each."""


def noisy_color(color: Pixels, noise: CameraNoise, rng: np.random.Generator) -> Pixels:
    """Return an image with noise.

    Args:
        color: The image, (height, width, 3).
        noise: The noise.
        rng: Source of the noise.
    """
    if noise.intensity == 0.0:
        return color
    drawn = rng.standard_normal(color.shape, dtype=np.float32) * np.float32(noise.intensity)
    return np.clip(np.rint(color + drawn), 0, 255).astype(np.uint8)


def noisy_depth(depth: Depths, noise: CameraNoise, rng: np.random.Generator) -> Depths:
    """Return a depth image with noise; what is out of range stays so.

    Args:
        depth: The depths, (height, width), m.
        noise: The noise.
        rng: Source of the noise.
    """
    if noise.depth == 0.0 and noise.depth_quadratic == 0.0:
        return depth
    deviation = noise.depth + noise.depth_quadratic * np.where(np.isfinite(depth), depth, 0.0) ** 2
    drawn = rng.standard_normal(depth.shape, dtype=np.float32) * deviation
    return np.asarray(depth + drawn, dtype=np.float32)


def in_millimetres(depth: Depths) -> NDArray[np.uint16]:
    """Return a depth image in millimetres, where 0 means that there is no depth.

    Args:
        depth: The depths, (height, width), m; infinite beyond the range.
    """
    millimetres = np.rint(np.where(np.isfinite(depth), depth, 0.0) * 1e3)
    fits = (millimetres > 0) & (millimetres <= FARTHEST_MM)
    return np.where(fits, millimetres, 0).astype(np.uint16)


def cloud(rays: NDArray[np.float32], depth: Depths, color: Pixels) -> bytes:
    """Return the points of a depth image as PointCloud2 has them: x, y, z and ``rgb``, row by row.

    Args:
        rays: Points of all pixels at a depth of 1 m, (height, width, 3), m.
        depth: The depths, (height, width), m; where they are not finite the point is NaN.
        color: The colours, (height, width, 3).
    """
    kept = np.where(np.isfinite(depth), depth, np.float32(np.nan))
    rows = np.empty((*depth.shape, 4), dtype="<f4")
    rows[..., :3] = rays * kept[..., None]
    channels = color.astype(np.uint32)
    packed = (channels[..., 0] << 16) | (channels[..., 1] << 8) | channels[..., 2]
    rows[..., 3] = packed.astype("<u4").view("<f4")
    return rows.tobytes()


class FrameSchedule:
    """Decides which measured states become images, at a rate in their own time.

    Args:
        rate_hz: Images per second, Hz.
    """

    def __init__(self, rate_hz: float) -> None:
        self._period_s, self._next_s, self._last_s = 1.0 / rate_hz, -np.inf, -np.inf

    def due(self, stamp_s: float) -> bool:
        """Check whether an image of this time is due, and count it as made.

        Args:
            stamp_s: Time of the state, s; when it goes back, the schedule begins again.
        """
        if stamp_s == self._last_s:
            return False
        if stamp_s < self._last_s:
            self._next_s = -np.inf
        self._last_s = stamp_s
        if stamp_s < self._next_s - 1e-6:
            return False
        # From the time that was due, so that the rate holds on average, unless more than one image was missed.
        begin = self._next_s if stamp_s - self._next_s < self._period_s else stamp_s
        self._next_s = begin + self._period_s
        return True
