"""The interfaces of a skill that decides at the rate of a control loop: reactive commands, pictures, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

from .planning import ShouldStop
from .predicate import Truth


class Reactive(Protocol):
    """The topic on which a trajectory controller takes short schedules, each of which replaces the one before."""

    def fault(self) -> str:
        """Return why nothing would follow a schedule, in one sentence; empty for nothing."""
        ...

    def send(self, q: Array, v: Array, stamp_s: float, due_s: Array) -> None:
        """Send a schedule; does not wait.

        The arm goes through the points at their times and rests at the last, unless another schedule comes. So a late
        sender never lets it go beyond what was sent.

        Args:
            q: Positions, (n, dof), rad or m.
            v: Velocities, (n, dof), rad/s or m/s; the last row is zero.
            stamp_s: Time to which ``due_s`` refers, s of the robot's world.
            due_s: Time until each point, (n,), s; rising, not negative.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An image of a camera.

    Attributes:
        stamp_s: Time at which it was taken, s of the robot's world.
        rgb: Its pixels, (h, w, 3).
    """

    stamp_s: float
    rgb: NDArray[np.uint8]


class Cameras(Protocol):
    """The newest images by topic."""

    def open(self, topics: Sequence[str]) -> None:
        """Receive images from now on.

        Args:
            topics: Names of the topics.
        """
        ...

    def picture(self, topic: str) -> Picture | str:
        """Return the newest image of an open topic, or why there is none, in one sentence.

        Args:
            topic: Name of the topic.
        """
        ...

    def close(self) -> None:
        """Receive no images any more."""
        ...


@dataclass(frozen=True, slots=True)
class WatchedCondition:
    """What the monitor says of a condition that it watches.

    Attributes:
        truth: Its value.
        stamp_s: Oldest stamp of what was looked at, s.
        is_confirmed: It is TRUE for a while, with its objects at rest.
        reason: A sentence with numbers.
        margin: Distance to the boundary in its own unit; nan without one.
    """

    truth: Truth
    stamp_s: float
    is_confirmed: bool
    reason: str
    margin: float


@dataclass(frozen=True, slots=True)
class ConditionTable:
    """All conditions that the monitor watches, at one moment.

    Attributes:
        age_s: Time since it came, s of steady time.
        conditions: The conditions by key.
    """

    age_s: float
    conditions: dict[str, WatchedCondition]


class WatchedConditions(Protocol):
    """The conditions that the monitor watches."""

    def find(self, text: str, *, should_stop: ShouldStop) -> tuple[str, str]:
        """Return the key of a watched condition, or why there is none.

        Args:
            text: Its name, or its expression in any spelling.
            should_stop: Turns true when the answer is not needed any more.

        Returns:
            The key, and an empty text; else an empty key, and the fault in one sentence.
        """
        ...

    def table(self) -> ConditionTable | None:
        """Return the newest table; None before the first."""
        ...
