"""The camera and the light of a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import Array, frozen

NEAR_M = 0.05


def look(direction: ArrayLike) -> Array:
    """Return the rows right, up and forward (3, 3) of a view along a direction, with the head upright.

    Args:
        direction: Direction of the view, (3,), not vertical.
    """
    forward = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(right, forward), forward])


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A pinhole camera.

    Attributes:
        eye: Its place in ``world``, (3,), m.
        target: The point at the centre of the picture in ``world``, (3,), m.
        height_deg: Vertical field of view, deg.
    """

    eye: Array
    target: Array
    height_deg: float = 27.0

    def view(self, height_px: int) -> Array:
        """Return eye, right, up, forward and (focal length [px], 0, 0), (5, 3).

        Args:
            height_px: Height of the picture, px.
        """
        focal = 0.5 * height_px / np.tan(np.radians(self.height_deg) / 2.0)
        return np.vstack([self.eye, look(self.target - self.eye), [focal, 0.0, 0.0]])

    def project(self, points: Array, width_px: int, height_px: int) -> Array:
        """Return x, y [px] and nearness [1/m] of points, (..., 3); nan if a point is not before the camera.

        Args:
            points: Points in ``world``, (..., 3), m.
            width_px: Width of the picture, px.
            height_px: Height of the picture, px.
        """
        view = self.view(height_px)
        seen = (points - self.eye) @ view[1:4].T
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.where(seen[..., 2] > NEAR_M, 1.0 / seen[..., 2], np.nan)
        x = 0.5 * width_px + view[4, 0] * seen[..., 0] * near
        y = 0.5 * height_px - view[4, 0] * seen[..., 1] * near
        return np.stack([x, y, near], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Sun:
    """Parallel light, with a picture of the scene seen along it.

    Attributes:
        direction: Direction to the light, (3,).
        center: Centre of its picture in ``world``, (3,), m.
        reach_m: Width of its picture, m.
        size_px: Width of its picture, px.
    """

    direction: Array
    center: Array
    reach_m: float = 1.2
    size_px: int = 720

    def rows(self) -> Array:
        """Return the unit direction to the light, and rows and constants that give x, y [px] and nearness, (5, 3)."""
        axes = look(-self.direction)
        scale = 0.5 * self.size_px / self.reach_m
        rows = np.array([scale * axes[0], -scale * axes[1], -axes[2]])
        offset = np.array([0.5 * self.size_px, 0.5 * self.size_px, 0.0]) - rows @ self.center
        return np.vstack([-axes[2], rows, offset])

    def project(self, points: Array) -> Array:
        """Return x, y [px] and nearness [m] of points, (..., 3).

        Args:
            points: Points in ``world``, (..., 3), m.
        """
        rows = self.rows()
        return np.asarray(points @ rows[1:4].T + rows[4])


CAMERA = Camera(frozen([2.05, -1.75, 1.22]), frozen([0.40, -0.06, 0.20]))
SUN = Sun(frozen([0.35, -0.55, 1.0]), frozen([0.4, 0.0, 0.1]))
