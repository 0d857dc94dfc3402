"""Triangles to pixels on the CPU: nearest triangle per pixel, then light, soft shadow and smoothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from handiwork_core.process.kernel_cache import prepare

F = TypeVar("F", bound=Callable[..., Any])
CACHED = prepare(Path(__file__).parent, numba.config)
Floats = NDArray[np.float32]
Indices = NDArray[np.int32]
Image = NDArray[np.uint8]

SHADOW_STEP = 2.0
"""Distance of the shadow's samples in the light's picture, px: the softness of its edge."""
SHADOW_BIAS_M = 0.01


def kernel(function: F) -> F:
    """Compile a function on its first call, keep it on disk, run it without the GIL.

    Args:
        function: The function.
    """
    return cast(F, numba.njit(function, cache=CACHED, nogil=True, fastmath=True, error_model="numpy"))


@kernel
def fill(corners: Floats, first: int, nearness: Floats, index: Indices) -> None:
    """Draw triangles; the nearest wins.

    Args:
        corners: x, y [px] and nearness, which must be linear on the screen, (n, 3, 3); a nan leaves its triangle out.
        first: Index of the first triangle.
        nearness: Written: nearness of the nearest triangle, (h, w).
        index: Written: its index, (h, w).
    """
    height, width = nearness.shape
    for t in range(corners.shape[0]):
        ax, ay, az = corners[t, 0]
        bx, by, bz = corners[t, 1]
        cx, cy, cz = corners[t, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if not abs(area) > 1e-9:
            continue
        left = max(0, math.ceil(min(ax, bx, cx) - 0.5))
        right = min(width - 1, math.floor(max(ax, bx, cx) - 0.5))
        top = max(0, math.ceil(min(ay, by, cy) - 0.5))
        bottom = min(height - 1, math.floor(max(ay, by, cy) - 0.5))
        step_b, step_c = (cy - ay) / area, -(by - ay) / area
        for row in range(top, bottom + 1):
            x, y = left + 0.5 - ax, row + 0.5 - ay
            b = (x * (cy - ay) - y * (cx - ax)) / area
            c = (y * (bx - ax) - x * (by - ay)) / area
            for column in range(left, right + 1):
                if b >= 0.0 and c >= 0.0 and b + c <= 1.0:
                    near = az + b * (bz - az) + c * (cz - az)
                    if near > nearness[row, column]:
                        nearness[row, column] = near
                        index[row, column] = first + t
                b += step_b
                c += step_c


@kernel
def lit_share(x: float, y: float, near: float, light: Floats) -> float:
    """Return the share of nine samples around a place in the light's picture that nothing nearer to the light covers.

    Args:
        x: Place in the light's picture, px.
        y: Place in the light's picture, px.
        near: Nearness of the place to the light, m.
        light: Nearness of the nearest triangle to the light, (s, s), m.
    """
    size = light.shape[0]
    lit = 0.0
    for i in range(-1, 2):
        for j in range(-1, 2):
            column, row = int(x + SHADOW_STEP * i), int(y + SHADOW_STEP * j)
            inside = 0 <= column < size and 0 <= row < size
            if not inside or light[row, column] <= near:
                lit += 1.0
    return lit / 9.0


@kernel
def normal_at(x: float, y: float, corners: Floats, normals: Floats) -> tuple[float, float, float]:
    """Return the unit normal at a place of a triangle on the screen, between those of its corners.

    Args:
        x: Place in the picture, px.
        y: Place in the picture, px.
        corners: x, y [px] and nearness of the corners, (3, 3).
        normals: Unit normals at the corners, (3, 3).
    """
    ax, ay = corners[0, 0], corners[0, 1]
    ux, uy = corners[1, 0] - ax, corners[1, 1] - ay
    vx, vy = corners[2, 0] - ax, corners[2, 1] - ay
    area = ux * vy - uy * vx
    b = ((x - ax) * vy - (y - ay) * vx) / area
    c = ((y - ay) * ux - (x - ax) * uy) / area
    a = 1.0 - b - c
    nx = a * normals[0, 0] + b * normals[1, 0] + c * normals[2, 0]
    ny = a * normals[0, 1] + b * normals[1, 1] + c * normals[2, 1]
    nz = a * normals[0, 2] + b * normals[1, 2] + c * normals[2, 2]
    length = math.sqrt(nx * nx + ny * ny + nz * nz) + 1e-12
    return nx / length, ny / length, nz / length


@kernel
def shade(
    image: Image,
    smoothing: int,
    view: Floats,
    sun: Floats,
    tones: Floats,
    nearness: Floats,
    index: Indices,
    corners: Floats,
    normals: Floats,
    colors: Floats,
    light: Floats,
) -> None:
    """Colour a picture from layers that are ``smoothing`` times as wide and high.

    Args:
        image: Written: the picture, (h, w, 3), sRGB.
        smoothing: Samples per pixel, along each side.
        view: Eye, right, up, forward, (focal length [px], 0, 0), (5, 3).
        sun: Direction to the light, then two rows that lead from a point to x, y [px] and a row for its nearness in the
            light's picture; ``sun[4]`` has the constants of the three rows, (5, 3).
        tones: Linear: sunlight, light from above, light from below, horizon, and (height of the ground [m], distance at
            which it fades [m], 0), (5, 3).
        nearness: Nearness of the nearest triangle to the camera, 1/m.
        index: Index of that triangle, -1 for none.
        corners: x, y [px] and nearness in the camera's picture, (n, 3, 3).
        normals: Unit normals at the corners in ``world``, (n, 3, 3).
        colors: Linear; the last row is the ground's, (n + 1, 3).
        light: Nearness of the nearest triangle to the light, (s, s), m.
    """
    height, width = nearness.shape
    for row in range(image.shape[0]):
        for column in range(image.shape[1]):
            red = green = blue = 0.0
            for sub in range(smoothing * smoothing):
                i = row * smoothing + sub // smoothing
                j = column * smoothing + sub % smoothing
                x, y = j + 0.5, i + 0.5
                h, v = (x - 0.5 * width) / view[4, 0], (0.5 * height - y) / view[4, 0]
                dx = view[3, 0] + h * view[1, 0] + v * view[2, 0]
                dy = view[3, 1] + h * view[1, 1] + v * view[2, 1]
                dz = view[3, 2] + h * view[1, 2] + v * view[2, 2]
                t = index[i, j]
                nx, ny, nz, fog = 0.0, 0.0, 1.0, 0.0
                if t >= 0:
                    depth = 1.0 / nearness[i, j]
                    nx, ny, nz = normal_at(x, y, corners[t], normals[t])
                else:
                    t = colors.shape[0] - 1
                    depth = (tones[4, 0] - view[0, 2]) / min(dz, -1e-6)
                    away = depth / tones[4, 1]
                    fog = 1.0 - math.exp(-away * away) if dz < 0.0 else 1.0
                share = 0.0
                facing = nx * sun[0, 0] + ny * sun[0, 1] + nz * sun[0, 2]
                if facing > 0.0 and fog < 0.99:
                    px = view[0, 0] + depth * dx + SHADOW_BIAS_M * nx
                    py = view[0, 1] + depth * dy + SHADOW_BIAS_M * ny
                    pz = view[0, 2] + depth * dz + SHADOW_BIAS_M * nz
                    sx = sun[1, 0] * px + sun[1, 1] * py + sun[1, 2] * pz + sun[4, 0]
                    sy = sun[2, 0] * px + sun[2, 1] * py + sun[2, 2] * pz + sun[4, 1]
                    sz = sun[3, 0] * px + sun[3, 1] * py + sun[3, 2] * pz + sun[4, 2]
                    share = facing * lit_share(sx, sy, sz, light)
                up = 0.5 + 0.5 * nz
                red += _tone(0, colors[t, 0], share, up, fog, dz, tones)
                green += _tone(1, colors[t, 1], share, up, fog, dz, tones)
                blue += _tone(2, colors[t, 2], share, up, fog, dz, tones)
            count = smoothing * smoothing
            image[row, column, 0] = _byte(red / count)
            image[row, column, 1] = _byte(green / count)
            image[row, column, 2] = _byte(blue / count)


@kernel
def _tone(
    channel: int, color: float, share: float, up: float, fog: float, slope: float, tones: Floats
) -> float:
    ambient = up * tones[1, channel] + (1.0 - up) * tones[2, channel]
    surface = color * (share * tones[0, channel] + ambient)
    sky = tones[3, channel] * (1.0 - 0.35 * min(max(slope, 0.0), 1.0))
    return float(surface * (1.0 - fog) + sky * fog)


@kernel
def _byte(linear: float) -> int:
    return int(255.0 * min(max(linear, 0.0), 1.0) ** (1.0 / 2.2) + 0.5)
