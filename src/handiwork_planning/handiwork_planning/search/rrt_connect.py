"""RRT-Connect (Kuffner, LaValle 2000) between one start and many goals, in pieces that can be interrupted.

The goal tree is a forest: every goal configuration is a root. The smaller tree grows next (balanced variant).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.motion_check import blocked_at
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.borrowed_ref import borrowed
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import State, uniform
from handiwork_planning.kernels.simd_kinematics import Floats, f4

RANGE_RAD = 2.5
"""Longest new edge, Euclidean norm of joint moves."""
CLEAR_SHARE = 0.3
"""Smallest share of a blocked edge for which the part before the obstacle is kept."""
LOCAL, SPREAD_RAD = 0.9, 2.0
"""Share of samples that are drawn around a node of the tree, and their largest distance from it, joint by joint.
Whole-range samples are mostly farther than an edge is long, and in the same directions from the nodes at the rim."""
CHUNK = 64
"""Number of nodes whose distances are computed together."""


class Trees(NamedTuple):
    """Search state.

    Attributes:
        nodes: Configurations of both trees, (2, k, n), rad or m.
        columns: The same in float32 for the search of neighbours, (2, n, k).
        parents: Index of each node's parent, -1 for roots, (2, k).
        counts: Number of nodes, (2,).
        roots: Number of roots, (2,).
        blocked: How often each pair ended an edge, (g, m + g).
        turn: The tree that grows next, (1,).
        meeting: Node of each tree at which they met, (2,).
    """

    nodes: Array
    columns: Floats
    parents: Ints
    counts: Ints
    roots: Ints
    blocked: Ints
    turn: Ints
    meeting: Ints


@kernel
def plant(start: Array, goals: Array, columns: tuple[int, int], room: int) -> Trees:
    """Return trees with a start and goals as roots.

    Args:
        start: Configuration, (n,), rad or m.
        goals: Configurations, (k, n), rad or m.
        columns: Shape of the margins, (g, m + g).
        room: Space for so many nodes per tree, besides the goals.
    """
    count, n = goals.shape
    wide = -(-(room + count) // CHUNK) * CHUNK
    nodes, across = np.empty((2, wide, n)), np.empty((2, n, wide), dtype=np.float32)
    parents, counts = np.empty((2, wide), dtype=np.int64), np.ones(2, dtype=np.int64)
    counts[1] = count
    nodes[0, 0], nodes[1, :count] = start, goals
    for j in range(n):
        across[0, j, 0] = start[j]
        across[1, j, :count] = goals[:, j]
    parents[0, 0], parents[1, :count] = -1, -1
    blocked, turn, meeting = (
        np.zeros(columns, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )
    return Trees(nodes, across, parents, counts, counts.copy(), blocked, turn, meeting)


def widened(trees: Trees, room: int) -> Trees:
    """Return the same trees with more space.

    Args:
        trees: Search state.
        room: Space for so many nodes per tree, roots not counted.
    """
    _, before, n = trees.nodes.shape
    wide = -(-(room + int(trees.roots[1])) // CHUNK) * CHUNK
    nodes, across = np.empty((2, wide, n)), np.empty((2, n, wide), dtype=np.float32)
    parents = np.empty((2, wide), dtype=np.int64)
    nodes[:, :before], across[:, :, :before], parents[:, :before] = trees.nodes, trees.columns, trees.parents
    return trees._replace(nodes=nodes, columns=across, parents=parents)


@kernel
def nearest_node(columns: Floats, side: int, count: int, q: Array) -> tuple[int, float]:
    """Return the index of the closest node, and its distance, rad or m.

    Args:
        columns: Nodes of both trees, (2, n, k).
        side: The tree.
        count: Number of its nodes.
        q: Configuration, (n,), rad or m.
    """
    columns, q = borrowed(columns), borrowed(q)
    best, index = f4(1.0e30), 0
    square = np.empty(CHUNK, dtype=np.float32)
    for start in range(0, count, CHUNK):
        for i in range(CHUNK):
            square[i] = f4(0.0)
        for j in range(len(q)):
            x = f4(q[j])
            for i in range(CHUNK):
                d = columns[side, j, start + i] - x
                square[i] += d * d
        for i in range(min(CHUNK, count - start)):
            if square[i] < best:
                best, index = square[i], start + i
    return index, np.sqrt(best)


@kernel
def add_node(trees: Trees, side: int, q: Array, parent: int) -> int:
    """Add a node and return its index.

    Args:
        trees: Search state.
        side: The tree.
        q: Configuration, (n,), rad or m.
        parent: Index of its parent.
    """
    new = trees.counts[side]
    for j in range(len(q)):
        trees.nodes[side, new, j] = q[j]
        trees.columns[side, j, new] = q[j]
    trees.parents[side, new] = parent
    trees.counts[side] += 1
    return new


@kernel
def extend(
    trees: Trees, side: int, near: int, share: float, target: Array, c: Checker, hit: Ints
) -> tuple[int, bool]:
    """Add a node at a share of the way to ``target``; on a blocked way the part before the obstacle, if long enough.

    Args:
        trees: Search state.
        side: The tree that grows.
        near: Index of the node where the way begins.
        share: Share of the way, above 0 and at most 1.
        target: Configuration, (n,), rad or m.
        c: Robot, world and margins.
        hit: Scratch, (2,).

    Returns:
        The new node, or -1, and whether it is at the end of that share.
    """
    trees, c, target = borrowed(trees), borrowed(c), borrowed(target)
    n = len(target)
    way = np.empty((2, n))
    for attempt in range(2):
        for j in range(n):
            a = trees.nodes[side, near, j]
            way[0, j], way[1, j] = a, (target[j] if share >= 1.0 else a + share * (target[j] - a))
        place = blocked_at(c, way, hit)
        if place < 0.0:
            return add_node(trees, side, way[1], near), attempt == 0
        if attempt == 0:
            trees.blocked[hit[0], hit[1]] += 1
        if place < CLEAR_SHARE:
            break
        share *= place - 0.5 * CLEAR_SHARE
    return -1, False


@kernel
def connect(trees: Trees, side: int, target: Array, c: Checker, hit: Ints) -> int:
    """Go from the nearest node all the way to ``target``.

    Args:
        trees: Search state.
        side: The tree that grows.
        target: Configuration, (n,), rad or m.
        c: Robot, world and margins.
        hit: Scratch, (2,).

    Returns:
        The node at the target, or -1 if the way is blocked or the tree is full.
    """
    trees, c, target = borrowed(trees), borrowed(c), borrowed(target)
    near, distance = nearest_node(trees.columns, side, trees.counts[side], target)
    while trees.counts[side] < trees.nodes.shape[1]:
        share = min(1.0, RANGE_RAD / max(distance, 1.0e-12))
        near, there = extend(trees, side, near, share, target, c, hit)
        if not there:
            return -1
        if share >= 1.0:
            return near
        distance -= RANGE_RAD
    return -1


@kernel
def draw(trees: Trees, side: int, lower: Array, upper: Array, state: State, q: Array) -> None:
    """Draw a sample: around a node of the tree, or anywhere within limits.

    Args:
        trees: Search state.
        side: The tree.
        lower: Joint limits, (n,), rad or m.
        upper: Joint limits, (n,), rad or m.
        state: Random numbers; it is advanced.
        q: Written: the sample, (n,).
    """
    local, i = uniform(state) < LOCAL, int(uniform(state) * trees.counts[side])
    for j in range(len(q)):
        low, high = lower[j], upper[j]
        if local:
            here = trees.nodes[side, i, j]
            low, high = max(low, here - SPREAD_RAD), min(high, here + SPREAD_RAD)
        q[j] = low + (high - low) * uniform(state)


@kernel
def grow(trees: Trees, iterations: int, c: Checker, state: State) -> int:
    """Continue the search.

    Args:
        trees: Search state.
        iterations: Number of samples.
        c: Robot, world and margins.
        state: Random numbers; it is advanced.

    Returns:
        1 if the trees met, 0 if not yet, -1 if they are full.
    """
    trees, c, state = borrowed(trees), borrowed(c), borrowed(state)
    lower, upper, counts, roots = c.robot.lower, c.robot.upper, trees.counts, trees.roots
    hit, q = np.zeros(2, dtype=np.int64), np.empty(len(lower))
    for _ in range(iterations):
        if max(counts[0], counts[1]) + 64 > trees.nodes.shape[1]:
            return -1
        a = trees.turn[0]
        if counts[a] - roots[a] > counts[1 - a] - roots[1 - a]:
            a = 1 - a
        trees.turn[0] = 1 - a
        draw(trees, a, lower, upper, state, q)
        near, distance = nearest_node(trees.columns, a, counts[a], q)
        new, _ = extend(trees, a, near, min(1.0, RANGE_RAD / max(distance, 1.0e-12)), q, c, hit)
        if new < 0:
            continue
        there = connect(trees, 1 - a, trees.nodes[a, new], c, hit)
        if there >= 0:
            trees.meeting[a], trees.meeting[1 - a] = new, there
            return 1
    return 0


@kernel
def grown_path(trees: Trees) -> tuple[Array, int]:
    """Return the path from start to goal without the doubled meeting point.

    Args:
        trees: Search state of trees that met.

    Returns:
        Way points (k, n), rad or m, and the index of the goal at its end.
    """
    nodes, parents, meeting = trees.nodes, trees.parents, trees.meeting
    before, i = 0, meeting[0]
    while i >= 0:
        before, i = before + 1, parents[0, i]
    after, i = 0, parents[1, meeting[1]]
    while i >= 0:
        after, i = after + 1, parents[1, i]
    path = np.empty((before + after, nodes.shape[2]))
    i = meeting[0]
    for row in range(before - 1, -1, -1):
        path[row] = nodes[0, i]
        i = parents[0, i]
    goal, i = meeting[1], parents[1, meeting[1]]
    for row in range(before, before + after):
        path[row] = nodes[1, i]
        goal, i = i, parents[1, i]
    return path, goal
