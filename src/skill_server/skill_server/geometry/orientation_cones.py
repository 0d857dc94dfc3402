"""Orientation constraints: an axis of the EE within a range of angles of a direction; as mask and sampler.

The angle is that from the *named* direction: ("z", "downward", 0, 30) keeps hands that point
within 30 degrees of straight down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose, Rotation

Mask = NDArray[np.bool_]

EE_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
DIRECTIONS = {
    "forward": (1.0, 0.0, 0.0),
    "backward": (-1.0, 0.0, 0.0),
    "leftward": (0.0, 1.0, 0.0),
    "rightward": (0.0, -1.0, 0.0),
    "upward": (0.0, 0.0, 1.0),
    "downward": (0.0, 0.0, -1.0),
}
"""Unit vectors in the filter's frame; in the arm's base as in REP-103."""
FRAMES = ("", "world", "container")
"""The frames of a filter: the arm's base, the world, or the container, where there is one."""

ROUND_OFF = 1e-12
"""Slack of the cosines, so that an axis exactly on a limit is inside."""


@dataclass(frozen=True, slots=True)
class OrientationFilter:
    """An orientation constraint, as the message of that name.

    Attributes:
        ee_axis: Axis of the EE: x, y or z.
        direction: Named direction of the frame, one of ``DIRECTIONS``.
        min_angle_deg: One limit of the angle, deg; the two limits may be in either order.
        max_angle_deg: The other limit, deg.
        frame: One of ``FRAMES``.
    """

    ee_axis: str
    direction: str
    min_angle_deg: float = 0.0
    max_angle_deg: float = 180.0
    frame: str = ""

    def __str__(self) -> str:
        low, high = sorted((self.min_angle_deg, self.max_angle_deg))
        of = f" of the {self.frame}" if self.frame else ""
        return f"{self.ee_axis} axis {low:g} to {high:g} deg from {self.direction}{of}"


