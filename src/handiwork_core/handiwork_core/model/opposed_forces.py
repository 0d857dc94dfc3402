"""Sums of contact forces that keep a squeeze: forces that point against each other are summed apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .geometry import Array


def summed_by_side(
    forces: Array, points: Array, pairs: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Array, Array]:
    """Return the sums of the forces of each pair of bodies, apart for its two sides.

    The one side has the forces that do not point against the strongest force of the pair, the other side has the rest.
    So a body between two walls of another has two sums that do not cancel, and one that stands on another has one.

    Args:
        forces: Force of each contact on the first body of its pair, (n, 3), N.
        points: Place of each contact, (n, 3), m.
        pairs: Number of the pair of each contact, from 0 on, (n,).

    Returns:
        Pair of each sum (k,), net force (k, 3), N, and mean point (k, 3), m; in order of the pairs, the side of the
        strongest force first.
    """
    sizes = np.einsum("ni,ni->n", forces, forces)
    order = np.lexsort((sizes, pairs))
    strongest = forces[order[np.cumsum(np.bincount(pairs)) - 1]]
    against = np.einsum("ni,ni->n", forces, strongest[pairs]) < 0.0
    sides = 2 * pairs + against
    count = 2 * len(strongest)
    members = np.bincount(sides, minlength=count)
    kept = np.flatnonzero(members)
    sums = np.zeros((count, 6))
    np.add.at(sums, sides, np.concatenate([forces, points], axis=1))
    return kept // 2, sums[kept, :3], sums[kept, 3:] / members[kept, None]
