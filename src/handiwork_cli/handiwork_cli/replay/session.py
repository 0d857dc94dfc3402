"""The time and the recorded calls of one replay, and what has differed so far."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from handiwork_core.bundles.bundle import MOTIONS, Bundle, Call
from handiwork_core.contracts.planning import CandidatesResult, PlanResult
from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World

STEP_S = 0.02
"""The step in which time passes, s of the world's clock."""
OVERTIME_S = 120.0
"""The time beyond the recorded end at which a replay that went another way is ended, s of the world's clock."""


@dataclass
class Comparison:
    """The planner's answers in the replay against the recorded ones.

    Attributes:
        identical: Number of answers that are equal in every bit.
        same: Number of answers with the same code and other numbers.
        repeated: Number of answers that came from outside of the engine, and are repeated as recorded.
        other: What the answers with another code were, in words.
    """

    identical: int = 0
    same: int = 0
    repeated: int = 0
    other: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of all answers that were compared."""
        return self.identical + self.same + self.repeated + len(self.other)


class Session:
    """The virtual time of a replay. Worlds are those that were recorded at that time.

    Args:
        bundle: The bundle.
        token: Token of the run, which is set as it was recorded.
    """

    def __init__(self, bundle: Bundle, token: Token) -> None:
        self.bundle, self.token, self.comparison = bundle, token, Comparison()
        self.notes = list[str]()
        self._lock = threading.RLock()
        self._now_s = bundle.began_s
        self._times = [one.at_s for one in bundle.seen]
        self._calls = defaultdict[tuple[str, str], deque[Call]](deque)
        self._ahead = defaultdict[str, deque[Call]](deque)
        self._ahead_s = bundle.began_s
        for call in bundle.calls:
            if call.thread:
                self._ahead[call.thread].append(call)
            else:
                self._calls[call.port, call.arm].append(call)

    def now_s(self) -> float:
        """Return the time of the world's clock, s."""
        return self._now_s

    def world(self) -> World:
        """Return the newest recorded snapshot.

        After the last one the world stays as it is, and is measured on: a replay that takes a moment longer to decide
        must not find a silent world. Where silence was the cause, it stays silent.
        """
        now_s = self._now_s
        index = max(bisect_right(self._times, now_s + 1e-9) - 1, 0)
        newest = self.bundle.seen[index]
        later_s = now_s - newest.at_s
        is_silent = self.bundle.head.outcome.code in (Code.ROBOT_LOST, Code.STALE_WORLD)
        if index < len(self._times) - 1 or later_s <= 0.0 or is_silent:
            return newest.world
        return _later(newest.world, later_s)

    def advance(self, to_s: float) -> None:
        """Let the time pass; it never goes back.

        Args:
            to_s: Time of the world's clock, s.
        """
        with self._lock:
            self._now_s = max(self._now_s, to_s)
            stop = self.bundle.stop
            if stop is not None and self._now_s >= stop.at_s:
                self.token.set(stop.reason, stop.detail)
            elif self._now_s > self.bundle.ended_s + OVERTIME_S and not self.token.is_set():
                self.notes.append("the replay went another way and did not end")
                self.token.set(Code.TIMED_OUT, "the replay did not end")

    def next_call(self, port: str, arm: str) -> Call | None:
        """Return the recorded call that this one repeats, at the time at which it began.

        Args:
            port: Name of the call.
            arm: Name of the arm.

        Returns:
            The call; None if the recorded run has made no more.
        """
        with self._lock:
            waiting = self._calls[port, arm]
            if waiting:
                call = waiting.popleft()
                self.advance(call.begun_s)
                return call
            if self.bundle.stop is not None:  # the recorded run was ended before it came to this call
                self.advance(self.bundle.stop.at_s)
            elif port in MOTIONS:
                self.notes.append(f"{arm}: one more {port} than was recorded")
            return None

    def world_of(self, thread: str) -> World:
        """Return the snapshot in which a thread that chooses ahead made its next call; else that of now.

        Such a thread waits for objects to come to rest by the steady clock, which a replay does not repeat.

        Args:
            thread: Name of the thread; empty for that of the run.
        """
        with self._lock:
            waiting = self._ahead[thread] if thread else None
            return waiting[0].world if waiting else self.world()

    def next_call_ahead(self, port: str, thread: str) -> Call | None:
        """Return the recorded call that this one of a thread that chooses ahead repeats; the time stands still.

        Args:
            port: Name of the call.
            thread: Name of the thread.

        Returns:
            The call; None if the thread made no more: it was ended, or its objects did not come to rest.
        """
        with self._lock:
            waiting = self._ahead[thread]
            if not waiting or waiting[0].port != port:
                return None
            call = waiting.popleft()
            self._ahead_s = max(self._ahead_s, call.ended_s)
            return call

    def await_ahead(self) -> None:
        """Let the time pass until the calls that were made ahead had returned: a choice is taken after them."""
        self.advance(self._ahead_s)

    def left(self, port: str, arm: str) -> int:
        """Return the number of recorded calls that were not repeated yet.

        Args:
            port: Name of the call.
            arm: Name of the arm.
        """
        return len(self._calls[port, arm])

    def compare(self, port: str, recorded: Any, made: Any) -> None:
        """Compare an answer with the recorded one.

        Args:
            port: Name of the call.
            recorded: The recorded answer.
            made: The answer in the replay.
        """
        with self._lock:
            if recorded.code is not made.code:
                self.comparison.other.append(f"{port}: {recorded.code.name} became {made.code.name}")
            elif same_bits(recorded, made):
                self.comparison.identical += 1
            else:
                self.comparison.same += 1


def _later(world: World, by_s: float) -> World:
    """Return a world in which the same was measured later."""
    states = {name: replace(state, stamp_s=state.stamp_s + by_s) for name, state in world.states.items()}
    return replace(
        world,
        stamp_s=world.stamp_s + by_s,
        contacts_stamp_s=world.contacts_stamp_s + by_s,
        states=states,
        joints=replace(world.joints, stamp_s=world.joints.stamp_s + by_s),
        suction={name: replace(cup, stamp_s=cup.stamp_s + by_s) for name, cup in world.suction.items()},
    )


def same_bits(first: Any, second: Any) -> bool:
    """Return True if two answers of the planner have exactly the same numbers; times of the computation do not count.

    Args:
        first: A plan, the verdicts on candidates, or a verdict.
        second: Another one.
    """
    if isinstance(first, PlanResult):
        one, other = first.trajectory, second.trajectory
        if one is None or other is None:
            return one is other and first.message == second.message
        rows = ((one.t_s, other.t_s), (one.q, other.q), (one.qd, other.qd), (one.qdd, other.qdd))
        return all(np.array_equal(a, b) for a, b in rows) and first.goal_index == second.goal_index
    if isinstance(first, CandidatesResult):
        pairs = list(zip(first.verdicts, second.verdicts, strict=False))
        is_same = all(a.code is b.code and np.array_equal(a.q, b.q) and a.cost == b.cost for a, b in pairs)
        return is_same and len(first.verdicts) == len(second.verdicts)
    return bool(
        np.array_equal(first.clearance_m, second.clearance_m, equal_nan=True) and first.at == second.at
    )