@dataclass(frozen=True, slots=True, eq=False)
class Cone:
    """A range of angles between a vector of the EE and a vector of the arm's base.

    Attributes:
        ee_vector: Vector in the EE frame, (3,).
        base_vector: Vector in the arm's base, (3,).
        min_angle_deg: Least angle between them, deg.
        max_angle_deg: Greatest angle, deg.
        label: Name in messages.
        field_name: Field of the goal.
    """

    ee_vector: Array
    base_vector: Array
    min_angle_deg: float
    max_angle_deg: float
    label: str
    field_name: str = "orientation_filters"

    def mask(self, base_R_ee: Array) -> Mask:
        """Check which rotations satisfy the constraint, limits included.

        Args:
            base_R_ee: Rotations, (n, 3, 3).

        Returns:
            Mask, (n,).
        """
        a, v = unit(self.ee_vector), unit(self.base_vector)
        cosine = np.clip((base_R_ee @ a) @ v, -1.0, 1.0)
        low, high = np.cos(np.deg2rad([self.max_angle_deg, self.min_angle_deg]))
        return np.asarray((cosine >= low - ROUND_OFF) & (cosine <= high + ROUND_OFF))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw rotations uniformly from all that satisfy the constraint.

        The axis is drawn on the cone first, then a turn about it.

        Args:
            rng: Source of the samples.
            n: Number of rotations.

        Returns:
            Rotations base_R_ee, (n, 3, 3).
        """
        low, high = np.cos(np.deg2rad([self.max_angle_deg, self.min_angle_deg]))
        cosine, azimuth, roll = (
            rng.uniform(low, high, n),
            rng.uniform(0, 2 * np.pi, n),
            rng.uniform(0, 2 * np.pi, n),
        )
        sine = np.sqrt(np.maximum(0.0, 1.0 - cosine**2))
        v = unit(self.base_vector)
        e1, e2 = orthogonal(v)
        base = np.stack([v, e1, e2], axis=1)
        s, c, zero = np.sin(azimuth), np.cos(azimuth), np.zeros(n)
        w = base @ np.stack([cosine, sine * c, sine * s])
        w1 = base @ np.stack([-sine, cosine * c, cosine * s])
        return axis_carried_to(unit(self.ee_vector), w, w1, base @ np.stack([zero, -s, c]), roll[None])

    @property
    def share(self) -> float:
        """The part of all rotations that satisfies this constraint alone."""
        low, high = np.cos(np.deg2rad([self.max_angle_deg, self.min_angle_deg]))
        return float(high - low) / 2.0


def cones_of(
    filters: Sequence[OrientationFilter],
    world_T_base: Pose | None = None,
    world_T_container: Pose | None = None,
) -> tuple[Cone, ...]:
    """Return the constraints of filters in the arm's base.

    Args:
        filters: Filters.
        world_T_base: Pose of the arm's base; None: the world, for filters of the base alone.
        world_T_container: Pose of the container; None: no filter has its frame.

    Returns:
        One constraint for each filter.
    """
    base_R_world = (world_T_base or Pose.identity()).rotation.inverse()
    turns = {"": Rotation.identity(), "world": base_R_world}
    if world_T_container is not None:
        turns["container"] = base_R_world @ world_T_container.rotation
    made = []
    for item in filters:
        low, high = sorted((item.min_angle_deg, item.max_angle_deg))
        made.append(
            Cone(
                np.array(EE_AXES[item.ee_axis]),
                turns[item.frame].matrix() @ np.array(DIRECTIONS[item.direction]),
                low,
                high,
                str(item),
            )
        )
    return tuple(made)


def surviving(base_R_ee: Array, cones: Sequence[Cone]) -> tuple[Mask, str]:
    """Check which rotations satisfy all constraints.

    Args:
        base_R_ee: Rotations, (n, 3, 3).
        cones: Constraints.

    Returns:
        Mask (n,), and a text that says how many each constraint removed.
    """
    keep = np.ones(len(base_R_ee), dtype=np.bool_)
    words = []
    for cone in cones:
        before = int(keep.sum())
        keep &= cone.mask(base_R_ee)
        words.append(f"'{cone.label}' removed {before - int(keep.sum())} of {before}")
    return np.asarray(keep), ", ".join(words)


def axis_carried_to(a: Array, w: Array, w1: Array, w2: Array, roll: Array) -> Array:
    """Return rotations that bring an axis to given directions, turned about them.

    Args:
        a: Axis, (3,), unit.
        w: Directions, (3, n), unit.
        w1: First vectors of right-handed frames (w, w1, w2), (3, n).
        w2: Second vectors of these frames, (3, n).
        roll: Turns about the directions, (t, n), rad.

    Returns:
        Rotations, (t * n, 3, 3).
    """
    source = np.stack([a, *orthogonal(a)], axis=1)
    c, s = np.cos(roll), np.sin(roll)
    target = np.empty((3, 3, *roll.shape))
    target[0] = w[:, None]
    target[1] = w1[:, None] * c + w2[:, None] * s
    target[2] = w2[:, None] * c - w1[:, None] * s
    # One product of matrices instead of many small ones.
    made = (source @ target.reshape(3, -1)).reshape(3, 3, -1)
    return np.ascontiguousarray(made.transpose(2, 1, 0))


def orthogonal(v: Array) -> tuple[Array, Array]:
    """Return two unit vectors that make (v, first, second) right-handed.

    Source: Duff and others, Building an Orthonormal Basis, Revisited, JCGT 2017.

    Args:
        v: Unit vector, (3,).

    Returns:
        The two vectors, (3,) each.
    """
    x, y, z = (float(part) for part in v)
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    first = np.array([1.0 + sign * x * x * a, sign * b, -sign * x])
    return first, np.array([b, sign + y * y * a, -y])


def unit(v: Array) -> Array:
    """Return a vector scaled to length one.

    Args:
        v: Vector, (3,), not zero.

    Returns:
        Unit vector, (3,).
    """
    return np.asarray(v / math.sqrt(float(v @ v)), dtype=np.float64)
