"""Poses of the shapes of the world: only those of bodies that moved are computed again, all in one pass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ObjectState
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel


@kernel
def place(moved: Ints, quaternions: Array, places: Array, first: Ints, local: Array, out: Array) -> None:
    """Compute the world poses of all shapes of the bodies that moved.

    Args:
        moved: Indices of the bodies, (k,).
        quaternions: Rotations of these bodies in the world, one after the other, (4 k,), wxyz.
        places: Translations of these bodies in the world, one after the other, (3 k,), m.
        first: First row of each body's shapes, (b + 1,).
        local: Poses of the shapes in their bodies, (m, 12).
        out: Written: poses of the shapes in the world, (m, 12).
    """
    for k in range(len(moved)):
        w, x, y, z = (
            quaternions[4 * k],
            quaternions[4 * k + 1],
            quaternions[4 * k + 2],
            quaternions[4 * k + 3],
        )
        r = (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
        for i in range(first[moved[k]], first[moved[k] + 1]):
            for row in range(3):
                a, b, c = r[row]
                for j in range(3):
                    out[i, 3 * row + j] = a * local[i, j] + b * local[i, 3 + j] + c * local[i, 6 + j]
                out[i, 9 + row] = a * local[i, 9] + b * local[i, 10] + c * local[i, 11] + places[3 * k + row]


class Placing:
    """Remembers, by identity, the last pose of each body."""

    def __init__(self, names: tuple[str, ...], counts: list[int], local: Array) -> None:
        """Take the bodies and their shapes.

        Args:
            names: Names of the bodies, (b,).
            counts: Number of shapes of each, (b,).
            local: Poses of all shapes in their bodies, (m, 12).
        """
        self._names, self._local = names, local
        self._first = np.cumsum([0, *counts], dtype=np.int64)
        self._seen: list[Pose | None] = [None] * len(names)

    def move(self, states: Mapping[str, ObjectState], out: Array) -> bool:
        """Write the poses of all shapes whose body has another pose than before.

        Args:
            states: State of every body.
            out: Written: poses of the shapes in the world, (m, 12).

        Returns:
            Whether any body moved.
        """
        poses = [states[name].world_T_object for name in self._names]
        moved = [i for i, (new, old) in enumerate(zip(poses, self._seen, strict=True)) if new is not old]
        if not moved:
            return False
        quaternions = np.concatenate([poses[i].rotation.wxyz for i in moved])
        places = np.concatenate([poses[i].translation_m for i in moved])
        place(np.array(moved), quaternions, places, self._first, self._local, out)
        self._seen = list(poses)
        return True
