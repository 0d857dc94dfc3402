"""Predicates of the motion and the orientation of an object."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from conditionals_node.arguments.arguments import not_negative
from conditionals_node.views.views import T, View
from handiwork_core.model.geometry import Rotation

from .measured import Relation
from .parts import Part


class Axis(Enum):
    """An axis of an object's frame."""

    X = "x"
    Y = "y"
    Z = "z"


@dataclass(frozen=True, slots=True)
class ObjectUpright(Relation):
    """The object's ``up_axis`` points up within ``tolerance`` [rad]; upside down is not upright."""

    name: ClassVar[str] = "object_upright"
    unit: ClassVar[str] = "rad"
    tolerance: float = 0.1
    up_axis: Axis = Axis.Z

    def check(self) -> None:
        """Refuse an angle outside 0 to pi."""
        if not 0.0 <= self.tolerance <= math.pi:
            raise ValueError(f"tolerance: is {self.tolerance:g}; write an angle from 0 to pi [rad]")

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the angle between the axis and straight up."""
        x, y, z = view.axes(name)[("x", "y", "z").index(self.up_axis.value)]
        tilt = view.angle(view.root(x * x + y * y), z)
        return [
            Part(
                self.tolerance - tilt,
                "%s leans by %.3f rad, %g are allowed",
                (name, tilt, self.tolerance),
                (("tilt", tilt, "rad", name),),
            )
        ]


@dataclass(frozen=True, slots=True)
class ObjectStationary(Relation):
    """The object is slower than ``linear_threshold`` [m/s] and turns slower than ``angular_threshold`` [rad/s].

    ``check_angular`` false: turning does not matter.
    """

    name: ClassVar[str] = "object_stationary"
    unit: ClassVar[str] = "m/s or rad/s"
    linear_threshold: float = 0.01
    angular_threshold: float = 0.1
    check_angular: bool = True

    def check(self) -> None:
        """Refuse negative speeds."""
        not_negative(linear_threshold=self.linear_threshold, angular_threshold=self.angular_threshold)

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the speed first, then the turning."""
        parts = [slow(view, name, self.linear_threshold)]
        if self.check_angular:
            rate = view.turn_rate(name)
            limit, words = self.angular_threshold, "%s turns at %.3f rad/s, the limit is %g"
            evidence = (("turn_rate", rate, "rad/s", name),)
            parts.append(Part(limit - rate, words, (name, rate, limit), evidence, closed=False))
        return parts


class ObjectsStationary(ObjectStationary):
    """Another name of ``object_stationary``."""

    name: ClassVar[str] = "objects_stationary"


@dataclass(frozen=True, slots=True)
class ObjectAt(Relation):
    """The object's origin is at ``position`` within ``tolerance`` [m] along each axis of ``world``.

    With ``quaternion_wxyz``, its orientation is that within ``angle_tolerance`` [rad] too.
    """

    name: ClassVar[str] = "object_at"
    unit: ClassVar[str] = "m or rad"
    position: tuple[float, float, float]
    tolerance: float = 0.02
    quaternion_wxyz: tuple[float, float, float, float] | None = None
    angle_tolerance: float = 0.1

    def check(self) -> None:
        """Refuse negative tolerances, and a quaternion that is not of unit length."""
        not_negative(tolerance=self.tolerance, angle_tolerance=self.angle_tolerance)
        if self.quaternion_wxyz is not None:
            try:
                Rotation.from_wxyz(self.quaternion_wxyz)
            except ValueError as error:
                raise ValueError(f"quaternion_wxyz: {error}") from error

    def measure(self, view: View[T], name: str) -> Sequence[Part[T]]:
        """Measure the place first, then the orientation."""
        x, y, z = view.origin(name)
        off = (x - self.position[0], y - self.position[1], z - self.position[2])
        farthest = view.greatest(abs(off[0]), abs(off[1]), abs(off[2]))
        place = Part(
            self.tolerance - farthest,
            "%s is %.3f m away along the worst axis, %g are allowed",
            (name, farthest, self.tolerance),
            tuple((f"offset_{axis}", value, "m", name) for axis, value in zip("xyz", off, strict=True)),
        )
        return [place] if self.quaternion_wxyz is None else [place, self._turned(view, name)]

    def _turned(self, view: View[T], name: str) -> Part[T]:
        assert self.quaternion_wxyz is not None  # called only then
        wanted = Rotation.from_wxyz(self.quaternion_wxyz).matrix()
        axes = view.axes(name)
        # The squared gaps of the three axes add up to 8 sin^2(angle / 2), which stays exact near zero.
        gaps = [
            view.length(*(a - b for a, b in zip(axis, wanted[:, i].tolist(), strict=True)))
            for i, axis in enumerate(axes)
        ]
        sine = view.least(view.root((gaps[0] ** 2 + gaps[1] ** 2 + gaps[2] ** 2) / 8.0), view.number(1.0))
        angle = 2.0 * view.angle(sine, view.root(1.0 - sine * sine))
        words = "it is turned by %.3f rad, %g are allowed"
        evidence = (("turn", angle, "rad", name),)
        return Part(self.angle_tolerance - angle, words, (angle, self.angle_tolerance), evidence)


def slow(view: View[T], name: str, limit_mps: float) -> Part[T]:
    """Measure whether the object is slower than a limit.

    Args:
        view: The worlds.
        name: The object.
        limit_mps: The limit, m/s; it is excluded.

    Returns:
        A part whose margin is the limit minus the speed, m/s.
    """
    speed = view.speed(name)
    words, evidence = "%s moves at %.3f m/s, the limit is %g", (("speed", speed, "m/s", name),)
    return Part(limit_mps - speed, words, (name, speed, limit_mps), evidence, closed=False)
