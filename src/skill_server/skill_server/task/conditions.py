"""Conditions that a task asks for: the port to the monitor, and the wait until one is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.ports import Clock
from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.skill import Token

from .model import Condition

KNOWN_WITHIN_S = 1.0
"""Time that a condition has to become known on a world that is no older than the question, s of the robot's world."""
POLL_S = 0.02
"""The pause between two questions, s of the robot's world."""

SHOW_S = 0.15
"""The pause between two reports of a task that waits, s."""


@dataclass(frozen=True)
class Examined:
    """What is known of a condition before a task runs.

    Attributes:
        faults: What is wrong with its text, each with the correction; empty for none.
        subjects: Objects that it names.
        is_silent: True when the monitor gave no answer.
    """

    faults: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    is_silent: bool = False


@dataclass(frozen=True)
class Decision:
    """One answer of the monitor.

    Attributes:
        truth: The value.
        reason: A sentence with numbers.
        stamp_s: Oldest stamp of what was looked at, s.
    """

    truth: Truth
    reason: str = ""
    stamp_s: float = 0.0


class Conditions(Protocol):
    """The condition monitor."""

    def examine(self, text: str) -> Examined:
        """Check the text of a condition.

        Args:
            text: The expression.
        """
        ...

    def decide(self, text: str, *, should_stop: ShouldStop) -> Decision:
        """Decide a condition once, on the newest world.

        Args:
            text: The expression.
            should_stop: Turns true when the answer is not needed any more.

        Returns:
            The answer; UNKNOWN where the monitor gives none, with the reason.
        """
        ...


def decided(
    conditions: Conditions, condition: Condition, token: Token, clock: Clock, show: Callable[[], None]
) -> Decision:
    """Ask until a condition is decided on a world that is not older than the question.

    Args:
        conditions: The monitor.
        condition: The condition.
        token: Ends the wait when it is set.
        clock: Time of the robot's world.
        show: Reports that the task waits; called at the beginning and every ``SHOW_S``.

    Returns:
        TRUE as soon as it is; FALSE or UNKNOWN after the time that it has.
    """
    begun_s = shown_s = clock.now_s()
    show()
    while True:
        answer = conditions.decide(condition.text, should_stop=token.is_set)
        is_known = answer.truth is not Truth.UNKNOWN and answer.stamp_s >= begun_s
        if is_known and answer.truth is Truth.TRUE:
            return answer
        wait_s = condition.within_s if is_known else max(condition.within_s, KNOWN_WITHIN_S)
        if token.is_set() or clock.now_s() - begun_s >= wait_s:
            break
        clock.sleep(POLL_S, should_stop=token.is_set)
        if clock.now_s() - shown_s >= SHOW_S:
            shown_s = clock.now_s()
            show()
    if is_known or answer.truth is Truth.UNKNOWN:
        return answer
    age_s = begun_s - answer.stamp_s
    topics = "world/object_states, world/contacts and joint_states"
    reason = f"what the monitor looked at is {age_s:.2f} s older than the question; check {topics}"
    return Decision(Truth.UNKNOWN, reason, answer.stamp_s)
