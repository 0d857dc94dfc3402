"""Predicates of the width of a gripper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from conditionals_node.arguments.checks import ANY_GRIPPER, Hand, grippers, hands
from conditionals_node.views.views import T, Unknown, View
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.robot.robot import GripperSpec, Robot

from .grip import held
from .measured import Measured
from .parts import Part

OPEN_SHARE = 0.9
"""Part of the greatest width from which a gripper counts as open, when no width is given."""

ROUND_OFF = 1e-9
"""Added to margins, so that a joint exactly at its limit has reached it."""


@dataclass(frozen=True, slots=True)
class GripperOpen(Measured):
    """The gripper is measured to be at least ``min_width`` [m] open.

    ``joint`` and ``width_per_joint`` (or ``width_table``: rows of position and width) come from the robot when left
    out, as ``min_width`` does: 0.9 of the greatest.
    """

    name: ClassVar[str] = "gripper_open"
    min_width: float | None = None
    joint: str = ""
    width_per_joint: float = 0.0
    gripper_name: str = ANY_GRIPPER
    width_table: tuple[tuple[float, float], ...] = ()

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with joint and widths of the robot's only gripper, or of the one that is named.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: No gripper or several fit.
        """
        gripper = only_gripper(robot, self.gripper_name, self.joint)
        width = self.min_width if self.min_width is not None else OPEN_SHARE * gripper.max_width_m
        return replace(
            self, min_width=width, joint=gripper.joint,
            width_per_joint=gripper.width_per_joint, width_table=gripper.width_table,
        )  # fmt: skip

    def subjects(self) -> tuple[str, ...]:
        """Return no object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the width against the limit."""
        position = view.joint(self.joint)
        if self.min_width is None or (self.width_per_joint == 0.0 and not self.width_table):
            raise Unknown("min_width and width_per_joint are not set; set them, or name a robot")
        width = self._width(position, view)
        words, evidence = "gripper is %.4f m open, %.4f m count as open", (("width", width, "m", self.joint),)
        margin = width - self.min_width + ROUND_OFF
        return [[Part(margin, words, (width, self.min_width), evidence)]]

    def _width(self, position: T, view: View[T]) -> T:
        if not self.width_table:
            return position * self.width_per_joint
        width = view.number(self.width_table[0][1])
        for (a, width_a), (b, width_b) in pairwise(self.width_table):
            share = (position - a) / (b - a)
            width = view.where(share > 0.0, width_a + (width_b - width_a) * share, width)
        return view.where(position > self.width_table[-1][0], view.number(self.width_table[-1][1]), width)


@dataclass(frozen=True, slots=True)
class GripperFullyClosed(Measured):
    """The gripper has gone at least ``threshold`` of its way from open to closed, and holds nothing.

    ``while_holding``: true where it may hold something thin, as the original has it; contacts are not read then.
    ``joint``, its two positions and ``hands`` come from the robot when left out; something is held with ``min_force``
    [N], see ``object_grabbed``.
    """

    name: ClassVar[str] = "gripper_fully_closed"
    unit: ClassVar[str] = "share of the way, or N"
    threshold: float = 0.75
    gripper_name: str = ANY_GRIPPER
    joint: str = ""
    open_position: float | None = None
    closed_position: float | None = None
    while_holding: bool = False
    hands: tuple[Hand, ...] = ()
    min_force: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold <= 1.0:
            raise ValueError(f"threshold: is {self.threshold:g}; write 0 to 1")
        if self.open_position is not None and self.open_position == self.closed_position:
            raise ValueError("closed_position: equals open_position; a gripper has a way between them")

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the predicate with joint and positions filled in.

        Args:
            robot: The robot's description.

        Raises:
            ValueError: No gripper or several fit.
        """
        if self.joint and None not in (self.open_position, self.closed_position):
            return self
        found = only_gripper(robot, self.gripper_name, self.joint)
        mine = tuple(hand for hand in hands(robot) if hand.joint == found.joint and len(hand.fingers) > 1)
        ends = (found.position(found.max_width_m), found.position(found.min_width_m))
        is_open, is_closed = (
            end if given is None else given
            for end, given in zip(ends, (self.open_position, self.closed_position), strict=True)
        )
        return replace(
            self,
            joint=found.joint,
            open_position=is_open,
            closed_position=is_closed,
            hands=self.hands or mine,
        )

    def subjects(self) -> tuple[str, ...]:
        """Return no object."""
        return ()

    def groups(self, view: View[T]) -> Sequence[Sequence[Part[T]]]:
        """Return the share of the way."""
        position = view.joint(self.joint)
        if self.open_position is None or self.closed_position is None:
            raise Unknown("open_position and closed_position are not set; set them, or name a robot")
        share = (position - self.open_position) / (self.closed_position - self.open_position)
        words, evidence = "gripper is %.2f closed, %g needed", (("closed_share", share, "", self.joint),)
        way = Part(share - self.threshold + ROUND_OFF, words, (share, self.threshold), evidence)
        return [[way, self._empty(view)] if self.needs_contacts else [way]]

    @property
    def needs_contacts(self) -> bool:
        """True when the gripper must be empty."""
        return bool(self.hands) and not self.while_holding

    @property
    def needs_joints(self) -> bool:
        """True: the way is measured by the joint."""
        return True

    def _empty(self, view: View[T]) -> Part[T]:
        """Measure whether no object that can move is held."""
        names = view.movable()
        margins = [held(view, name, self.hands, self.min_force).margin for name in names]
        force = view.greatest(*margins, view.number(-self.min_force)) + self.min_force
        said = view.leader(names, margins)
        words, evidence = (
            "of all objects %s is held most firmly, with %.2f N",
            (("squeeze", force, "N", said),),
        )
        return Part(self.min_force - force, words, (said or "none", force), evidence, closed=False)


@dataclass(frozen=True, slots=True)
class GripperSlightlyClosed(GripperFullyClosed):
    """The gripper has gone at least ``threshold`` of its way from open to closed; see ``gripper_fully_closed``."""

    name: ClassVar[str] = "gripper_slightly_closed"
    threshold: float = 0.3
    while_holding: bool = True


def only_gripper(robot: Robot, gripper_name: str, joint: str) -> GripperSpec:
    """Return the single gripper that a name and a joint mean.

    Args:
        robot: The robot's description.
        gripper_name: Name of a gripper or of an arm; "gripper" means all grippers.
        joint: Name of its joint; empty: any.

    Raises:
        ValueError: No gripper or several fit.
    """
    fitting = [g for _, g in grippers(robot, gripper_name) if joint in ("", g.joint)]
    if len(fitting) != 1:
        known = [g.joint for _, g in grippers(robot, ANY_GRIPPER)]
        raise ValueError(f"joint: {joint!r} names no single gripper; use one of {known}")
    return fitting[0]
