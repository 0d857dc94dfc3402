"""The motion board: where each arm of a robot is going, so that no two of them ever go to the same place.

A motion is posted before it begins, and only if it was judged against all that the other arms had posted by then. So
any two motions on the board keep clear of each other, however they lie in time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.skill import Stopped
from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory

LATE_S = 0.3
"""An arm may be this much later on its way than its trajectory says."""
ROW_RAD = 0.03
"""Largest step of a joint between two rows of a way."""


@dataclass(frozen=True, slots=True, eq=False)
class ReservedPath:
    """A posted motion: times (k,) [s] and configurations (k, dof); ``begun_s`` is None until the arm moves."""

    t_s: Array
    q: Array
    begun_s: float | None = None

    def left(self, now_s: float, measured_q: Array) -> Array:
        """(m, dof) rows that the arm may still come to, without the one where it is."""
        if self.begun_s is None:
            return self.q
        elapsed = int(np.searchsorted(self.t_s, now_s - self.begun_s - LATE_S))
        nearest = int(np.abs(self.q - measured_q).max(axis=1).argmin())
        return self.q[min(elapsed, nearest) :]


@dataclass
class _Place:
    """What is known of one arm; ``posts`` counts its motions, ``events`` all that happened to it.

    ``visit`` is the number of the run that may speak for the arm.
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
    """Shared by the workers of all arms; every call is whole. ``arms`` come in order of priority, first goes first.

    Calls that change what is known of an arm take the number of the visit that ``enter`` gave. They raise ``Stopped``
    in a run that was evicted. Without a number they are not checked.
    """

    def __init__(self, arms: Sequence[str]) -> None:
        self.arms = tuple(arms)
        self._places = {name: _Place() for name in arms}
        self._changed = threading.Condition()

    def others(self, arm: str) -> tuple[str, ...]:
        """All arms but this one."""
        return tuple(name for name in self.arms if name != arm)

    def ways(self, arm: str) -> tuple[int, dict[str, ReservedPath | None]]:
        """What the other arms have posted, and the count of their motions, which ``post`` wants back."""
        with self._changed:
            return self._posts(arm), {name: self._places[name].way for name in self.others(arm)}

    def post(self, arm: str, trajectory: Trajectory, seen: int, visit: int | None = None) -> bool:
        """Post a motion that was judged against the ways with the count ``seen``; False if there are newer ones."""
        way = ReservedPath(*_rows(trajectory))
        with self._changed:
            place = self._mine(arm, visit)
            if self._posts(arm) != seen:
                return False
            place.posts += 1
            self._set(arm, way)
            return True

    def begin(self, arm: str, now_s: float, visit: int | None = None) -> None:
        """The posted motion begins; time of the robot's world."""
        with self._changed:
            place = self._mine(arm, visit)
            if place.way is not None:
                place.way = ReservedPath(place.way.t_s, place.way.q, now_s)

    def end(self, arm: str, visit: int | None = None) -> None:
        """The arm rests where it is."""
        with self._changed:
            self._mine(arm, visit)
            self._set(arm, None)

    def enter(self, arm: str) -> int:
        """A skill begins on the arm; return the number of its visit."""
        with self._changed:
            place = self._places[arm]
            place.runs, place.visit = place.runs + 1, place.visit + 1
            return place.visit

    def leave(self, arm: str, visit: int | None = None) -> None:
        """It has ended, with the arm at rest. A visit that was evicted has left before."""
        with self._changed:
            if visit in (None, self._places[arm].visit):
                self._leave(arm)

    def evict(self, arm: str) -> None:
        """End the visit of a skill that was abandoned, with the arm at rest."""
        with self._changed:
            if self._places[arm].runs:
                self._places[arm].visit += 1
                self._leave(arm)

    def moves(self, arm: str) -> bool:
        """True while the arm has a motion on the board."""
        with self._changed:
            return self._places[arm].way is not None

    def idle_s(self, arm: str) -> float:
        """Steady time since the last skill on the arm ended; 0 while one runs."""
        with self._changed:
            place = self._places[arm]
            return 0.0 if place.runs else time.monotonic() - place.idle_since_s

    def events(self, arm: str) -> int:
        """Grows whenever another arm posts a motion or comes to rest."""
        with self._changed:
            return sum(self._places[name].events for name in self.others(arm))

    def wait(
        self, arm: str, blocking_arm: str, seen: int, timeout_s: float, visit: int | None = None
    ) -> bool:
        """Wait for ``blocking_arm``; True once ``events`` is not ``seen`` any more. Others see who waits for whom."""
        with self._changed:
            self._mine(arm, visit).waits_for = blocking_arm
            return self._changed.wait_for(lambda: self._events(arm) != seen, timeout_s)

    def go_on(self, arm: str, visit: int | None = None) -> None:
        """The arm waits for nobody any more."""
        with self._changed:
            self._mine(arm, visit).waits_for = ""
            self._changed.notify_all()

    def waits_for(self, arm: str) -> str:
        """The arm that this one waits for, or nothing."""
        with self._changed:
            return self._places[arm].waits_for

    def mark_irreversible(self, arm: str, is_committed: bool, visit: int | None = None) -> None:
        """Whether the arm cannot go home and begin anew."""
        with self._changed:
            self._mine(arm, visit).is_committed = is_committed

    def should_yield(self, arm: str) -> bool:
        """True when the arm waits in a circle and has the lowest priority in it, among those that can make room."""
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
            raise Stopped
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
    """Samples of a trajectory that lie at most ``ROW_RAD`` apart where it has them, first and last among them."""
    keep, last = [0], 0
    for i in range(1, len(trajectory.t_s) - 1):
        if np.abs(trajectory.q[i + 1] - trajectory.q[last]).max() > ROW_RAD:
            keep.append(i)
            last = i
    keep.append(len(trajectory.t_s) - 1)
    return trajectory.t_s[keep], trajectory.q[keep]
