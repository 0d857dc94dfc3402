"""How far an EE may turn about one of its axes for all other constraints to hold: arcs, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

from .orientation_cones import Cone, orthogonal, unit

SLACK = 5e-13
"""Of the cosines: half of what the masks allow."""


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Where the first axis points, ``w`` (3, n), with two unit vectors across it."""

    w: Array
    w1: Array
    w2: Array

    @classmethod
    def of(cls, cone: Cone, theta: Array, phi: Array) -> Frames:
        """At angles (n,) from the cone's vector and about it."""
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
    """Turns about the first axis that all other cones allow: ``start`` and ``length`` (n, m), ``total`` (n,) [rad]."""

    start: Array
    length: Array
    total: Array

    @classmethod
    def of(cls, frames: Frames, first: Cone, others: Sequence[Cone], widened: Array | float) -> Arcs:
        """``widened``: how much wider each cone is taken [rad]."""
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
        """``times`` turns each (times, n), evenly over the arcs."""
        edges = np.cumsum(self.length, axis=0)
        n = len(self.total)
        u = rng.random((times, n)) * edges[-1]
        at = (edges[:-1, None] < u).sum(axis=0)
        each = np.arange(n)
        # From the end of the arc backwards, so that round-off of the sum stays inside.
        short = np.maximum(self.length[at, each] - (edges[at, each] - u), 0.0)
        return np.asarray(self.start[at, each] + short)


def _band(frames: Frames, first: Cone, cone: Cone, widened: Array | float) -> tuple[Array, Array, Array]:
    """Turns (n,) that one cone allows: from ``near`` to ``far`` off ``middle``, on both sides; near > far: none."""
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
    """Several times faster than a modulo."""
    return np.asarray(2.0 * np.pi * np.floor(angle / (2.0 * np.pi)))
