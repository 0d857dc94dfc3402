"""Orientations that satisfy several constraints, by construction and not by rejection.

The tightest constraint fixes where its axis may point: a band of the sphere, cut into cells. For one such direction
every other constraint allows arcs of the turn about it; a draw is a cell, a direction in it and a turn from the arcs.
A cell is proven empty when widening all constraints by its radius leaves its centre no arc. Where directions drawn
from the whole band have room often enough, they serve without cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome

from .orientation_cones import (
    Cone,
    Mask,
    axis_carried_to,
    unit,
)
from .rotation_arcs import Arcs, Frames

CELL_RAD = 0.35
ENOUGH = 24
"""The number of cells with room at which the search stops."""
FEW, TURNS, DRAWN = 256, 8, 384
"""Above ``FEW`` rotations, up to ``TURNS`` share a direction of the first axis; ``DRAWN`` directions are tried."""
MOST_CELLS = 20000
LEAST_RADIUS_RAD = 1e-5


def sample_rotations(cones: Sequence[Cone], rng: np.random.Generator, n: int) -> Array:
    """Draw different rotations that satisfy all cones, spread as evenly as the cells are.

    Args:
        cones: Constraints, at least one.
        rng: Source of the samples.
        n: Number of rotations.

    Returns:
        Rotations base_R_ee, (n, 3, 3).

    Raises:
        StepFailed: NO_CANDIDATE, naming a smallest set of constraints that contradict each other.
    """
    first, others = _ordered(cones)
    if not others:
        return first.sample(rng, n)
    n_directions = min(n, max(FEW, -(-n // TURNS)))
    theta, phi = _directions(first, others, rng, n_directions) or _from_cells(cones, rng, n_directions)
    frames = Frames.of(first, theta, phi)
    rolls = Arcs.of(frames, first, others, 0.0).draw(rng, -(-n // n_directions))
    return axis_carried_to(unit(first.ee_vector), frames.w, frames.w1, frames.w2, rolls)[:n]


def _directions(
    first: Cone, others: Sequence[Cone], rng: np.random.Generator, n: int
) -> tuple[Array, Array] | None:
    """Draw directions (n,), (n,) of the first axis by the room of each.

    None where too few draws from its band have room.
    """
    low, high = np.cos(np.deg2rad([first.max_angle_deg, first.min_angle_deg]))
    theta = np.arccos(np.clip(rng.uniform(low, high, DRAWN), -1.0, 1.0))
    phi = rng.uniform(0.0, 2.0 * np.pi, DRAWN)
    room = Arcs.of(Frames.of(first, theta, phi), first, others, 0.0).total
    if int(np.count_nonzero(room)) < DRAWN // 4:
        return None
    edges = np.cumsum(room)
    # Evenly along the sum of rooms: none is taken much more often than its share.
    at = np.searchsorted(edges, (np.arange(1, n + 1) - rng.random()) * (edges[-1] / n))
    at = rng.permutation(np.minimum(at, DRAWN - 1))
    return theta[at], phi[at]


def _from_cells(cones: Sequence[Cone], rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    first, others = _ordered(cones)
    cells = _cells_with_room(first, others)
    if cells is None:
        raise StepFailed(_contradiction(cones))
    theta, phi = cells.draw(rng, n)
    outside = Arcs.of(Frames.of(first, theta, phi), first, others, 0.0).total <= 0.0
    if outside.any():
        theta, phi = (np.where(outside, c, d) for c, d in zip(cells.last_centres, (theta, phi), strict=True))
    return theta, phi


def is_feasible(cones: Sequence[Cone]) -> bool:
    """Check whether any rotation satisfies all cones.

    Args:
        cones: Constraints, at least one.

    Returns:
        True when there is one.
    """
    first, others = _ordered(cones)
    return not others or _cells_with_room(first, others) is not None


def _ordered(cones: Sequence[Cone]) -> tuple[Cone, list[Cone]]:
    first = min(cones, key=lambda cone: cone.share)
    return first, [cone for cone in cones if cone is not first]


def _contradiction(cones: Sequence[Cone]) -> Outcome:
    """Name the contradicting constraints; those that are not needed for the contradiction are left out one by one."""
    left = list(cones)
    for cone in cones:
        fewer = [other for other in left if other is not cone]
        if len(fewer) > 1 and not is_feasible(fewer):
            left = fewer
    names = " and ".join(f"'{cone.label}'" for cone in left)
    text = f"no orientation satisfies all constraints: {names} exclude each other; widen one"
    return Outcome(Code.NO_CANDIDATE, text, "select", left[-1].field_name)


@dataclass(slots=True, eq=False)
class _Cells:
    """Patches (m,) of the band: centre and half sizes [rad], and the room of each as ``weight``."""

    theta: Array
    phi: Array
    half_theta: Array
    half_phi: Array
    weight: Array
    last_centres: tuple[Array, Array] = (np.zeros(0), np.zeros(0))

    def radius(self) -> Array:
        """Return an upper bound of the angle between the centre and a direction in the patch."""
        low, high = self.theta - self.half_theta, self.theta + self.half_theta
        widest = np.where((low < np.pi / 2) & (high > np.pi / 2), 1.0, np.maximum(np.sin(low), np.sin(high)))
        return np.asarray(self.half_theta + self.half_phi * widest)

    def area(self) -> Array:
        """Return the areas on the unit sphere."""
        low, high = np.cos(self.theta + self.half_theta), np.cos(self.theta - self.half_theta)
        return np.asarray(2.0 * self.half_phi * (high - low))

    def only(self, keep: Mask, weight: Array) -> _Cells:
        """Return the cells of the mask, with a weight each."""
        return _Cells(
            self.theta[keep], self.phi[keep], self.half_theta[keep], self.half_phi[keep], weight[keep]
        )

    def split(self) -> _Cells:
        """Return each cell in four."""
        ht, hp = np.tile(self.half_theta / 2, 4), np.tile(self.half_phi / 2, 4)
        m = len(self.theta)
        theta = np.tile(self.theta, 4) + np.repeat((-1.0, -1.0, 1.0, 1.0), m) * ht
        phi = np.tile(self.phi, 4) + np.repeat((-1.0, 1.0, -1.0, 1.0), m) * hp
        return _Cells(theta, phi, ht, hp, np.zeros(4 * m))

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw directions (n,), (n,) uniformly from cells that are drawn by weight; the cells' centres are kept."""
        edges = np.cumsum(self.weight)
        at = np.minimum(np.searchsorted(edges, rng.random(n) * edges[-1]), len(edges) - 1)
        theta, half = self.theta[at], self.half_theta[at]
        low, high = np.cos(theta + half), np.cos(theta - half)
        drawn = np.arccos(np.clip(low + rng.random(n) * (high - low), -1.0, 1.0))
        self.last_centres = (theta, self.phi[at])
        return drawn, self.phi[at] + (2.0 * rng.random(n) - 1.0) * self.half_phi[at]


