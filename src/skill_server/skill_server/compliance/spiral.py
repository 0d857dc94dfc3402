"""The spiral of a search: no place within its radius is farther from it than half of its pitch."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.model.geometry import Array, Pose

STEP_M = 0.0005
"""Distance of two points, m; near the middle an eighth of a turn."""


def spiral(radius_m: float, pitch_m: float) -> Array:
    """Return the points of an Archimedean spiral, r = pitch * angle / (2 pi), from its middle outwards.

    Args:
        radius_m: Radius within which no place is farther from the spiral than half of its pitch, m.
        pitch_m: Distance of two turns, m.

    Returns:
        Points in a plane, (n, 2), m, without the middle.
    """
    per_rad = pitch_m / (2.0 * math.pi)
    angle, points = 0.0, list[tuple[float, float]]()
    while per_rad * angle < radius_m + pitch_m / 2.0:
        angle += min(STEP_M / math.hypot(per_rad * angle, per_rad), math.pi / 4.0)
        points.append((per_rad * angle * math.cos(angle), per_rad * angle * math.sin(angle)))
    return np.array(points)


def spiral_poses(here: Pose, way: Array, radius_m: float, pitch_m: float) -> tuple[Pose, ...]:
    """Return the poses of a hand that goes along a spiral about where it is, without turning.

    Args:
        here: world_T_ee, the middle.
        way: Normal of the spiral's plane in ``world``, (3,), of length 1.
        radius_m: Radius of the spiral, m.
        pitch_m: Distance of two turns, m.
    """
    across = np.cross(way, np.eye(3)[int(np.argmin(np.abs(way)))])
    across = across / np.linalg.norm(across)
    plane = np.stack([across, np.cross(way, across)])
    return tuple(
        Pose.of(here.translation_m + point @ plane, here.rotation) for point in spiral(radius_m, pitch_m)
    )
