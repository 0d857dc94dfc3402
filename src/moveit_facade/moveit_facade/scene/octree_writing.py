"""Writes occupied cells as the stream of occupancy of an octree, which ``octree`` describes and reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .octree import INNER, LEVELS, OCCUPIED, Numbers


def write_occupancy(cells: Numbers) -> bytes:
    """Return the stream of the tree in which these cells are occupied and all others unknown.

    The leaves are single cells: eight equal ones are not joined.

    Args:
        cells: Cells from the tree's origin, (n, 3).

    Returns:
        The stream; no bytes without cells.
    """
    if not len(cells):
        return b""
    below = _codes(cells)
    places, levels, words = [], [], []
    for level in range(LEVELS - 1, -1, -1):
        # ``below`` has the codes of the nodes one level deeper, in order: the three lowest bits number the child.
        nodes, first = np.unique(below >> np.uint64(3), return_index=True)
        kind = OCCUPIED if level == LEVELS - 1 else INNER
        bits = np.left_shift(np.int64(kind), 2 * (below & np.uint64(7)).astype(np.int64))
        words.append(np.bitwise_or.reduceat(bits, first))
        places.append(nodes << np.uint64(3 * (LEVELS - level)))
        levels.append(np.full(len(nodes), level))
        below = nodes
    # Depth first: a node comes before all that has its place, children in the order of their places.
    order = np.lexsort((np.concatenate(levels), np.concatenate(places)))
    stream: bytes = np.concatenate(words)[order].astype("<u2").tobytes()
    return stream


def _codes(cells: Numbers) -> NDArray[np.uint64]:
    """Return the sorted places of cells: bit 3 k, 3 k + 1 and 3 k + 2 are bit k of x, y and z from the least corner."""
    keys = (cells + (1 << (LEVELS - 1))).astype(np.uint64)
    codes = np.zeros(len(cells), dtype=np.uint64)
    for bit in range(LEVELS):
        for axis in range(3):
            codes |= (keys[:, axis] >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return np.unique(codes)
