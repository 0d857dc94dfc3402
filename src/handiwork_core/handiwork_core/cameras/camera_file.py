"""A camera as written under ``cameras:`` of a scene file or of ``robot.yaml``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.intake.limits import CAMERA_PIXELS, CAMERAS
from handiwork_core.model.geometry import Pose, Rotation

from .camera import Camera, CameraNoise, DepthEncoding, Intrinsics

Row = tuple[float, float, float]
FASTEST_HZ = 120.0
WIDEST_RAD = 3.0


@dataclass(frozen=True, slots=True)
class CameraFile:
    """One camera as written.

    Attributes:
        link: Link of the robot that carries it; empty, in a scene file only: it is fixed in ``world``.
        position: Its place in ``world``, or in its link, m.
        look_at: The point that it looks at, in the same frame, m, with the z of that frame up in the image; or
        rpy: roll, pitch and yaw of its link frame (x forward, z up), rad; neither: not turned.
        width: Columns of the image.
        height: Rows of the image.
        fov: Horizontal angle of view, rad, for square pixels and a centred image; or
        focal: focal lengths along x and y, pixels, with
        centre: the principal point, pixels; without it the centre of the image.
        rate: Images per second, Hz.
        range: The least and the greatest depth that it sees, m.
        noise: Noise of the images.
        depth_encoding: ``32FC1``, metres, or ``16UC1``, millimetres.
    """

    link: str = ""
    position: Row = (0.0, 0.0, 0.0)
    look_at: Row | None = None
    rpy: Row | None = None
    width: int = 640
    height: int = 480
    fov: float | None = None
    focal: tuple[float, float] | None = None
    centre: tuple[float, float] | None = None
    rate: float = 10.0
    range: tuple[float, float] = (0.05, 10.0)
    noise: CameraNoise = field(default_factory=CameraNoise)
    depth_encoding: str = DepthEncoding.METRES.value

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 8 or self.width * self.height > CAMERA_PIXELS:
            text = f"is {self.width} x {self.height}; give 8 or more each, and {CAMERA_PIXELS} pixels at most"
            raise ValueError(f"width: the image {text}")
        if (self.fov is None) == (self.focal is None):
            raise ValueError("needs one of fov and focal; write exactly one of them")
        if self.fov is not None and not 0.0 < self.fov <= WIDEST_RAD:
            raise ValueError(f"fov: is {self.fov:g} rad; give more than 0, and {WIDEST_RAD:g} at most")
        if self.focal is not None and min(self.focal) <= 0.0:
            raise ValueError(f"focal: is {list(self.focal)}; give pixels, more than 0")
        if self.centre is not None and self.focal is None:
            raise ValueError("centre: belongs to focal; add that, or take centre away")
        if not 0.0 < self.rate <= FASTEST_HZ:
            raise ValueError(f"rate: is {self.rate:g} Hz; give more than 0, and {FASTEST_HZ:g} at most")
        if not 0.0 < self.range[0] < self.range[1]:
            raise ValueError(f"range: is {list(self.range)}; write the least depth, more than 0, first")
        encodings = [one.value for one in DepthEncoding]
        if self.depth_encoding not in encodings:
            raise ValueError(
                f"depth_encoding: is {self.depth_encoding!r}; write one of {', '.join(encodings)}"
            )
        if self.look_at is not None and self.rpy is not None:
            raise ValueError("has both look_at and rpy; keep one")
        self.pose()

    def pose(self) -> Pose:
        """Return the pose of the camera's link frame in its parent.

        Raises:
            ValueError: The camera stands where it looks at, or looks along the z axis of its parent.
        """
        if self.look_at is None:
            return Pose.of(self.position, Rotation.from_rpy(*(self.rpy or (0.0, 0.0, 0.0))))
        forward = np.subtract(self.look_at, self.position)
        left = np.cross((0.0, 0.0, 1.0), forward)
        if np.linalg.norm(left) < 1e-6 * max(1.0, float(np.linalg.norm(forward))):
            text = f"look_at: {list(self.look_at)} is along z from {list(self.position)}"
            raise ValueError(f"{text}, which leaves the turn of the image open; write rpy instead")
        axes = [forward, left, np.cross(forward, left)]
        return Pose.of(
            self.position,
            Rotation.from_matrix(np.stack([a / np.linalg.norm(a) for a in axes], axis=1)),
        )

    def build(self, name: str) -> Camera:
        """Return the camera as a value.

        Args:
            name: Its name.
        """
        return Camera(
            name, self.link, self.pose(), self._intrinsics(), self.rate, self.range, self.noise,
            DepthEncoding(self.depth_encoding),
        )  # fmt: skip

    def _intrinsics(self) -> Intrinsics:
        if self.focal is None:
            return Intrinsics.from_fov(self.width, self.height, self.fov or math.pi / 3.0)
        centre = self.centre or ((self.width - 1) / 2.0, (self.height - 1) / 2.0)
        return Intrinsics(self.width, self.height, self.focal, centre)


def check_camera_names(cameras: Mapping[str, object]) -> None:
    """Check the names and the number of the cameras of one file.

    Args:
        cameras: Cameras by name.

    Raises:
        ValueError: A name is no name of a frame and a topic, or there are too many cameras.
    """
    if len(cameras) > CAMERAS:
        raise ValueError(f"cameras: has {len(cameras)}; at most {CAMERAS} are taken")
    for name in cameras:
        if not (name.isascii() and name.isidentifier()):
            raise ValueError(f"cameras: {name!r} is no name of a topic; use letters, digits and _")
