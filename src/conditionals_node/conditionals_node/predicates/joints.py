"""Joints: how wide a gripper stands, and how far a drawer, door or lid is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from conditionals_node.views import T, Unknown, View
from handiwork_core.predicate import Predicate
from handiwork_core.robot import GripperSpec, Robot

from .checks import ANY_GRIPPER, grippers
from .measured import Measured
from .parts import Part

OPEN_SHARE = 0.9
"""Part of the greatest width from which a gripper counts as open, when no width is given."""

ROUND_OFF = 1e-9
"""A joint that stands exactly at its limit has reached it."""


@dataclass(frozen=True, slots=True)
class GripperOpen(Measured):
    """The gripper is measured to be at least ``min_width`` [m] open.

    ``joint`` and ``width_per_joint`` come from the robot when left out, as ``min_width`` does: 0.9 of the greatest.
    """

    name: ClassVar[str] = "gripper_open"
    min_width: float | None = None
    joint: str = ""
    width_per_joint: float = 0.0
    gripper_name: str = ANY_GRIPPER

    def for_robot(self, robot: Robot) -> Predicate:
        """Fill in joint and widths from the robot's only gripper, or from the one that is named."""
        gripper = only_gripper(robot, self.gripper_name, self.joint)
        width = self.min_width if self.min_width is not None else OPEN_SHARE * gripper.max_width_m
        return replace(self, min_width=width, joint=gripper.joint, width_per_joint=gripper.width_per_joint)

    def subjects(self) -> tuple[str, ...]:
        """No object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Width against the limit."""
        position = view.joint(self.joint)
        if self.min_width is None or self.width_per_joint == 0.0:
            raise Unknown("min_width and width_per_joint are not set; set them, or name a robot")
        width = position * self.width_per_joint
        words, evidence = "gripper is %.4f m open, %.4f m count as open", (("width", width, "m", self.joint),)
        margin = width - self.min_width + ROUND_OFF
        return [[Part(margin, words, (width, self.min_width), evidence)]]


@dataclass(frozen=True, slots=True)
class GripperFullyClosed(Measured):
    """The gripper has gone at least ``threshold`` of its way from open to closed.

    ``joint`` and its two positions come from the robot when left out.
    """

    name: ClassVar[str] = "gripper_fully_closed"
    unit: ClassVar[str] = "share of the way"
    threshold: float = 0.75
    gripper_name: str = ANY_GRIPPER
    joint: str = ""
    open_position: float | None = None
    closed_position: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise ValueError(f"threshold: is {self.threshold:g}; write 0 to 1")
        if self.open_position is not None and self.open_position == self.closed_position:
            raise ValueError("closed_position: equals open_position; a gripper has a way between them")

    def for_robot(self, robot: Robot) -> Predicate:
        """Fill in joint and positions."""
        if self.joint and None not in (self.open_position, self.closed_position):
            return self
        found = only_gripper(robot, self.gripper_name, self.joint)
        ends = (found.max_width_m / found.width_per_joint, found.min_width_m / found.width_per_joint)
        is_open, is_closed = (
            end if given is None else given
            for end, given in zip(ends, (self.open_position, self.closed_position), strict=True)
        )
        return replace(self, joint=found.joint, open_position=is_open, closed_position=is_closed)

    def subjects(self) -> tuple[str, ...]:
        """No object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Share of the way."""
        position = view.joint(self.joint)
        if self.open_position is None or self.closed_position is None:
            raise Unknown("open_position and closed_position are not set; set them, or name a robot")
        share = (position - self.open_position) / (self.closed_position - self.open_position)
        words, evidence = "gripper is %.2f closed, %g needed", (("closed_share", share, "", self.joint),)
        return [[Part(share - self.threshold + ROUND_OFF, words, (share, self.threshold), evidence)]]


@dataclass(frozen=True, slots=True)
class GripperSlightlyClosed(GripperFullyClosed):
    """As ``gripper_fully_closed``, from 0.3 of the way on."""

    name: ClassVar[str] = "gripper_slightly_closed"
    threshold: float = 0.3


@dataclass(frozen=True, slots=True)
class JointInRange(Measured):
    """A measured joint stands between ``lower`` and ``upper`` [rad or m], both included."""

    name: ClassVar[str] = "joint_in_range"
    unit: ClassVar[str] = "rad or m"
    joint: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError(f"lower: is {self.lower:g}, above upper, {self.upper:g}; swap them")

    def subjects(self) -> tuple[str, ...]:
        """No object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """The nearer end decides."""
        at = view.joint(self.joint)
        words, evidence = (
            "joint %s stands at %.4f, from %g to %g is wanted",
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
        """Fill in ``open_position`` with the limit that is farther from closed."""
        if self.open_position is not None:
            return self
        if self.joint not in robot.joints:
            raise ValueError(
                f"open_position: is missing, and {self.joint!r} is no joint of the robot; add it"
            )
        limits = (robot.joints[self.joint].lower, robot.joints[self.joint].upper)
        return replace(self, open_position=max(limits, key=lambda limit: abs(limit - self.closed_position)))

    def subjects(self) -> tuple[str, ...]:
        """No object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Share of the way."""
        position = view.joint(self.joint)
        if self.open_position is None:
            raise Unknown("open_position is not set; set it, or name a robot's joint")
        gone = (position - self.closed_position) / (self.open_position - self.closed_position)
        words, evidence = "joint %s is %.3f open, the limit is %g", (("open_share", gone, "", self.joint),)
        margin = self.sign * (gone - self.share) + ROUND_OFF
        return [[Part(margin, words, (self.joint, gone, self.share), evidence)]]


@dataclass(frozen=True, slots=True)
class JointClosed(JointOpen):
    """As ``joint_open``, but it has gone at most ``share`` of the way."""

    name: ClassVar[str] = "joint_closed"
    share: float = 0.1
    sign: ClassVar[float] = -1.0


def only_gripper(robot: Robot, gripper_name: str, joint: str) -> GripperSpec:
    """The gripper that is meant.

    Raises:
        ValueError: none or several fit.
    """
    fitting = [g for _, g in grippers(robot, gripper_name) if joint in ("", g.joint)]
    if len(fitting) != 1:
        known = [g.joint for _, g in grippers(robot, ANY_GRIPPER)]
        raise ValueError(f"joint: {joint!r} names no single gripper; use one of {known}")
    return fitting[0]
