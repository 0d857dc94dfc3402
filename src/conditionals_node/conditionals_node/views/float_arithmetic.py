"""The arithmetic of a view whose numbers are floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .views import View


class FloatArithmetic(View[float]):
    """The arithmetic of the ``View`` of one world."""

    __slots__ = ()

    def number(self, value: float) -> float:
        """Return the number itself."""
        return value

    def least(self, *values: float) -> float:
        """Return the smallest value."""
        return min(values)

    def greatest(self, *values: float) -> float:
        """Return the greatest value."""
        return max(values)

    def root(self, value: float) -> float:
        """Return the square root."""
        return math.sqrt(value)

    def angle(self, y: float, x: float) -> float:
        """Return the angle of (x, y) from the x axis, rad."""
        return math.atan2(y, x)

    def where(self, condition: Any, yes: float, no: float) -> float:  # noqa: ANN401
        """Return ``yes`` when the condition holds, else ``no``."""
        return yes if condition else no

    def nowhere(self, condition: Any) -> bool:  # noqa: ANN401
        """Return True when the condition does not hold."""
        return not condition

    def leader(self, names: Sequence[str], values: Sequence[float]) -> str:
        """Return the name with the greatest value; empty without names."""
        return names[max(range(len(names)), key=lambda i: values[i])] if names else ""
