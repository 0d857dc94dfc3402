"""Arcs of the turn about one axis of the EE within which all other constraints hold, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

from .orientation_cones import Cone, orthogonal, unit

SLACK = 5e-13
"""The slack of the cosines: half of that of the masks."""


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Directions of the first axis, each with two unit vectors across it.

    Attributes:
        w: Directions, (3, n).
        w1: First unit vectors across, (3, n).
        w2: Second unit vectors across, (3, n).
    """

    w: Array
    w1: Array
    w2: Array

    @classmethod
    def of(cls, cone: Cone, theta: Array, phi: Array) -> Frames:
        """Make the frames at angles from the cone's vector and about it.

        Args:
            cone: Cone with the vector.
            theta: Angles from the vector, (n,), rad.
            phi: Angles about it, (n,), rad.

        Returns:
            The frames, in the arm's base.
        """
        v = unit(cone.base_vector)
        e1, e2 = orthogonal(v)
        base = np.stack([v, e1, e2], axis=1)
        st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
        zero = np.zeros_like(st)
        return cls(
            base @ np.stack([ct, st * cp, st * sp]),
            base @ np.stack([-st, ct * cp, ct * sp]),
            base @ np.stack([zero, -sp, cp]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Turns about the first axis that all other cones allow.

    Attributes:
        start: Start of each arc, (m, n), rad.
        length: Length of each arc, (m, n), rad; 0 where it is not allowed.
        total: Sum of the lengths, (n,), rad.
    """

    start: Array
    length: Array
    total: Array

    @classmethod
    def of(cls, frames: Frames, first: Cone, others: Sequence[Cone], widened: Array | float) -> Arcs:
        """Compute the arcs for directions of the first axis.

        Args:
            frames: Directions, n of them.
            first: Cone of the first axis.
            others: The other cones, at least one.
            widened: Angle by which each cone is taken wider, rad; one number, or (n,).

        Returns:
            The arcs.
        """
        bands = [_band(frames, first, cone, widened) for cone in others]
        edges = np.stack(
            [
                middle + sign * edge
                for middle, near, far in bands
                for sign in (-1.0, 1.0)
                for edge in (near, far)
            ]
        )
        start = np.sort(edges - _whole_turns(edges), axis=0)
        length = np.empty_like(start)
        length[:-1] = start[1:] - start[:-1]
        length[-1] = start[0] + 2.0 * np.pi - start[-1]
        centre = start + 0.5 * length
        for middle, near, far in bands:
            off = centre - middle
            off = np.abs(off - _whole_turns(off + np.pi))
            length *= (off >= near) & (off <= far)
        return cls(start, length, length.sum(axis=0))

    def draw(self, rng: np.random.Generator, times: int) -> Array:
        """Draw turns uniformly over the arcs.

        Args:
            rng: Source of the samples.
            times: Number of turns for each direction.

        Returns:
            Turns, (times, n), rad.
        """
        edges = np.cumsum(self.length, axis=0)
        n = len(self.total)
        u = rng.random((times, n)) * edges[-1]
        at = (edges[:-1, None] < u).sum(axis=0)
        each = np.arange(n)
        # From the end of the arc backwards, so that round-off of the sum stays inside.
        short = np.maximum(self.length[at, each] - (edges[at, each] - u), 0.0)
        return np.asarray(self.start[at, each] + short)


def _band(frames: Frames, first: Cone, cone: Cone, widened: Array | float) -> tuple[Array, Array, Array]:
    """Return the turns (n,) that one cone allows: from ``near`` to ``far`` off ``middle``, on both sides.

    None is allowed where near > far.
    """
    a, other, v = unit(first.ee_vector), unit(cone.ee_vector), unit(cone.base_vector)
    a1, a2 = orthogonal(a)
    along, across = float(other @ a), float(np.hypot(other @ a1, other @ a2))
    shift = float(np.arctan2(other @ a2, other @ a1))
    x, y = v @ frames.w1, v @ frames.w2
    middle = np.arctan2(y, x) - shift
    constant = along * (v @ frames.w)
    swing = np.maximum(across * np.hypot(x, y), 1e-15)
    low, high = np.deg2rad(cone.min_angle_deg), np.deg2rad(cone.max_angle_deg)
    upper = (np.cos(np.maximum(low - widened, 0.0)) - constant + SLACK) / swing
    lower = (np.cos(np.minimum(high + widened, np.pi)) - constant - SLACK) / swing
    near = np.where(upper < -1.0, 4.0, np.arccos(np.clip(upper, -1.0, 1.0)))
    far = np.where(lower > 1.0, -1.0, np.arccos(np.clip(lower, -1.0, 1.0)))
    return middle, near, far


def _whole_turns(angle: Array) -> Array:
    """Return the whole turns of an angle, several times faster than a modulo."""
    return np.asarray(2.0 * np.pi * np.floor(angle / (2.0 * np.pi)))
