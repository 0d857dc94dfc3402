"""Orientation constraints: an axis of the EE within a range of angles of a direction, as mask and as sampler of one.

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
"""Unit vectors in the filter's frame; in that of the arm's base as REP-103 has them."""
FRAMES = ("", "world", "container")
"""Of a filter: the arm's base, the world, or the container, where there is one."""

ROUND_OFF = 1e-12
"""Slack of the cosines, so that an axis exactly on a limit is inside."""


@dataclass(frozen=True, slots=True)
class OrientationFilter:
    """As the message of that name: ``ee_axis`` x, y or z; ``direction`` of the frame, one of ``FRAMES``.

    Degrees in either order.
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
    """``ee_vector`` (3,) of the EE within [min, max] degrees of ``base_vector`` (3,) of the arm base.

    ``label`` for messages, ``field_name`` of the goal.
    """

    ee_vector: Array
    base_vector: Array
    min_angle_deg: float
    max_angle_deg: float
    label: str
    field_name: str = "orientation_filters"

    def mask(self, base_R_ee: Array) -> Mask:
        """Which of the rotations (n, 3, 3) satisfy this, limits included."""
        a, v = unit(self.ee_vector), unit(self.base_vector)
        cosine = np.clip((base_R_ee @ a) @ v, -1.0, 1.0)
        low, high = np.cos(np.deg2rad([self.max_angle_deg, self.min_angle_deg]))
        return np.asarray((cosine >= low - ROUND_OFF) & (cosine <= high + ROUND_OFF))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw (n, 3, 3) uniformly from all rotations that satisfy this.

        On the cone first, then a turn about the vector.
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
        """Part of all rotations that satisfies this alone."""
        low, high = np.cos(np.deg2rad([self.max_angle_deg, self.min_angle_deg]))
        return float(high - low) / 2.0


def cones_of(
    filters: Sequence[OrientationFilter],
    world_T_base: Pose | None = None,
    world_T_container: Pose | None = None,
) -> tuple[Cone, ...]:
    """The constraints that the filters mean, in the arm's base; poses are those that their frames need."""
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
    """Mask (n,) of the rotations (n, 3, 3) that satisfy all cones.

    And words that say how many each one removed.
    """
    keep = np.ones(len(base_R_ee), dtype=np.bool_)
    words = []
    for cone in cones:
        before = int(keep.sum())
        keep &= cone.mask(base_R_ee)
        words.append(f"'{cone.label}' removed {before - int(keep.sum())} of {before}")
    return np.asarray(keep), ", ".join(words)


def axis_carried_to(a: Array, w: Array, w1: Array, w2: Array, roll: Array) -> Array:
    """Rotations (t * n, 3, 3) that bring ``a`` (3,) to ``w`` (3, n), turned by ``roll`` (t, n) about it.

    ``w1`` and ``w2`` (3, n) make right-handed frames with ``w``.
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
    """Two unit vectors that make (v, first, second) right-handed, for a unit ``v`` (3,).

    Source: Duff and others, Building an Orthonormal Basis, Revisited, JCGT 2017.
    """
    x, y, z = (float(part) for part in v)
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    first = np.array([1.0 + sign * x * x * a, sign * b, -sign * x])
    return first, np.array([b, sign + y * y * a, -y])


def unit(v: Array) -> Array:
    """Length one (3,)."""
    return np.asarray(v / math.sqrt(float(v @ v)), dtype=np.float64)
