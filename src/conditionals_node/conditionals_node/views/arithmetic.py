"""The arithmetic of a view: the same for one world and for thousands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from handiwork_core.model.geometry import Array

T = TypeVar("T", float, Array)
"""A number, or one for each world of a batch."""


class Arithmetic(ABC, Generic[T]):
    """Functions of numbers that are floats for one world, and arrays (n,) for a batch."""

    @abstractmethod
    def number(self, value: float) -> T:
        """Return the same number in every world.

        Args:
            value: The number.
        """

    @abstractmethod
    def least(self, *values: T) -> T:
        """Return the smallest value of each world.

        Args:
            *values: At least one.
        """

    @abstractmethod
    def greatest(self, *values: T) -> T:
        """Return the greatest value of each world.

        Args:
            *values: At least one.
        """

    @abstractmethod
    def root(self, value: T) -> T:
        """Return the square root.

        Args:
            value: Not negative.
        """

    @abstractmethod
    def angle(self, y: T, x: T) -> T:
        """Return the angle of (x, y) from the x axis, rad, -pi to pi.

        Args:
            y: Second component.
            x: First component.
        """

    @abstractmethod
    def where(self, condition: Any, yes: T, no: T) -> T:  # noqa: ANN401  # a comparison of two T
        """Return ``yes`` where the condition holds, else ``no``.

        Args:
            condition: Comparison of two numbers.
            yes: Result where it holds.
            no: Result where it does not hold.
        """

    @abstractmethod
    def nowhere(self, condition: Any) -> bool:  # noqa: ANN401  # a comparison of two T
        """Return True when a condition holds in no world, so that what follows from it need not be measured.

        Args:
            condition: Comparison of two numbers.
        """

    @abstractmethod
    def leader(self, names: Sequence[str], values: Sequence[T]) -> str:
        """Return the name with the greatest value.

        Args:
            names: Names.
            values: One for each name.

        Returns:
            The name; empty without names, and in a batch.
        """

    def length(self, x: T, y: T, z: T) -> T:
        """Return the length of a vector.

        Args:
            x: First component.
            y: Second component.
            z: Third component.
        """
        return self.root(x * x + y * y + z * z)
