"""Orientation constraints: an axis of the EE within a range of angles of a direction, as mask and as sampler.

The angle is that from the *named* direction: ("z", "downward", 0, 30) keeps hands that point
within 30 degrees of straight down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.geometry import Array
from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import StepFailed

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
"""Unit vectors in the arm's base frame (REP-103)."""

ROUND_OFF = 1e-12
"""Slack of the cosines, so that an axis exactly on a limit is inside."""
DRAWS = 20000


@dataclass(frozen=True, slots=True)
class OrientationFilter:
    """As the message of that name: ``ee_axis`` x, y or z; ``direction`` of the arm base.

    Degrees in either order.
    """

    ee_axis: str
    direction: str
    min_angle_deg: float = 0.0
    max_angle_deg: float = 180.0

    def __str__(self) -> str:
        low, high = sorted((self.min_angle_deg, self.max_angle_deg))
        return f"{self.ee_axis} axis {low:g} to {high:g} deg from {self.direction}"


@dataclass(frozen=True, slots=True, eq=False)
class Cone:
    """``ee_vector`` (3,) of the EE within [min, max] degrees of ``base_vector`` (3,) of the arm base.

    ``label`` for messages.
    """

    ee_vector: Array
    base_vector: Array
    min_angle_deg: float
    max_angle_deg: float
    label: str

    def mask(self, base_R_ee: Array) -> Mask:
        """Which of the rotations (n, 3, 3) satisfy this, limits included."""
        a, v = _unit(self.ee_vector), _unit(self.base_vector)
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
        v = _unit(self.base_vector)
        e1, e2 = _orthogonal(v)
        wanted: Array = (
            np.outer(cosine, v) + np.outer(sine * np.cos(azimuth), e1) + np.outer(sine * np.sin(azimuth), e2)
        ).astype(np.float64)
        return _carry(_unit(self.ee_vector), wanted, roll)

    @property
    def share(self) -> float:
        """Part of all rotations that satisfies this alone."""
        low, high = np.cos(np.deg2rad([self.max_angle_deg, self.min_angle_deg]))
        return float(high - low) / 2.0


def cones_of(filters: Sequence[OrientationFilter]) -> tuple[Cone, ...]:
    """The constraints that the filters mean."""
    made = []
    for item in filters:
        low, high = sorted((item.min_angle_deg, item.max_angle_deg))
        made.append(
            Cone(np.array(EE_AXES[item.ee_axis]), np.array(DIRECTIONS[item.direction]), low, high, str(item))
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


def sample_rotations(cones: Sequence[Cone], rng: np.random.Generator, n: int) -> Array:
    """Draw (n, 3, 3) different rotations that satisfy all cones: drawn in the tightest cone, rejected by the others.

    Raises:
        StepFailed: NO_CANDIDATE, naming what each constraint removed, when fewer than one in ``DRAWS`` draws survives.
    """
    tightest = min(cones, key=lambda cone: cone.share)
    drawn = tightest.sample(rng, n if len(cones) == 1 else DRAWS)
    keep, words = surviving(drawn, [cone for cone in cones if cone is not tightest])
    if not keep.any():
        text = f"no orientation satisfies all constraints: of {len(drawn)} with '{tightest.label}', {words}; widen one"
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", "orientation_filters"))
    return drawn[keep][:n]


def _carry(a: Array, wanted: Array, roll: Array) -> Array:
    """Rotations (n, 3, 3) that bring ``a`` (3,) to each of ``wanted`` (n, 3).

    With a free turn ``roll`` (n,) about it.
    """
    a1, a2 = _orthogonal(a)
    source = np.stack([a, a1, a2], axis=1)
    helper = np.where(np.abs(wanted[:, :1]) < 0.9, np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]]))
    w1 = np.cross(wanted, helper)
    w1 /= np.linalg.norm(w1, axis=1, keepdims=True)
    w2 = np.cross(wanted, w1)
    c, s = np.cos(roll)[:, None], np.sin(roll)[:, None]
    target = np.stack([wanted, c * w1 + s * w2, -s * w1 + c * w2], axis=2)
    return np.asarray(target @ source.T)


def _orthogonal(v: Array) -> tuple[Array, Array]:
    """Two unit vectors that make (v, first, second) right-handed."""
    helper = np.array([1.0, 0.0, 0.0]) if abs(v[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    first = _unit(np.cross(v, helper))
    return first, np.asarray(np.cross(v, first), dtype=np.float64)


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v), dtype=np.float64)
