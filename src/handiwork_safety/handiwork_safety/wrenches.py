"""The newest wrench of each arm with its age: a limit of contact force protects only while its sensor reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.safety.state import Cause, Violation

from .windows import LEAD_S

WRENCH_LOST_S = LEAD_S
"""The age from which on a wrench counts as missing, s.

No joint measurement older than this is commanded on either, and it is less than the 0.5 s for which ISO/TS 15066 lets
a quasi-static contact last.
"""
GUARD_LOST_S = 0.1
"""The age from which on a wrench ends a motion that it may end, s: the arm presses on while nothing is measured."""
LONGEST_STEP_S = 0.05
"""The most that one measurement of the joints ages a wrench, s: a process that was held up reads its messages first."""


class Wrenches:
    """The newest contact force of each arm. Its time is that of the joint measurements.

    Args:
        topics: Name of the wrench topic by arm, for messages.
        contact_force: The limit that the wrenches serve, N; 0 turns it off, and no wrench is missed.
    """

    def __init__(self, topics: Mapping[str, str], contact_force: float) -> None:
        self._topics, self._is_limited = dict(topics), contact_force > 0.0
        self._forces: dict[str, Array] = {}
        self._age_s = dict.fromkeys(topics, math.inf)

    def receive(self, arm: str, force: Array) -> None:
        """Keep a wrench.

        Args:
            arm: Name of the arm.
            force: Net contact force, (3,), N; one that is not finite measures nothing and is not used.
        """
        if np.isfinite(force).all():
            self._forces[arm], self._age_s[arm] = force, 0.0

    def advance(self, step_s: float) -> None:
        """Let the wrenches grow older.

        Args:
            step_s: Time between two measurements of the joints, s.
        """
        for arm in self._age_s:
            self._age_s[arm] += min(max(step_s, 0.0), LONGEST_STEP_S)

    def forces(self, arms: Sequence[str]) -> Array:
        """Return the newest net force on each arm.

        Args:
            arms: Names of the arms.

        Returns:
            Forces, (a, 3), N; zero for an arm whose wrench never came, which ``fault`` reports.
        """
        return np.array([self._forces.get(name, np.zeros(3)) for name in arms]).reshape(-1, 3)

    def newest(self, arm: str) -> Array | None:
        """Return the force on an arm for a motion that it may end.

        Args:
            arm: Name of the arm.

        Returns:
            Force in the sensor's frame, (3,), N; None if it never came or is too old.
        """
        return self._forces.get(arm) if self._age_s[arm] <= GUARD_LOST_S else None

    def fault(self) -> Violation | None:
        """Return the first arm whose contact force limit has no wrench that is new enough; None if there is none."""
        return next((self._violation(arm) for arm in self._topics if self.is_missing(arm)), None)

    def is_missing(self, arm: str) -> bool:
        """Check whether the wrench of an arm with a limit never came or is too old.

        Args:
            arm: Name of the arm.
        """
        return self._is_limited and self._age_s[arm] > WRENCH_LOST_S

    def text(self, arm: str) -> str:
        """Return the state of an arm's wrench in one sentence, with the remedy where it is missing.

        Args:
            arm: Name of the arm.
        """
        age_s, topic = self._age_s[arm], self._topics[arm]
        if not self._is_limited:
            return f"{arm} has no contact force limit"
        if not self.is_missing(arm):
            return f"{arm} has a wrench of {age_s:.2f} s ago"
        what = "has no wrench yet" if math.isinf(age_s) else f"has its last wrench of {age_s:.2f} s ago"
        return (
            f"{arm} {what}, at most {WRENCH_LOST_S:g} s are allowed with a contact force limit: "
            f"start the sensor that publishes {topic}"
        )

    def _violation(self, arm: str) -> Violation:
        return Violation(Cause.FEEDBACK, arm, self._age_s[arm], WRENCH_LOST_S, self.text(arm))
