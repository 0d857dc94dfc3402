"""What a predicate may ask of a world, and the arithmetic it may use: the same for one world and for thousands.

A predicate that is written against ``View`` needs no second version for batches: its numbers are floats there and
arrays (n,) here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

from handiwork_core.model.geometry import Array

T = TypeVar("T", float, Array)
"""A number, or one for each world of a batch."""

Vec: TypeAlias = tuple[T, T, T]
Box: TypeAlias = tuple[T, T, T, T, T, T]
"""Lowest corner, then highest."""


class Unknown(Exception):
    """Something that is needed is not known; the message says what."""


class Point(Enum):
    """Which point stands for an object."""

    CENTROID = "centroid"
    """Centroid of the hull's volume: does not depend on how a mesh is cut into triangles."""
    VERTEX_MEAN = "vertex_mean"
    """Mean of the hull's corners."""


class View(ABC, Generic[T]):
    """One world, or many. Lengths in metres, forces in newtons, axes of ``world``.

    Every question about an object raises ``Unknown`` where the object, its pose, its geometry or the stream is missing.
    """

    # Arithmetic --------------------------------------------------------------------------------------------------

    @abstractmethod
    def number(self, value: float) -> T:
        """The same number in every world."""

    @abstractmethod
    def least(self, *values: T) -> T:
        """Smallest."""

    @abstractmethod
    def greatest(self, *values: T) -> T:
        """Greatest."""

    @abstractmethod
    def root(self, value: T) -> T:
        """Square root."""

    @abstractmethod
    def angle(self, y: T, x: T) -> T:
        """Angle of (x, y) from the x axis [rad]."""

    @abstractmethod
    def where(self, condition: Any, yes: T, no: T) -> T:  # noqa: ANN401  # a comparison of two T
        """``yes`` where the condition holds, else ``no``."""

    @abstractmethod
    def leader(self, names: Sequence[str], values: Sequence[T]) -> str:
        """The name with the greatest value; empty without names, and in a batch."""

    def length(self, x: T, y: T, z: T) -> T:
        """Of a vector."""
        return self.root(x * x + y * y + z * z)

    # Objects -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def origin(self, name: str) -> Vec[T]:
        """Origin of an object's frame."""

    @abstractmethod
    def axes(self, name: str) -> tuple[Vec[T], Vec[T], Vec[T]]:
        """Its x, y and z axis."""

    @abstractmethod
    def frame_axes(self, frame: str) -> tuple[Vec[T], Vec[T], Vec[T]]:
        """As ``axes``, for "world", "robot" or an object."""

    @abstractmethod
    def centre(self, name: str, point: Point = Point.CENTROID) -> Vec[T]:
        """The point that stands for an object."""

    @abstractmethod
    def box(self, name: str) -> Box[T]:
        """Axis-aligned box around an object."""

    @abstractmethod
    def depth(
        self, name: str, container: str, point: Point, closed: bool, above_rim: float | None
    ) -> tuple[T, T, str]:
        """How deep an object's point is in a container's hull; number of the face it is nearest to, and its name.

        Faces that look up are left out unless ``closed``; ``above_rim`` [m] over the highest corner is the end then.
        In a batch the face is not told.
        """

    @abstractmethod
    def speed(self, name: str) -> T:
        """Of the object's origin [m/s]."""

    @abstractmethod
    def turn_rate(self, name: str) -> T:
        """How fast it turns [rad/s]."""

    @abstractmethod
    def movable(self) -> list[str]:
        """Objects that are not static, sorted."""

    # Contacts and joints -----------------------------------------------------------------------------------------

    @abstractmethod
    def push(self, on: str, by: str) -> Vec[T]:
        """Net force on a body from another."""

    @abstractmethod
    def touch(self, a: str, b: str) -> T:
        """Sum of the forces between two bodies without regard to direction, so that a squeeze does not cancel."""

    @abstractmethod
    def contact_point(self, on: str, by: str) -> Vec[T]:
        """Mean point of their contacts; not a number where they do not touch."""

    @abstractmethod
    def joint(self, name: str) -> T:
        """Measured position [rad, m]."""
