"""The questions that a predicate may ask of a world, and its arithmetic: the same for one world and for thousands.

A predicate that is written against ``View`` needs no second version for batches: its numbers are floats in one
world and arrays (n,) in a batch.
"""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import TypeAlias

from .arithmetic import Arithmetic, T

Vec: TypeAlias = tuple[T, T, T]
Box: TypeAlias = tuple[T, T, T, T, T, T]
"""Lowest corner, then highest, m."""
Insertion: TypeAlias = tuple[T, T | None, T | None, T | None, str]
"""Depth, m; share of the object that is inside; share that is needed; tilt of the opening, rad; what is nearest."""
__all__ = ["Arithmetic", "Box", "Insertion", "Point", "T", "Unknown", "Vec", "View"]


class Unknown(Exception):
    """Something that is needed is not known; the message names it."""


class Point(Enum):
    """The point that stands for an object."""

    CENTROID = "centroid"
    """Centroid of the hull's volume: does not depend on how a mesh is cut into triangles."""
    VERTEX_MEAN = "vertex_mean"
    """Mean of the hull's corners."""


class View(Arithmetic[T]):
    """One world, or many. Lengths in metres, forces in newtons, axes of ``world``.

    Every question about an object raises ``Unknown`` where the object, its pose, its geometry or the stream is
    missing.
    """

    # Objects -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def origin(self, name: str) -> Vec[T]:
        """Return the origin of an object's frame in world, m.

        Args:
            name: The object.
        """

    @abstractmethod
    def axes(self, name: str) -> tuple[Vec[T], Vec[T], Vec[T]]:
        """Return the x, y and z axis of an object's frame in world, as unit vectors.

        Args:
            name: The object.
        """

    @abstractmethod
    def frame_axes(self, frame: str) -> tuple[Vec[T], Vec[T], Vec[T]]:
        """Return the x, y and z axis of a frame in world, as unit vectors.

        Args:
            frame: "world", "robot" or an object.
        """

    @abstractmethod
    def centre(self, name: str, point: Point = Point.CENTROID) -> Vec[T]:
        """Return the point that stands for an object, in world, m.

        Args:
            name: The object.
            point: The kind of point.
        """

    @abstractmethod
    def box(self, name: str) -> Box[T]:
        """Return the box around an object along the axes of world, m.

        Args:
            name: The object.
        """

    @abstractmethod
    def depth(
        self, name: str, container: str, point: Point, closed: bool, above_rim: float | None
    ) -> tuple[T, T, str]:
        """Return the depth of an object's point in a container's hull.

        Args:
            name: The object.
            container: The container.
            point: The kind of point.
            closed: False to leave out the faces that look up.
            above_rim: Height over the highest corner that still counts as inside, m; None: no limit.

        Returns:
            The depth, m, negative outside; number and name of the nearest face. In a batch the face is not given.
        """

    @abstractmethod
    def inside(self, name: str, container: str, share: float, above_rim: float, closed: bool) -> Insertion[T]:
        """Return how deep an object is in a container's cavity, or in its hull when the container is convex.

        Args:
            name: The object.
            container: The container.
            share: Share of the object that must be inside, 0 to 1.
            above_rim: Height over the rim that still counts as inside, m.
            closed: False: of an object that is longer than the cavity is deep, the depth counts as its length.

        Returns:
            The depth at which the share is reached, m, negative outside; the share that is inside, the share that is
            needed, and how much farther than in its own frame, a right angle at most, the opening looks from straight
            up, rad, all three None for a container without a cavity; the nearest face, "rim" or "wall", "size" where
            the object is larger than a convex container, "nothing" for a container that has no inside. In a batch the
            nearest is not given.
        """

    @abstractmethod
    def inset(self, name: str, reference: str) -> T:
        """Return how far an object's centre is within a reference's outline, seen from above.

        Args:
            name: The object.
            reference: The reference; its outline is that of its shapes, not of its box.

        Returns:
            The distance to the nearest edge, m, negative outside.
        """

    @abstractmethod
    def beside(self, name: str, reference: str) -> tuple[T, T]:
        """Return the shortest vector from a reference to an object, seen from above.

        Args:
            name: The object.
            reference: The reference.

        Returns:
            Its x and y in world, m; zero where the outlines overlap.
        """

    @abstractmethod
    def reach(self, name: str, direction: Vec[T]) -> tuple[T, T]:
        """Return the least and the greatest coordinate of an object's shapes along a direction, m.

        Args:
            name: The object.
            direction: A unit vector in world.
        """

    @abstractmethod
    def speed(self, name: str) -> T:
        """Return the speed of the object's origin, m/s.

        Args:
            name: The object.
        """

    @abstractmethod
    def turn_rate(self, name: str) -> T:
        """Return the size of the object's angular velocity, rad/s.

        Args:
            name: The object.
        """

    @abstractmethod
    def movable(self) -> list[str]:
        """Return the objects that are not static, sorted."""

    # Contacts and joints -----------------------------------------------------------------------------------------

    @abstractmethod
    def push(self, on: str, by: str) -> Vec[T]:
        """Return the net force on a body from another, in world, N.

        Args:
            on: The body that the force acts on.
            by: The other body.
        """

    @abstractmethod
    def touch(self, a: str, b: str) -> T:
        """Return the sum of the sizes of the forces between two bodies, so that a squeeze does not cancel.

        Args:
            a: A body.
            b: The other body.

        Returns:
            N; 0 where they do not touch. A batch that was given net forces only returns their size.
        """

    @abstractmethod
    def needed(self, min_force: float, weight_share: float, *names: str) -> T:
        """Return the force from which bodies count as touching: a light one presses with its weight at most.

        Args:
            min_force: The force that heavy bodies need, N.
            weight_share: Largest share of the weight of the lightest body that is needed; 0: weights do not count.
            names: The bodies; those without a known mass, and fixed ones, count as heavy.

        Returns:
            N.
        """

    @abstractmethod
    def lift(self, name: str) -> T:
        """Return the sum of the upward parts of the net forces on a body from each other body.

        Args:
            name: The body.

        Returns:
            N; 0 where nothing carries it.
        """

    @abstractmethod
    def contact_point(self, on: str, by: str) -> Vec[T]:
        """Return the mean point of two bodies' contacts, in world, m.

        Args:
            on: A body.
            by: The other body.

        Returns:
            The point; nan where they do not touch.
        """

    @abstractmethod
    def joint(self, name: str) -> T:
        """Return the measured position of a joint, rad or m.

        Args:
            name: The joint.
        """
