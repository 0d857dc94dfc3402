"""Where the picture is taken from, and where the light comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import Array, frozen

NEAR_M = 0.05


def look(direction: ArrayLike) -> Array:
    """Rows right, up and forward (3, 3) of someone who looks along ``direction`` with the head upright."""
    forward = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(right, forward), forward])


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A pinhole camera at ``eye`` (3,) [m] in ``world`` that looks at ``target``, ``height_deg`` of the view high."""

    eye: Array
    target: Array
    height_deg: float = 27.0

    def view(self, height_px: int) -> Array:
        """Eye, right, up, forward, focal length [px]: (5, 3)."""
        focal = 0.5 * height_px / np.tan(np.radians(self.height_deg) / 2.0)
        return np.vstack([self.eye, look(self.target - self.eye), [focal, 0.0, 0.0]])

    def project(self, points: Array, width_px: int, height_px: int) -> Array:
        """x, y [px] and nearness [1/m] of points (..., 3); nan where they are not before the camera."""
        view = self.view(height_px)
        seen = (points - self.eye) @ view[1:4].T
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.where(seen[..., 2] > NEAR_M, 1.0 / seen[..., 2], np.nan)
        x = 0.5 * width_px + view[4, 0] * seen[..., 0] * near
        y = 0.5 * height_px - view[4, 0] * seen[..., 1] * near
        return np.stack([x, y, near], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Sun:
    """Parallel light from ``direction`` (3,); its picture, ``size_px`` wide, covers ``reach_m`` around ``center``."""

    direction: Array
    center: Array
    reach_m: float = 1.2
    size_px: int = 720

    def rows(self) -> Array:
        """Unit direction to the light, three rows and their constants that lead to x, y [px] and nearness: (5, 3)."""
        axes = look(-self.direction)
        scale = 0.5 * self.size_px / self.reach_m
        rows = np.array([scale * axes[0], -scale * axes[1], -axes[2]])
        offset = np.array([0.5 * self.size_px, 0.5 * self.size_px, 0.0]) - rows @ self.center
        return np.vstack([-axes[2], rows, offset])

    def project(self, points: Array) -> Array:
        """x, y [px] and nearness [m] of points (..., 3)."""
        rows = self.rows()
        return np.asarray(points @ rows[1:4].T + rows[4])


CAMERA = Camera(frozen([2.05, -1.75, 1.22]), frozen([0.40, -0.06, 0.20]))
SUN = Sun(frozen([0.35, -0.55, 1.0]), frozen([0.4, 0.0, 0.1]))
