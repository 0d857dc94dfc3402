"""Predicates of direction: left, right, in front, behind; as the robot, the world or an object sees it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from conditionals_node.arguments.arguments import not_negative
from conditionals_node.views.views import T, Vec, View

from .measured import Relation
from .parts import Part

NO_DIRECTION_M = 1e-6
"""Objects nearer to each other than this, seen from above, have no direction, m."""

FIXED_FRAMES = ("robot", "world")


class Seen(Enum):
    """The part of both objects that counts where one is seen from the other."""

    SHAPE = "shape"
    """Their shapes: the nearest points of their outlines, seen from above; a mesh counts as its convex hull."""
    ORIGIN = "origin"
    """The origins of their frames; the rule of RoboLab."""


@dataclass(frozen=True, slots=True)
class Direction(Relation):
    """The base of the four directions.

    The shortest way from the reference to the object, between their shapes as seen from above (``seen`` shape) or
    between their origins (origin, as in the original), lies within ``cone_deg`` of the direction along the axes of
    ``frame_of_reference``: "robot" (its root link), "world" or an object. Objects over each other have no direction.
    Left is its +y and behind its +x: an object in front is nearer to the robot. ``mirrored`` turns the point of
    view by 180 degrees. The centres of both may differ in height by ``level_tolerance`` [m]; None: any height.
    """

    reference_object: str
    frame_of_reference: str = "robot"
    mirrored: bool = False
    cone_deg: float = 45.0
    level_tolerance: float | None = 0.1
    seen: Seen = Seen.SHAPE
    unit: ClassVar[str] = "rad or m"
    towards: ClassVar[tuple[float, float]]
    """The direction along x and y of the frame, not mirrored."""

    def references(self) -> tuple[str, ...]:
        """Return the reference."""
        return (self.reference_object,)

    def frames(self) -> tuple[str, ...]:
        """Return the object that is the point of view; empty for "robot" and "world"."""
        return () if self.frame_of_reference in FIXED_FRAMES else (self.frame_of_reference,)

    def check(self) -> None:
        """Refuse a wrong angle, length or name."""
        if not 0.0 < self.cone_deg <= 90.0:
            raise ValueError(f"cone_deg: is {self.cone_deg:g}; write more than 0 and at most 90")
        not_negative(level_tolerance=self.level_tolerance or 0.0)
        if not self.frame_of_reference:
            raise ValueError('frame_of_reference: is empty; write "robot", "world" or the name of an object')

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the direction first, then the level."""
        parts = [self._seen(view, name)]
        if self.level_tolerance is not None:
            rise = view.centre(name)[2] - view.centre(self.reference_object)[2]
            words = "it is %.3f m higher, %g are allowed either way"
            evidence = (("offset_z", rise, "m", name),)
            limit = self.level_tolerance
            parts.append(Part(limit - abs(rise), words, (rise, limit), evidence))
        return parts

    def _between(self, view: View[T], name: str) -> Vec[T]:
        if self.seen is Seen.SHAPE:
            x, y = view.beside(name, self.reference_object)
            return x, y, view.number(0.0)
        a, b = view.origin(name), view.origin(self.reference_object)
        return a[0] - b[0], a[1] - b[1], a[2] - b[2]

    def _seen(self, view: View[T], name: str) -> Part[T]:
        between = self._between(view, name)
        x_axis, y_axis, _ = view.frame_axes(self.frame_of_reference)
        x, y = _along(between, x_axis), _along(between, y_axis)
        sign = -1.0 if self.mirrored else 1.0
        to_x, to_y = sign * self.towards[0], sign * self.towards[1]
        off = view.angle(abs(to_x * y - to_y * x), to_x * x + to_y * y)
        far = view.root(x * x + y * y) > NO_DIRECTION_M
        return Part(
            view.where(far, math.radians(self.cone_deg) - off, view.number(-math.pi)),
            "%s lies %.2f rad off the direction %s from %s as %s sees it, %g deg are allowed",
            (
                name,
                off,
                self.name.removeprefix("object_"),
                self.reference_object,
                self.frame_of_reference,
                self.cone_deg,
            ),
            (("off_direction", off, "rad", name), ("offset_x", x, "m", name), ("offset_y", y, "m", name)),
        )


def _along(vector: Vec[T], axis: Vec[T]) -> T:
    return vector[0] * axis[0] + vector[1] * axis[1] + vector[2] * axis[2]


class ObjectLeftOf(Direction):
    """The object is left of the reference."""

    name: ClassVar[str] = "object_left_of"
    towards: ClassVar[tuple[float, float]] = (0.0, 1.0)


class ObjectRightOf(Direction):
    """The object is right of the reference."""

    name: ClassVar[str] = "object_right_of"
    towards: ClassVar[tuple[float, float]] = (0.0, -1.0)


class ObjectInFrontOf(Direction):
    """The object is in front of the reference: nearer to the robot."""

    name: ClassVar[str] = "object_in_front_of"
    towards: ClassVar[tuple[float, float]] = (-1.0, 0.0)


class ObjectBehind(Direction):
    """The object is behind the reference: farther from the robot."""

    name: ClassVar[str] = "object_behind"
    towards: ClassVar[tuple[float, float]] = (1.0, 0.0)
