"""Keeps the newest plans for a limited time. Safe between threads."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome

from .skill_plan import SkillPlan

PLANS_KEPT = 16
"""The number of plans that are kept; a further one displaces the oldest."""
KEPT_FOR_S = 600.0
"""The time for which a plan is kept, s of steady time."""


class NoSuchPlan(HandiworkError):
    """The plan was never made here, or is not kept any more; the outcome says which where that is known."""


class PlanStore:
    """The plans of one server.

    Args:
        steady: Returns the steady time, s.
    """

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady, self._lock = steady, threading.Lock()
        self._plans = dict[str, tuple[float, SkillPlan]]()

    def keep(self, plan: SkillPlan) -> SkillPlan:
        """Keep a plan.

        Args:
            plan: The plan, without an id.

        Returns:
            The plan with its id and the time for which it is kept.
        """
        kept = replace(plan, plan_id=f"{plan.skill.name}-{uuid.uuid4().hex[:8]}", kept_for_s=KEPT_FOR_S)
        with self._lock:
            self._drop_expired()
            self._plans[kept.plan_id] = self._steady(), kept
            while len(self._plans) > PLANS_KEPT:
                del self._plans[next(iter(self._plans))]
        return kept

    def find(self, plan_id: str) -> SkillPlan:
        """Return the plan of an id.

        Args:
            plan_id: The id.

        Raises:
            NoSuchPlan: BAD_GOAL: the id is not known, or its time is over.
        """
        with self._lock:
            made_s, plan = self._plans.get(plan_id, (0.0, None))
            self._drop_expired()
        if plan is None:
            rule = f"the newest {PLANS_KEPT} plans are kept for {KEPT_FOR_S:g} s"
            text = f"plan {plan_id[:80]!r} is not known: {rule}, until the server ends; preview again"
            raise NoSuchPlan(Outcome(Code.BAD_GOAL, text, "check", "plan_id"))
        age_s = self._steady() - made_s
        if age_s > KEPT_FOR_S:
            text = (
                f"plan {plan_id!r} is {age_s:.0f} s old; plans are kept for {KEPT_FOR_S:g} s; preview again"
            )
            raise NoSuchPlan(Outcome(Code.BAD_GOAL, text, "check", "plan_id"))
        return plan

    def _drop_expired(self) -> None:
        """Free the memory of the plans whose time is over; a plan has a world and all its motions."""
        now_s = self._steady()
        self._plans = {key: entry for key, entry in self._plans.items() if now_s - entry[0] <= KEPT_FOR_S}
