"""Predicates of joints: the position of a joint, and how far a drawer, door or lid is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from conditionals_node.views.views import T, Unknown, View
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.robot.robot import Robot

from .measured import Measured
from .parts import Part

ROUND_OFF = 1e-9
"""Added to margins, so that a joint exactly at its limit has reached it."""


@dataclass(frozen=True, slots=True)
class JointInRange(Measured):
    """A measured joint is between ``lower`` and ``upper`` [rad or m], both included."""

    name: ClassVar[str] = "joint_in_range"
    unit: ClassVar[str] = "rad or m"
    joint: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError(f"lower: is {self.lower:g}, above upper, {self.upper:g}; swap them")

    def subjects(self) -> tuple[str, ...]:
        """Return no object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the distance to the nearer end."""
        at = view.joint(self.joint)
        words, evidence = (
            "joint %s is at %.4f, %g to %g needed",
            (("position", at, "", self.joint),),
        )
        margin = view.least(at - self.lower, self.upper - at)
        return [[Part(margin, words, (self.joint, at, self.lower, self.upper), evidence)]]


@dataclass(frozen=True, slots=True)
class JointOpen(Measured):
    """A drawer, door or lid has gone at least ``share`` of its way from ``closed_position`` to ``open_position``.

    Both are positions of its joint [rad or m]; those of a robot's joint are its limits when left out.
    """

    name: ClassVar[str] = "joint_open"
    unit: ClassVar[str] = "share of the way"
    joint: str
    open_position: float | None = None
    closed_position: float = 0.0
    share: float = 0.9
    sign: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"share: is {self.share:g}; write 0 to 1")
        if self.open_position == self.closed_position:
            raise ValueError("open_position: equals closed_position; a joint has a way between them")

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with ``open_position`` filled in: the joint's limit that is farther from closed.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: The position is missing, and the robot has no such joint.
        """
        if self.open_position is not None:
            return self
        if self.joint not in robot.joints:
            raise ValueError(
                f"open_position: is missing, and {self.joint!r} is no joint of the robot; add it"
            )
        limits = (robot.joints[self.joint].lower, robot.joints[self.joint].upper)
        return replace(self, open_position=max(limits, key=lambda limit: abs(limit - self.closed_position)))

    def subjects(self) -> tuple[str, ...]:
        """Return no object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the share of the way."""
        position = view.joint(self.joint)
        if self.open_position is None:
            raise Unknown("open_position is not set; set it, or name a robot's joint")
        gone = (position - self.closed_position) / (self.open_position - self.closed_position)
        words, evidence = "joint %s is %.3f open, the limit is %g", (("open_share", gone, "", self.joint),)
        margin = self.sign * (gone - self.share) + ROUND_OFF
        return [[Part(margin, words, (self.joint, gone, self.share), evidence)]]


@dataclass(frozen=True, slots=True)
class JointClosed(JointOpen):
    """A drawer, door or lid has gone at most ``share`` of its way; see ``joint_open``."""

    name: ClassVar[str] = "joint_closed"
    share: float = 0.1
    sign: ClassVar[float] = -1.0
