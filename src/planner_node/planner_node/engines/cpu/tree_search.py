"""RRT-Connect (Kuffner, LaValle 2000) between one start and many goals, in pieces that can be interrupted.

The goal tree is a forest: every goal configuration is a root. The smaller tree grows next (balanced variant).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.geometry import Array

from .arrays import Ints, RobotArrays, SceneArrays
from .edges import edge_is_free
from .jit import kernel
from .rng import State, uniform

RANGE_RAD = 1.5
"""Longest new edge, Euclidean norm of joint moves."""


class Trees(NamedTuple):
    """Search state.

    ``nodes`` (2, k, n), ``parents`` (2, k), ``counts`` (2,), ``blocked`` (g, m + g) counts of hits,
    ``turn`` (1,) which tree grows next, ``meeting`` (2,) node of each tree where they met.
    """

    nodes: Array
    parents: Ints
    counts: Ints
    blocked: Ints
    turn: Ints
    meeting: Ints


def plant(start: Array, goals: Array, columns: tuple[int, int], room: int) -> Trees:
    """Trees with ``start`` (n,) and ``goals`` (k, n) as roots and space for ``room`` nodes each."""
    nodes = np.zeros((2, room + len(goals), len(start)))
    nodes[0, 0], nodes[1, : len(goals)] = start, goals
    parents = np.full(nodes.shape[:2], -1, dtype=np.int64)
    counts = np.array([1, len(goals)], dtype=np.int64)
    zeros = np.zeros(columns, dtype=np.int64)
    return Trees(nodes, parents, counts, zeros, np.zeros(1, dtype=np.int64), np.full(2, -1, dtype=np.int64))


@kernel
def nearest_node(nodes: Array, count: int, q: Array) -> tuple[int, float]:
    """Index of the closest of the first ``count`` rows of ``nodes`` (k, n), and its distance [rad]."""
    best, index = 1.0e30, 0
    for i in range(count):
        d = 0.0
        for j in range(len(q)):
            d += (nodes[i, j] - q[j]) ** 2
        if d < best:
            best, index = d, i
    return index, np.sqrt(best)


@kernel
def extend(
    trees: Trees,
    side: int,
    target: Array,
    robot: RobotArrays,
    scene: SceneArrays,
    margins: Array,
    frames: Array,
    hit: Ints,
) -> tuple[int, bool]:
    """At most RANGE_RAD from the nearest node towards ``target`` (n,): new node (-1: none), is it there."""
    i, d = nearest_node(trees.nodes[side], trees.counts[side], target)
    share = min(1.0, RANGE_RAD / max(d, 1.0e-12))
    q = trees.nodes[side, i] + share * (target - trees.nodes[side, i])
    if share >= 1.0:
        q[:] = target
    if not edge_is_free(trees.nodes[side, i], q, robot, scene, margins, frames, hit):
        trees.blocked[hit[0], hit[1]] += 1
        return -1, False
    new = trees.counts[side]
    trees.nodes[side, new] = q
    trees.parents[side, new] = i
    trees.counts[side] += 1
    return new, share >= 1.0


@kernel
def grow(
    trees: Trees, iterations: int, robot: RobotArrays, scene: SceneArrays, margins: Array, state: State
) -> int:
    """Search on: 1 the trees met, 0 not yet, -1 they are full."""
    n = len(robot.lower)
    frames, hit, q = np.empty((n + 1, 12)), np.zeros(2, dtype=np.int64), np.empty(n)
    for _ in range(iterations):
        if max(trees.counts[0], trees.counts[1]) + 64 > trees.nodes.shape[1]:
            return -1
        a = trees.turn[0]
        trees.turn[0] = 1 - a
        if trees.counts[a] > 2 * trees.counts[1 - a] and trees.counts[a] > 50:
            a = 1 - a
        for j in range(n):
            q[j] = robot.lower[j] + (robot.upper[j] - robot.lower[j]) * uniform(state)
        new, _ = extend(trees, a, q, robot, scene, margins, frames, hit)
        if new < 0:
            continue
        for _ in range(32):
            other, there = extend(trees, 1 - a, trees.nodes[a, new], robot, scene, margins, frames, hit)
            if other < 0:
                break
            if there:
                trees.meeting[a], trees.meeting[1 - a] = new, other
                return 1
    return 0


def path_of(trees: Trees) -> tuple[Array, int]:
    """Way points (k, n) from start to goal without the doubled meeting point, and which goal root it ends in."""
    sides = []
    for side in (0, 1):
        chain, i = [], int(trees.meeting[side])
        while i >= 0:
            chain.append(i)
            i = int(trees.parents[side, i])
        sides.append(chain)
    there = trees.nodes[0, sides[0][::-1]]
    return np.concatenate([there, trees.nodes[1, sides[1][1:]]]), sides[1][-1]
