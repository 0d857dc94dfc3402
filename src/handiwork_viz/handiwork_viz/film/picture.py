"""One instant as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Pose

from .camera import CAMERA, SUN, Camera, Sun
from .rasterizer import Floats, Image, Indices, fill, shade
from .solids import BodyTriangles, joined

SMOOTHING = 2
"""Samples per pixel, along each side."""
GROUND = (0.60, 0.62, 0.65)
HORIZON = (0.86, 0.90, 0.94)
SUNLIGHT, FROM_ABOVE, FROM_BELOW = (0.86, 0.82, 0.76), (0.36, 0.39, 0.44), (0.17, 0.16, 0.15)
FADE_M = 4.6


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Triangles drawn so far, seen from the camera and from the light.

    Attributes:
        nearness: Nearness of the nearest triangle to the camera, (h, w), 1/m.
        index: Index of that triangle, -1 for none, (h, w).
        light: Nearness of the nearest triangle to the light, (s, s), m.
        corners: x, y [px] and nearness in the camera's picture, (n, 3, 3).
        normals: Unit normals at the corners in ``world``, (n, 3, 3).
        colors: Linear, (n, 3).
    """

    nearness: Floats
    index: Indices
    light: Floats
    corners: Floats
    normals: Floats
    colors: Floats


class Studio:
    """Draws the same bodies again and again; those that never move are drawn once."""

    def __init__(
        self,
        moving: Mapping[str, BodyTriangles],
        still: BodyTriangles,
        ground_z: float,
        size_px: tuple[int, int],
        camera: Camera = CAMERA,
        sun: Sun = SUN,
    ) -> None:
        self._moving, self._camera, self._sun, self._ground_z = dict(moving), camera, sun, ground_z
        self._width, self._height = size_px[0] * SMOOTHING, size_px[1] * SMOOTHING
        empty = np.zeros((0, 3, 3), dtype=np.float32)
        ground = np.array([GROUND], dtype=np.float32) ** np.float32(2.2)
        blank = Layer(
            np.zeros((self._height, self._width), dtype=np.float32),
            np.full((self._height, self._width), -1, dtype=np.int32),
            np.full((sun.size_px, sun.size_px), -1e9, dtype=np.float32),
            empty,
            empty,
            np.empty((0, 3), dtype=np.float32),
        )
        self._ground = ground
        self._still = self._with(blank, still)

    def take(self, poses: Mapping[str, Pose]) -> Image:
        """Return the picture with each moving body that has a pose.

        Args:
            poses: Poses of bodies in ``world``, by name; bodies without a pose are left out.

        Returns:
            (h, w, 3), sRGB.
        """
        bodies = [solid.moved(poses[name]) for name, solid in self._moving.items() if name in poses]
        layer = self._with(self._still, joined(bodies))
        image = np.empty((self._height // SMOOTHING, self._width // SMOOTHING, 3), dtype=np.uint8)
        shade(
            image,
            SMOOTHING,
            self._camera.view(self._height).astype(np.float32),
            self._sun.rows().astype(np.float32),
            self._tones(),
            layer.nearness,
            layer.index,
            layer.corners,
            layer.normals,
            np.concatenate([layer.colors, self._ground]),
            layer.light,
        )
        return image

    def _with(self, below: Layer, solid: BodyTriangles) -> Layer:
        seen = self._camera.project(solid.corners, self._width, self._height).astype(np.float32)
        lit = self._sun.project(solid.corners).astype(np.float32)
        nearness, index, light = below.nearness.copy(), below.index.copy(), below.light.copy()
        fill(seen, len(below.corners), nearness, index)
        fill(lit, 0, light, np.empty_like(light, dtype=np.int32))
        return Layer(
            nearness,
            index,
            light,
            np.concatenate([below.corners, seen]),
            np.concatenate([below.normals, solid.normals.astype(np.float32)]),
            np.concatenate([below.colors, solid.colors.astype(np.float32)]),
        )

    def _tones(self) -> Floats:
        horizon = np.array(HORIZON) ** 2.2
        rows = [SUNLIGHT, FROM_ABOVE, FROM_BELOW, horizon, (self._ground_z, FADE_M, 0.0)]
        return np.array(rows, dtype=np.float32)
