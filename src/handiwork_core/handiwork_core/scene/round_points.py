"""Points whose convex hulls approximate round shapes."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array

ROUND_STEPS = 32
"""Corners of the polygon that approximates a circle: at most 0.5 % too thin."""


def ring(radius: float) -> Array:
    """Return points on a circle about z.

    Args:
        radius: Radius, m.

    Returns:
        Points, (n, 3), m.
    """
    angle = np.arange(ROUND_STEPS) * (2.0 * np.pi / ROUND_STEPS)
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(ROUND_STEPS)], axis=1)


def ball(radius: float, half_length: float) -> Array:
    """Return points on a capsule along z, or on a ball.

    Args:
        radius: Radius, m.
        half_length: Half length of the capsule's middle line, m; 0 for a ball.

    Returns:
        Points, (n, 3), m.
    """
    rings = []
    for tilt in np.linspace(0.0, np.pi / 2, ROUND_STEPS // 4 + 1):
        circle = ring(radius * np.cos(tilt)) + (0.0, 0.0, half_length + radius * np.sin(tilt))
        rings += [circle, circle * (1.0, 1.0, -1.0)]
    return np.vstack(rings)
