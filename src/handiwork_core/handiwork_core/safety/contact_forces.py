"""Sums of contact forces on groups of bodies, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

from .jit import compiled
from .kernel_arrays import Ints


@compiled
def net_forces(
    bodies: NDArray[np.int32],
    address: NDArray[np.int32],
    frame: Array,
    force: Array,
    group: Ints,
    total: Array,
) -> None:
    """Sum the contact forces on each group of bodies from a simulator's list of contacts.

    Args:
        bodies: The two bodies of each contact, (c, 2).
        address: Start of each contact's force in ``force``, (c,); below zero for a contact without force.
        frame: Axes of each contact by rows, (c, 9); its force acts on the second body.
        force: Forces of all constraints, N.
        group: Group of each body, -1 for none.
        total: Filled with the net force on each group in world axes, (g, 3), N.
    """
    total[:] = 0.0
    for c in range(len(address)):
        first, second = group[bodies[c, 0]], group[bodies[c, 1]]
        if address[c] < 0 or first == second:
            continue
        for a in range(3):
            f = 0.0
            for b in range(3):
                f += force[address[c] + b] * frame[c, 3 * b + a]
            if first >= 0:
                total[first, a] -= f
            if second >= 0:
                total[second, a] += f
