"""Events of a run by which its failures are distinguished. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .result import PolicyEvent

OPENED_M = 0.002
"""A gripper whose command is this much wider than its measured opening is opening, m."""


class EventWatch:
    """Compares each world with the one before.

    Args:
        robot: The robot.
        may_touch: Objects that the policy may touch and grasp.
    """

    def __init__(self, robot: Robot, may_touch: Iterable[str]) -> None:
        self._links = f"{robot.name}/"
        grippers = (arm.gripper for arm in robot.arms.values())
        self._fingers = frozenset(
            f"{robot.name}/{link}" for one in grippers if one is not None for link in one.finger_links
        )
        self._may_touch = frozenset(may_touch)
        self._held = ""
        self._touching: frozenset[frozenset[str]] = frozenset()
        self._is_first = True
        self.events: list[PolicyEvent] = []

    def update(self, world: World, held: str, *, is_opening: bool, time_s: float) -> None:
        """Take a world into account.

        Args:
            world: The world.
            held: Name of the object that the hand holds; empty for none.
            is_opening: True while the fingers are commanded to open.
            time_s: Time since the beginning, s.
        """

        def note(kind: str, what: str) -> None:
            self.events.append(PolicyEvent(kind, what, round(time_s, 4)))

        if held and held != self._held:
            note("grasped" if held in self._may_touch else "wrong_object", held)
        elif self._held and not held:
            note("released" if is_opening else "dropped", self._held)
        self._held = held
        touching = frozenset(
            frozenset((contact.a, contact.b))
            for contact in world.contacts or ()
            if self._is_bump(contact.a, contact.b)
        )
        if not self._is_first:
            for pair in sorted(map(sorted, touching - self._touching)):
                note("bumped", " and ".join(pair))
        self._is_first, self._touching = False, touching

    def _is_bump(self, a: str, b: str) -> bool:
        robots = [name.startswith(self._links) for name in (a, b)]
        if all(robots):
            return not {a, b} <= self._fingers  # fingers that close on nothing touch each other
        if not any(robots):
            return False
        return (b if robots[0] else a) not in self._may_touch
