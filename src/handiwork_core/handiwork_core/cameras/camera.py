"""A camera as a value: its place, its pinhole model, and its noise.

Frames follow REP-103: ``<name>_link`` has x forward, y to the left, z up; ``<name>_optical_frame`` has z forward, x to
the right, y down. Pixel (0, 0) is the centre of the upper left pixel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

LINK_T_OPTICAL = Pose.of(
    (0.0, 0.0, 0.0),
    Rotation.from_matrix([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]),
)
"""Pose of the optical frame in the link frame of any camera."""


class DepthEncoding(Enum):
    """The encoding of a depth image, as REP-118 has it."""

    METRES = "32FC1"
    MILLIMETRES = "16UC1"


@dataclass(frozen=True, slots=True)
class CameraNoise:
    """Normally distributed noise of each pixel, drawn from a seed.

    Attributes:
        intensity: Standard deviation of each colour channel, in steps of 0 to 255.
        depth: Standard deviation of the depth at 0 m, m.
        depth_quadratic: Growth of that with the square of the depth, 1/m.
    """

    intensity: float = 0.0
    depth: float = 0.0
    depth_quadratic: float = 0.0

    def __post_init__(self) -> None:
        for key in ("intensity", "depth", "depth_quadratic"):
            if getattr(self, key) < 0.0:
                raise ValueError(f"{key}: is {getattr(self, key):g}; make it 0 or more")


@dataclass(frozen=True, slots=True)
class Intrinsics:
    """A pinhole without distortion.

    Attributes:
        width: Columns of the image.
        height: Rows of the image.
        focal_px: Focal lengths along x and y, pixels.
        centre_px: Principal point, pixels.
    """

    width: int
    height: int
    focal_px: tuple[float, float]
    centre_px: tuple[float, float]

    @classmethod
    def from_fov(cls, width: int, height: int, fov_rad: float) -> Intrinsics:
        """Return a camera with square pixels that looks through the centre of its image.

        Args:
            width: Columns of the image.
            height: Rows of the image.
            fov_rad: Horizontal angle of view, rad.
        """
        focal = width / (2.0 * math.tan(fov_rad / 2.0))
        return cls(width, height, (focal, focal), ((width - 1) / 2.0, (height - 1) / 2.0))

    def matrix(self) -> Array:
        """Return the camera matrix K, (3, 3)."""
        (fx, fy), (cx, cy) = self.focal_px, self.centre_px
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])

    def project(self, points: Array) -> Array:
        """Return the pixels of points.

        Args:
            points: Points in the optical frame, (n, 3), m, before the camera.

        Returns:
            Columns and rows, (n, 2), pixels.
        """
        scaled: Array = points[:, :2] / points[:, 2:] * np.array(self.focal_px) + np.array(self.centre_px)
        return scaled

    def rays(self) -> Array:
        """Return the points of all pixels at a depth of 1 m, (height, width, 3), m, in the optical frame."""
        rows, columns = np.mgrid[0 : self.height, 0 : self.width]
        (fx, fy), (cx, cy) = self.focal_px, self.centre_px
        return np.stack([(columns - cx) / fx, (rows - cy) / fy, np.ones(rows.shape)], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A camera in the world or on a link of the robot.

    Attributes:
        name: Its name; the frames and topics are called by it.
        link: Link of the robot that carries it; empty: it is fixed in ``world``.
        parent_T_camera: Pose of ``<name>_link`` in that link or in ``world``.
        intrinsics: Its pinhole model.
        rate_hz: Images per second of simulated time, Hz.
        range_m: The least and the greatest depth that it sees, m.
        noise: Noise of its images.
        depth_encoding: Encoding of its depth images.
    """

    name: str
    link: str
    parent_T_camera: Pose
    intrinsics: Intrinsics
    rate_hz: float
    range_m: tuple[float, float]
    noise: CameraNoise
    depth_encoding: DepthEncoding

    @property
    def link_frame(self) -> str:
        """Name of the frame with x forward and z up."""
        return f"{self.name}_link"

    @property
    def optical_frame(self) -> str:
        """Name of the frame with z forward and y down."""
        return f"{self.name}_optical_frame"