def _grid(cone: Cone) -> _Cells:
    low, high = np.deg2rad([cone.min_angle_deg, cone.max_angle_deg])
    rings = max(1, int(np.ceil((high - low) / CELL_RAD)))
    sectors = max(6, int(np.ceil(2.0 * np.pi * np.sin(np.clip(np.pi / 2, low, high)) / CELL_RAD)))
    ht, hp = (high - low) / rings / 2.0, np.pi / sectors
    theta, phi = np.meshgrid(
        low + ht * (2 * np.arange(rings) + 1), hp * (2 * np.arange(sectors) + 1), indexing="ij"
    )
    m = rings * sectors
    return _Cells(theta.ravel(), phi.ravel(), np.full(m, ht), np.full(m, hp), np.zeros(m))


def _cells_with_room(first: Cone, others: Sequence[Cone]) -> _Cells | None:
    """Return cells whose centre has room; None where none has by proof, or the room is thinner than the search."""
    cells = _grid(first)
    while True:
        frames = Frames.of(first, cells.theta, cells.phi)
        room = Arcs.of(frames, first, others, 0.0).total
        good = room > 0.0
        radius = cells.radius()
        fine = len(cells.theta) > MOST_CELLS or float(radius.min()) < LEAST_RADIUS_RAD
        if int(good.sum()) >= ENOUGH or (fine and good.any()):
            return cells.only(np.asarray(good), room * cells.area())
        keep = Arcs.of(frames, first, others, radius).total > 0.0
        if fine or not keep.any():
            return None
        cells = cells.only(np.asarray(keep), room).split()
