"""A short free path in one kernel: straight to a goal, else by two trees, then shortened."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array

from .arrays import Ints
from .blocks import Checker
from .borrowing import borrowed
from .edges import edge_is_free
from .jit import kernel
from .rng import State
from .shortcut import shorten
from .tree_search import Trees, grow, grown_path

NOT_YET, FULL = -1, -2


@kernel
def search(
    c: Checker, trees: Trees, order: Ints, iterations: int, cuts: int, state: State
) -> tuple[int, Array]:
    """Go on for ``iterations``: the goal that is reached, or NOT_YET, or FULL trees; and the path (k, n) to it.

    The first call tries the straight ways to the goals ``order`` (l,). The path is shortened with ``cuts`` tries; none
    leaves it as the trees met.
    """
    c, trees, state = borrowed(c), borrowed(trees), borrowed(state)
    nodes, n = trees.nodes, trees.nodes.shape[2]
    path: Array = np.empty((2, n))
    hit = np.zeros(2, dtype=np.int64)
    path[0] = nodes[0, 0]
    if trees.turn[1] == 0:
        trees.turn[1] = 1
        for i in order:
            path[1] = nodes[1, i]
            if edge_is_free(c, path[0], path[1], hit):
                return i, path
    met = grow(trees, iterations, c, state)
    if met <= 0:
        return (FULL if met < 0 else NOT_YET), path
    path, goal = grown_path(trees)
    if cuts > 0:
        path = shorten(c, path, cuts, state)
    return goal, path
