"""The arithmetic of a view whose numbers are arrays, and the axes of many turned frames."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from conditionals_node.views.views import (
    Vec,
    View,
)
from handiwork_core.model.geometry import Array

Axes = tuple[Vec[Array], Vec[Array], Vec[Array]]


class ArrayArithmetic(View[Array]):
    """The arithmetic of a ``View`` whose numbers are arrays (n,).

    Args:
        n: Number of rows.
    """

    def __init__(self, n: int) -> None:
        self._n = n

    def number(self, value: float) -> Array:
        """Return the same number in every row."""
        return np.full(self._n, value)

    def least(self, *values: Array) -> Array:
        """Return the smallest value; nan where one is nan."""
        return functools.reduce(np.minimum, values)

    def greatest(self, *values: Array) -> Array:
        """Return the greatest value; nan where one is nan."""
        return functools.reduce(np.maximum, values)

    def root(self, value: Array) -> Array:
        """Return the square root."""
        return np.sqrt(value)

    def angle(self, y: Array, x: Array) -> Array:
        """Return the angle of (x, y) from the x axis, rad."""
        return np.arctan2(y, x)

    def where(self, condition: Any, yes: Array, no: Array) -> Array:  # noqa: ANN401
        """Return ``yes`` where the condition holds, else ``no``."""
        return np.where(condition, yes, no)

    def nowhere(self, condition: Any) -> bool:  # noqa: ANN401
        """Return True when the condition holds in no row."""
        return not np.any(condition)

    def leader(self, names: Sequence[str], values: Sequence[Array]) -> str:
        """Return an empty text: the name differs from row to row."""
        return ""


def array_axes(wxyz: Array) -> Axes:
    """Return the x, y and z axis of turned frames.

    Args:
        wxyz: Unit quaternions, scalar first, (n, 4).

    Returns:
        The columns of the rotation matrices; each has three arrays (n,).
    """
    w, x, y, z = np.ascontiguousarray(wxyz.T)
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
