"""Finds the pairs of links that need no collision check, from spheres at configurations over the whole joint ranges."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Robot, Spheres
from handiwork_planning.kernels.jit import kernel

from .many_poses import Frames, free_joints, many_link_poses

Pair = tuple[str, str]

BATCH = 500
NEAR_M = 0.3
"""Pairs that came nearer than this are searched for a still smaller gap, m."""
SEARCH_ROUNDS, SEARCH_WIDTH, SEARCH_SHRINK = 10, 0.3, 0.6
"""Rounds of the search about the nearest sample, its first width as a share of each joint's range, and its decay."""
SEARCH_SAMPLES = 100


class PairKind(Enum):
    """The kind of contact of two links. Only ``SOMETIMES`` needs a check."""

    NEIGHBOURS = "neighbours"
    ALWAYS = "always"
    NEVER = "never"
    SOMETIMES = "sometimes"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on one pair.

    Attributes:
        pair: Names of the links, sorted.
        kind: The kind of contact.
        nearest_m: Smallest gap found, m.
        share: Share of the samples used in which the links touch.
    """

    pair: Pair
    kind: PairKind
    nearest_m: float
    share: float


def judge_pairs(
    robot: Robot, *, samples: int = 5000, margin_m: float = 0.02, seed: int = 0
) -> tuple[PairVerdict, ...]:
    """Judge all pairs of links that have spheres; ``robot.ignored_pairs`` is not used.

    Neighbours are links of one rigid body, or of two that one moving joint connects. ``NEVER`` are pairs whose gap
    stays at ``margin_m`` or more at every sample, and in a search about the nearest of them.

    Args:
        robot: The robot, with spheres.
        samples: Number of random configurations.
        margin_m: Least gap of a pair that never touches, m.
        seed: Seed of the configurations.

    Returns:
        Verdicts sorted by pair.
    """
    rng = np.random.default_rng(seed)
    pairs = [_sorted(a.link, b.link) for a, b in itertools.combinations(robot.spheres, 2)]
    spheres = {item.link: item for item in robot.spheres}
    touching = dict.fromkeys(pairs, 0)
    seen = dict.fromkeys(pairs, 0)
    close = neighbours(robot)
    nearest: dict[Pair, tuple[float, dict[str, float]]] = dict.fromkeys(pairs, (np.inf, {}))
    for start in range(0, samples, BATCH):
        count = min(BATCH, samples - start)
        q = _draw(robot, count, rng)
        frames = many_link_poses(robot, q)
        for pair in pairs:
            if 0 < touching[pair] < seen[pair] or (pair in close and start > 0):
                continue  # decided: neither never nor always, or neighbours whatever the samples say
            gaps = pair_gaps(frames, spheres[pair[0]], spheres[pair[1]], count)
            touching[pair], seen[pair] = touching[pair] + int((gaps < 0.0).sum()), seen[pair] + count
            best = int(gaps.argmin())
            if gaps[best] < nearest[pair][0]:
                nearest[pair] = float(gaps[best]), {name: float(v[best]) for name, v in q.items()}
    verdicts = []
    for pair in pairs:
        gap, at = nearest[pair]
        if pair not in close and touching[pair] == 0 and gap < NEAR_M:
            gap = _searched(robot, spheres[pair[0]], spheres[pair[1]], at, gap, rng)
        kind = _kind(pair in close, touching[pair], seen[pair], gap, margin_m)
        verdicts.append(PairVerdict(pair, kind, gap, touching[pair] / max(1, seen[pair])))
    return tuple(sorted(verdicts, key=lambda verdict: verdict.pair))


def ignored_pairs(verdicts: Sequence[PairVerdict]) -> frozenset[Pair]:
    """Return the pairs that need no check, for ``Robot.ignored_pairs``.

    Args:
        verdicts: The verdicts.
    """
    return frozenset(verdict.pair for verdict in verdicts if verdict.kind is not PairKind.SOMETIMES)


def neighbours(robot: Robot) -> frozenset[Pair]:
    """Return the pairs of links of one rigid body, or of two rigid bodies that one moving joint connects.

    Args:
        robot: The robot.

    Returns:
        Pairs, each sorted by name.
    """
    body = {robot.root_link: robot.root_link}
    above = {robot.root_link: robot.root_link}
    for joint in robot.joints.values():
        fixed = joint.type is JointKind.FIXED
        body[joint.child] = body[joint.parent] if fixed else joint.child
        above[joint.child] = above[joint.parent] if fixed else body[joint.parent]
    found = set()
    for a, b in itertools.combinations(robot.links, 2):
        if body[a] == body[b] or above[a] == body[b] or above[b] == body[a]:
            found.add(_sorted(a, b))
    return frozenset(found)


def pair_gaps(frames: Frames, a: Spheres, b: Spheres, count: int) -> Array:
    """Return the smallest gaps between the spheres of two links.

    Args:
        frames: Poses of the links at n configurations.
        a: Spheres of one link.
        b: Spheres of the other link.
        count: Number of configurations, n.

    Returns:
        Gaps, (n,), m; a lower bound if the links are far apart.
    """
    (turn_a, place_a), (turn_b, place_b) = frames[a.link], frames[b.link]
    turn = np.einsum("nji,njk->nik", turn_a, turn_b)
    place = np.einsum("nji,nj->ni", turn_a, place_b - place_a)
    (middle_a, reach_a), (middle_b, reach_b) = _around(a), _around(b)
    gaps: Array = np.linalg.norm(turn @ middle_b + place - middle_a, axis=1) - reach_a - reach_b
    close = np.flatnonzero(gaps < NEAR_M)
    if not len(close):
        return gaps
    rows = np.ascontiguousarray(turn[close]), np.ascontiguousarray(place[close])
    gaps[close] = _sphere_gaps(*rows, a.centers, a.radii, b.centers, b.radii)
    return gaps


@kernel
def _sphere_gaps(
    turns: Array, places: Array, centers_a: Array, radii_a: Array, centers_b: Array, radii_b: Array
) -> Array:
    """Return the smallest gaps (n,) of spheres a to spheres b that are turned (n, 3, 3) and moved (n, 3), m."""
    gaps = np.empty(len(places))
    for row in range(len(places)):
        turn, least = turns[row], 1e9
        for j in range(len(radii_b)):
            bx, by, bz = centers_b[j, 0], centers_b[j, 1], centers_b[j, 2]
            x = turn[0, 0] * bx + turn[0, 1] * by + turn[0, 2] * bz + places[row, 0]
            y = turn[1, 0] * bx + turn[1, 1] * by + turn[1, 2] * bz + places[row, 1]
            z = turn[2, 0] * bx + turn[2, 1] * by + turn[2, 2] * bz + places[row, 2]
            for i in range(len(radii_a)):
                dx, dy, dz = centers_a[i, 0] - x, centers_a[i, 1] - y, centers_a[i, 2] - z
                least = min(least, np.sqrt(dx * dx + dy * dy + dz * dz) - radii_a[i] - radii_b[j])
        gaps[row] = least
    return gaps


def _searched(
    robot: Robot, a: Spheres, b: Spheres, at: Mapping[str, float], gap: float, rng: np.random.Generator
) -> float:
    """Return the smallest gap found in ever narrower clouds about the nearest configuration so far, m."""
    best, width = dict(at), SEARCH_WIDTH
    for _ in range(SEARCH_ROUNDS):
        q = {}
        for joint in free_joints(robot):
            spread = rng.normal(0.0, width * (joint.upper - joint.lower), SEARCH_SAMPLES)
            q[joint.name] = np.clip(best[joint.name] + spread, joint.lower, joint.upper)
        gaps = pair_gaps(many_link_poses(robot, q, (a.link, b.link)), a, b, SEARCH_SAMPLES)
        i = int(gaps.argmin())
        if gaps[i] < gap:
            gap, best = float(gaps[i]), {name: float(values[i]) for name, values in q.items()}
        width *= SEARCH_SHRINK
    return gap


def _kind(near: bool, touching: int, seen: int, gap: float, margin_m: float) -> PairKind:
    if near:
        return PairKind.NEIGHBOURS
    if touching == seen:
        return PairKind.ALWAYS
    return PairKind.NEVER if touching == 0 and gap >= margin_m else PairKind.SOMETIMES


def _draw(robot: Robot, count: int, rng: np.random.Generator) -> dict[str, Array]:
    return {joint.name: rng.uniform(joint.lower, joint.upper, count) for joint in free_joints(robot)}


def _around(spheres: Spheres) -> tuple[Array, float]:
    """Return the centre and the radius of a ball about all spheres of a link."""
    middle = 0.5 * (
        (spheres.centers - spheres.radii[:, None]).min(axis=0)
        + (spheres.centers + spheres.radii[:, None]).max(axis=0)
    )
    return middle, float((np.linalg.norm(spheres.centers - middle, axis=1) + spheres.radii).max())


def _sorted(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)
