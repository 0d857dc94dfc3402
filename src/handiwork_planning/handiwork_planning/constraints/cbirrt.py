"""Bidirectional search on the manifold of held components (CBiRRT, Berenson, Srinivasa, Ferguson, Kuffner 2009).

Trees grow by short steps; each is projected back onto the manifold, and one that jumps or leads away is refused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.motion_check import edge_is_free
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import State, uniform

from .pose_constraint import Hold, held_share, project

STEP_RAD = 0.1
"""Length of one step, Euclidean norm of joint moves; on it a tool 1 m away leaves the manifold by 1.3 mm at most."""
MOST_STEPS = 200
HALF = 0.75
"""Share of the allowed difference of held components that the middle of a step may use."""


class HeldTrees(NamedTuple):
    """Search state.

    Attributes:
        nodes: Configurations of both trees, (2, k, n), rad or m.
        parents: Index of each node's parent, -1 for roots, (2, k).
        counts: Number of nodes, (2,).
        blocked: How often each pair ended a step, (g, m + g).
        turn: The tree that grows next, (1,).
        meeting: Node of each tree at which they met, (2,).
    """

    nodes: Array
    parents: Ints
    counts: Ints
    blocked: Ints
    turn: Ints
    meeting: Ints


def plant(start: Array, goals: Array, columns: tuple[int, int], room: int) -> HeldTrees:
    """Return trees with a start and goals as roots.

    Args:
        start: Configuration, (n,), rad or m.
        goals: Configurations, (k, n), rad or m.
        columns: Shape of the margins, (g, m + g).
        room: Space for so many nodes per tree, besides the goals.
    """
    nodes = np.zeros((2, room + len(goals), len(start)))
    nodes[0, 0], nodes[1, : len(goals)] = start, goals
    parents = np.full(nodes.shape[:2], -1, dtype=np.int64)
    counts = np.array([1, len(goals)], dtype=np.int64)
    zeros = np.zeros(columns, dtype=np.int64)
    return HeldTrees(
        nodes, parents, counts, zeros, np.zeros(1, dtype=np.int64), np.full(2, -1, dtype=np.int64)
    )


@kernel
def distance(a: Array, b: Array) -> float:
    """Return the Euclidean distance [rad or m], without temporary arrays.

    Args:
        a: Configuration, (n,), rad or m.
        b: Configuration, (n,), rad or m.
    """
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) ** 2
    return np.sqrt(total)  # type: ignore[no-any-return]


@kernel
def step_to(
    here: Array,
    target: Array,
    hold: Hold,
    c: Checker,
    frames: Array,
    hit: Ints,
    q: Array,
) -> int:
    """Take one step from ``here`` to ``target``, which is on the manifold.

    Args:
        here: Configuration on the manifold, (n,), rad or m.
        target: Configuration on the manifold, (n,), rad or m.
        hold: The components that are held.
        c: Robot, world and margins.
        frames: Scratch, (m + 1, 12).
        hit: Written, if the step is blocked: group and column of the pair, (2,).
        q: Written: the configuration after the step, (n,).

    Returns:
        2 at the target, 1 nearer to it, 0 if no step is possible, -1 if the step is blocked.
    """
    away = distance(here, target)
    share = STEP_RAD / max(away, 1.0e-12)
    if share >= 1.0:
        q[:] = target
    else:
        for j in range(len(q)):
            q[j] = here[j] + share * (target[j] - here[j])
        if not project(q, hold, c.robot, frames):
            return 0
        if distance(here, q) > 2.0 * STEP_RAD or distance(q, target) > away - 0.1 * STEP_RAD:
            return 0
    middle = np.empty(len(q))
    for j in range(len(q)):
        middle[j] = 0.5 * (here[j] + q[j])
    if held_share(middle, hold, c.robot, frames) > max(HALF, held_share(target, hold, c.robot, frames)):
        return 0
    if not edge_is_free(c, here, q, hit):
        return -1
    return 2 if share >= 1.0 else 1


@kernel
def advance(
    trees: HeldTrees,
    side: int,
    target: Array,
    hold: Hold,
    c: Checker,
    frames: Array,
    hit: Ints,
) -> tuple[int, bool]:
    """Take steps from the nearest node towards ``target``, as many as possible.

    Args:
        trees: Search state; the steps become nodes.
        side: The tree that grows.
        target: Configuration on the manifold, (n,), rad or m.
        hold: The components that are held.
        c: Robot, world and margins.
        frames: Scratch, (m + 1, 12).
        hit: Scratch, (2,).

    Returns:
        The last node, and whether it is at the target.
    """
    nodes, best, i = trees.nodes[side], 1.0e30, 0
    for k in range(trees.counts[side]):
        d = distance(nodes[k], target)
        if d < best:
            best, i = d, k
    q = np.empty(len(target))
    for _ in range(MOST_STEPS):
        state = step_to(nodes[i], target, hold, c, frames, hit, q)
        if state < 0:
            trees.blocked[hit[0], hit[1]] += 1
        new = trees.counts[side]
        if state <= 0 or new >= len(nodes):
            return i, False
        nodes[new] = q
        trees.parents[side, new] = i
        trees.counts[side] += 1
        i = new
        if state == 2:
            return i, True
    return i, False


@kernel
def grow_held(
    trees: HeldTrees,
    iterations: int,
    hold: Hold,
    c: Checker,
    state: State,
) -> int:
    """Continue the search. Samples are projected, so that steps can reach them.

    Args:
        trees: Search state.
        iterations: Number of samples.
        hold: The components that are held.
        c: Robot, world and margins.
        state: Random numbers; it is advanced.

    Returns:
        1 if the trees met, 0 if not yet, -1 if they are full.
    """
    robot = c.robot
    n = len(robot.lower)
    frames, hit, q = np.empty((len(robot.chain) + 1, 12)), np.zeros(2, dtype=np.int64), np.empty(n)
    for _ in range(iterations):
        if max(trees.counts[0], trees.counts[1]) + 2 * MOST_STEPS > trees.nodes.shape[1]:
            return -1
        a = trees.turn[0]
        trees.turn[0] = 1 - a
        for j in range(n):
            q[j] = robot.lower[j] + (robot.upper[j] - robot.lower[j]) * uniform(state)
        if not project(q, hold, c.robot, frames):
            continue
        new, _ = advance(trees, a, q, hold, c, frames, hit)
        other, there = advance(trees, 1 - a, trees.nodes[a, new], hold, c, frames, hit)
        if there:
            trees.meeting[a], trees.meeting[1 - a] = new, other
            return 1
    return 0


def path_of(trees: HeldTrees) -> tuple[Array, int]:
    """Return the path from start to goal without the doubled meeting point.

    Args:
        trees: Search state of trees that met.

    Returns:
        Configurations (k, n), rad or m, and the index of the goal at its end.
    """
    sides = []
    for side in (0, 1):
        chain, i = [], int(trees.meeting[side])
        while i >= 0:
            chain.append(i)
            i = int(trees.parents[side, i])
        sides.append(chain)
    there = trees.nodes[0, sides[0][::-1]]
    return np.concatenate([there, trees.nodes[1, sides[1][1:]]]), sides[1][-1]
