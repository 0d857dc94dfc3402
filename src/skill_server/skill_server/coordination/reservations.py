"""The reservations of paths: where each arm of a robot moves, so that no two of them ever move to the same place.

A motion is reserved before it begins, and only if it was judged against all motions that the other arms had reserved
by then. So any two reserved motions keep clear of each other, whatever their times are.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.skill import Stopped
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory

LATE_S = 0.3
"""An arm may be this much later on its path than its trajectory says, s."""
ROW_RAD = 0.03
"""The largest step of a joint between two rows of a path, rad."""


@dataclass(frozen=True, slots=True, eq=False)
class ReservedPath:
    """A reserved motion.

    Attributes:
        t_s: Times, (k,), s.
        q: Configurations, (k, dof), rad or m.
        begun_s: Time of the robot's world when it began, s; None until the arm moves.
    """

    t_s: Array
    q: Array
    begun_s: float | None = None

    def left(self, now_s: float, measured_q: Array) -> Array:
        """Return the configurations that the arm may still reach, without its present one.

        Args:
            now_s: Time of the robot's world, s.
            measured_q: Measured configuration, (dof,), rad or m.

        Returns:
            Configurations, (m, dof), rad or m.
        """
        if self.begun_s is None:
            return self.q
        elapsed = int(np.searchsorted(self.t_s, now_s - self.begun_s - LATE_S))
        nearest = int(np.abs(self.q - measured_q).max(axis=1).argmin())
        return self.q[min(elapsed, nearest) :]


@dataclass
class _Place:
    """The state of one arm; ``posts`` counts its motions, ``events`` all that happened to it.

    ``visit`` is the number of the run that may act for the arm.
    """

    way: ReservedPath | None = None
    runs: int = 0
    visit: int = 0
    posts: int = 0
    events: int = 0
    idle_since_s: float = float("-inf")
    waits_for: str = ""
    is_committed: bool = False


class MotionReservations:
    """The reservations of all arms; every call is atomic.

    Calls that change the state of an arm take the number of the visit that ``enter`` gave. They raise ``Stopped``
    in a run that was evicted. Without a number they are not checked.

    Args:
        arms: Names in order of priority; the first one goes first.
    """

    def __init__(self, arms: Sequence[str]) -> None:
        self.arms = tuple(arms)
        self._places = {name: _Place() for name in arms}
        self._changed = threading.Condition()

    def others(self, arm: str) -> tuple[str, ...]:
        """Return all arms but one.

        Args:
            arm: Name of the arm.

        Returns:
            Names of the other arms, in order of priority.
        """
        return tuple(name for name in self.arms if name != arm)

    def ways(self, arm: str) -> tuple[int, dict[str, ReservedPath | None]]:
        """Return the motions that the other arms have reserved.

        Args:
            arm: Name of the arm.

        Returns:
            The count of their motions, which ``post`` takes, and the motion of each arm; None for an arm at rest.
        """
        with self._changed:
            return self._posts(arm), {name: self._places[name].way for name in self.others(arm)}

    def post(self, arm: str, trajectory: Trajectory, seen: int, visit: int | None = None) -> bool:
        """Reserve a motion.

        Args:
            arm: Name of the arm.
            trajectory: Motion that was judged against the paths with the count ``seen``.
            seen: Count of the motions of the other arms.
            visit: Number of the visit; None: not checked.

        Returns:
            False when there are newer motions, and this one is not reserved.

        Raises:
            Stopped: The visit was evicted.
        """
        way = ReservedPath(*_rows(trajectory))
        with self._changed:
            place = self._mine(arm, visit)
            if self._posts(arm) != seen:
                return False
            place.posts += 1
            self._set(arm, way)
            return True

    def begin(self, arm: str, now_s: float, visit: int | None = None) -> None:
        """Mark the start of the reserved motion.

        Args:
            arm: Name of the arm.
            now_s: Time of the robot's world, s.
            visit: Number of the visit; None: not checked.

        Raises:
            Stopped: The visit was evicted.
        """
        with self._changed:
            place = self._mine(arm, visit)
            if place.way is not None:
                place.way = ReservedPath(place.way.t_s, place.way.q, now_s)

    def end(self, arm: str, visit: int | None = None) -> None:
        """Mark the end of the motion: the arm is at rest.

        Args:
            arm: Name of the arm.
            visit: Number of the visit; None: not checked.

        Raises:
            Stopped: The visit was evicted.
        """
        with self._changed:
            self._mine(arm, visit)
            self._set(arm, None)

    def enter(self, arm: str) -> int:
        """Begin a skill on an arm.

        Args:
            arm: Name of the arm.

        Returns:
            The number of the visit.
        """
        with self._changed:
            place = self._places[arm]
            place.runs, place.visit = place.runs + 1, place.visit + 1
            return place.visit

    def leave(self, arm: str, visit: int | None = None) -> None:
        """End a skill, with the arm at rest; a visit that was evicted has already ended.

        Args:
            arm: Name of the arm.
            visit: Number of the visit; None: not checked.
        """
        with self._changed:
            if visit in (None, self._places[arm].visit):
                self._leave(arm)

    def evict(self, arm: str) -> None:
        """End the visit of a skill that was abandoned, with the arm at rest.

        Args:
            arm: Name of the arm.
        """
        with self._changed:
            if self._places[arm].runs:
                self._places[arm].visit += 1
                self._leave(arm)

    def moves(self, arm: str) -> bool:
        """Check whether an arm has a reserved motion.

        Args:
            arm: Name of the arm.

        Returns:
            True from the reservation to the end of the motion.
        """
        with self._changed:
            return self._places[arm].way is not None

    def idle_s(self, arm: str) -> float:
        """Return the time since the last skill on an arm ended.

        Args:
            arm: Name of the arm.

        Returns:
            Steady time, s; 0 while a skill runs.
        """
        with self._changed:
            place = self._places[arm]
            return 0.0 if place.runs else time.monotonic() - place.idle_since_s

    def events(self, arm: str) -> int:
        """Return the count of events, which grows when another arm reserves a motion or comes to rest.

        Args:
            arm: Name of the arm.

        Returns:
            The count of the events of the other arms.
        """
        with self._changed:
            return sum(self._places[name].events for name in self.others(arm))

    def wait(
        self, arm: str, blocking_arm: str, seen: int, timeout_s: float, visit: int | None = None
    ) -> bool:
        """Wait for an event of another arm; the other arms can query ``waits_for`` meanwhile.

        Args:
            arm: Name of the arm.
            blocking_arm: Arm that is in the way; empty for none.
            seen: Count of events before the last plan.
            timeout_s: Longest wait, s of steady time.
            visit: Number of the visit; None: not checked.

        Returns:
            True once ``events`` differs from ``seen``; False at the timeout.

        Raises:
            Stopped: The visit was evicted.
        """
        with self._changed:
            self._mine(arm, visit).waits_for = blocking_arm
            return self._changed.wait_for(lambda: self._events(arm) != seen, timeout_s)

    def go_on(self, arm: str, visit: int | None = None) -> None:
        """Mark that the arm waits for no other arm any more.

        Args:
            arm: Name of the arm.
            visit: Number of the visit; None: not checked.

        Raises:
            Stopped: The visit was evicted.
        """
        with self._changed:
            self._mine(arm, visit).waits_for = ""
            self._changed.notify_all()

    def waits_for(self, arm: str) -> str:
        """Return the arm for which an arm waits.

        Args:
            arm: Name of the arm.

        Returns:
            Name of the other arm; empty for none.
        """
        with self._changed:
            return self._places[arm].waits_for

    def mark_irreversible(self, arm: str, is_committed: bool, visit: int | None = None) -> None:
        """Mark whether the arm cannot go home and begin again.

        Args:
            arm: Name of the arm.
            is_committed: True when it cannot.
            visit: Number of the visit; None: not checked.

        Raises:
            Stopped: The visit was evicted.
        """
        with self._changed:
            self._mine(arm, visit).is_committed = is_committed

    def should_yield(self, arm: str) -> bool:
        """Check whether an arm waits in a circle and must make room.

        Args:
            arm: Name of the arm.

        Returns:
            True when it has the lowest priority in the circle, among the arms that can make room.
        """
        with self._changed:
            circle, at = [arm], self._places[arm].waits_for
            while at and at not in circle:
                circle.append(at)
                at = self._places[at].waits_for
            if at != arm or len(circle) < 2:
                return False
            able = [name for name in circle if not self._places[name].is_committed]
            return max(able or circle, key=self.arms.index) == arm

    def _mine(self, arm: str, visit: int | None) -> _Place:
        place = self._places[arm]
        if visit not in (None, place.visit):
            raise Stopped(Code.UNRESPONSIVE, f"arm {arm!r} was given to the next goal")
        return place

    def _leave(self, arm: str) -> None:
        place = self._places[arm]
        place.runs -= 1
        place.waits_for, place.is_committed, place.idle_since_s = "", False, time.monotonic()
        self._set(arm, None)

    def _set(self, arm: str, way: ReservedPath | None) -> None:
        self._places[arm].way = way
        self._places[arm].events += 1
        self._changed.notify_all()

    def _posts(self, arm: str) -> int:
        return sum(self._places[name].posts for name in self.others(arm))

    def _events(self, arm: str) -> int:
        return sum(self._places[name].events for name in self.others(arm))


def _rows(trajectory: Trajectory) -> tuple[Array, Array]:
    """Return samples of a trajectory that are at most ``ROW_RAD`` apart where it has them, with first and last."""
    keep, last = [0], 0
    for i in range(1, len(trajectory.t_s) - 1):
        if np.abs(trajectory.q[i + 1] - trajectory.q[last]).max() > ROW_RAD:
            keep.append(i)
            last = i
    keep.append(len(trajectory.t_s) - 1)
    return trajectory.t_s[keep], trajectory.q[keep]
