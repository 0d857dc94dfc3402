"""Points whose hulls stand for round shapes."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array

ROUND_STEPS = 32
"""Corners of the polygon that stands for a circle: 0.5 % too thin at worst."""


def ring(radius: float) -> Array:
    """Points (n, 3) on a circle about z."""
    angle = np.arange(ROUND_STEPS) * (2.0 * np.pi / ROUND_STEPS)
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(ROUND_STEPS)], axis=1)


def ball(radius: float, half_length: float) -> Array:
    """Points (n, 3) on a capsule along z, whose middle line reaches ``half_length`` up and down; of 0, on a ball."""
    rings = []
    for tilt in np.linspace(0.0, np.pi / 2, ROUND_STEPS // 4 + 1):
        circle = ring(radius * np.cos(tilt)) + (0.0, 0.0, half_length + radius * np.sin(tilt))
        rings += [circle, circle * (1.0, 1.0, -1.0)]
    return np.vstack(rings)
