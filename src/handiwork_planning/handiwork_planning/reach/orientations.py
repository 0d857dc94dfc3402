"""Orientations of a tool that cover all approach directions evenly."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.model.geometry import Array, Rotation

GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


def sphere_directions(count: int) -> Array:
    """Return unit vectors spread evenly over the sphere, on a Fibonacci lattice. The first one points down.

    Each direction is in the middle of a belt of equal area (Gonzalez, "Measurement of areas on a sphere using Fibonacci
    and latitude-longitude lattices", 2010). The lattice is then turned so that its lowest direction is exactly -z,
    because grasps from above are the most frequent.

    Args:
        count: Number of the directions, at least 1.

    Returns:
        Unit vectors, (count, 3).
    """
    rank = np.arange(count)
    z = -1.0 + (2.0 * rank + 1.0) / count
    radius, angle = np.sqrt(1.0 - z * z), GOLDEN_ANGLE * rank
    lattice = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return np.asarray(lattice @ _turn(lattice[0], np.array([0.0, 0.0, -1.0])).T)


def tool_rotations(directions: Array, rolls: int, approach_axis: int) -> list[list[Rotation]]:
    """Return the orientations whose approach axis has given directions, at even angles about it.

    Args:
        directions: Unit vectors along which the tool moves towards the object, (d, 3).
        rolls: Number of angles about each direction.
        approach_axis: Index of the tool's axis that points along the direction: 0, 1 or 2.

    Returns:
        One list of ``rolls`` rotations for each direction.
    """
    axis = np.eye(3)[approach_axis]
    return [
        [
            Rotation.from_matrix(_turn(axis, direction))
            @ Rotation.from_axis_angle(axis, 2.0 * math.pi * roll / rolls)
            for roll in range(rolls)
        ]
        for direction in directions
    ]


def _turn(source: Array, target: Array) -> Array:
    """Return the shortest rotation from a unit vector to another as a matrix, (3, 3), by Rodrigues' formula."""
    cross, cosine = np.cross(source, target), float(source @ target)
    if cosine < -1.0 + 1e-9:  # half a turn about any axis across
        across = np.cross(source, np.eye(3)[int(np.argmin(np.abs(source)))])
        across /= np.linalg.norm(across)
        return np.asarray(2.0 * np.outer(across, across) - np.eye(3))
    skew = np.array([[0.0, -cross[2], cross[1]], [cross[2], 0.0, -cross[0]], [-cross[1], cross[0], 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine))
