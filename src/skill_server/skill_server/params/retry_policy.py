"""The policy of a run after a failed attempt: what is tried again, how often, and what is different then."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from handiwork_core.model.outcome import Code, Outcome
from skill_server.params.following import MOST_FOLLOWED, following_of


class Recovery(Enum):
    """Values of the goal field ``recovery``."""

    GIVE_UP = "give_up"
    NEXT_CANDIDATE = "next_candidate"
    REGRASP = "regrasp"


@runtime_checkable
class Recovering(Protocol):
    """Parameters that name a policy; a run without one takes the next of ``DEFAULT_ATTEMPTS`` candidates."""

    @property
    def recovery(self) -> str:
        """The policy, a value of ``Recovery``."""
        ...

    @property
    def max_attempts(self) -> int:
        """The number of candidates, or of grasps, that are tried in all."""
        ...


DEFAULT_ATTEMPTS = 3
MOST_YIELDS = 3
"""Times that a run goes home to let another arm pass."""
UNREACHED = (Code.PLAN_FAILED, Code.PATH_BLOCKED, Code.PLAN_BUDGET, Code.GOAL_IN_COLLISION, Code.NO_IK)
"""Refusals of a plan after which another candidate may succeed."""
LOST = (Code.NOTHING_GRASPED, Code.OBJECT_DROPPED, Code.OBJECT_MOVED, Code.NOT_IN_PLACE)
"""Failures that a new grasp, in the world as it is now, may correct."""


class Change(Enum):
    """What is different in the next attempt. The commands are always chosen again, in the world as it is then."""

    FOLLOW = "the arm has braked, and leads to where the target is now"
    YIELD = "the arm is at home, and the other arm has passed"
    NEXT_CANDIDATE = "the candidate that could not be reached is left out"
    STEP_BACK = "the arm has stepped back, with the object in the hand"
    REGRASP = "the hand has opened, the arm has stepped back, and the lost object is in the hand again"


@dataclass(frozen=True, slots=True)
class Attempt:
    """How an attempt ended, and what else a policy looks at when it failed.

    Attributes:
        outcome: The judgement, or the failure.
        is_refused_plan: True when the planner found no motion, so that nothing moved since the arm last came to rest.
        is_touched: True once the hand has closed in this attempt, or opened on what it held.
        still_holds: True when what was in the hand at the beginning of the run is measured to be in it.
    """

    outcome: Outcome
    is_refused_plan: bool = False
    is_touched: bool = False
    still_holds: bool = False


@dataclass(frozen=True, slots=True)
class RetryRule:
    """One reason for another attempt.

    Attributes:
        change: What is different in the next attempt.
        after: Codes of the failures after which it makes sense.
        most: Times that the rule may be applied, or, for a rule that counts attempts, the number of attempts in all.
        counts_attempts: True: each failed attempt counts, of whatever rule; False: the uses of this rule alone.
        of_plans: True: refused plans alone; False: other failures alone; None: both.
        needs_untouched: True: only while the hand has neither gripped nor released anything in the attempt.
        needs_hold: True: only while what was in the hand at the beginning is still in it.
    """

    change: Change
    after: tuple[Code, ...]
    most: int
    counts_attempts: bool = True
    of_plans: bool | None = None
    needs_untouched: bool = False
    needs_hold: bool = False

    def fits(self, failure: Attempt) -> bool:
        """Return True when the rule applies to a failure, however often it was used.

        Args:
            failure: The failed attempt.
        """
        return (
            failure.outcome.code in self.after
            and self.of_plans in (None, failure.is_refused_plan)
            and not (self.needs_untouched and failure.is_touched)
            and (failure.still_holds or not self.needs_hold)
        )


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """All reasons of a run for another attempt.

    Attributes:
        rules: The rules; the first one that fits a failure decides. A failure that none fits ends the run.
    """

    rules: tuple[RetryRule, ...]

    def rule_for(self, failure: Attempt) -> RetryRule | None:
        """Return the rule that decides on a failure.

        Args:
            failure: The failed attempt.

        Returns:
            The first rule that fits, even if it was used as often as it may be; None: the run ends.
        """
        return next((rule for rule in self.rules if rule.fits(failure)), None)

    @property
    def follows(self) -> bool:
        """True when targets that move are followed."""
        return any(rule.change is Change.FOLLOW for rule in self.rules)

    @property
    def candidates(self) -> int:
        """The number of candidates to which a free motion is planned during one choice before it fails."""
        found = (rule.most for rule in self.rules if rule.change is Change.NEXT_CANDIDATE)
        return next(found, 1)


FOLLOW = RetryRule(
    Change.FOLLOW,
    (Code.OBJECT_MOVED,),
    MOST_FOLLOWED,
    counts_attempts=False,
    of_plans=False,
    needs_untouched=True,
)
"""The rule of a goal whose targets are followed."""
ONE_ATTEMPT = RetryPolicy(())
"""The policy of a run that is done as it was planned, or not at all."""


def retry_policy(recovery: Recovery, attempts: int) -> RetryPolicy:
    """Return the policy of a value of the goal field ``recovery``.

    Args:
        recovery: The value.
        attempts: The number of candidates or grasps that are tried in all.
    """
    rules = [
        RetryRule(
            Change.YIELD, (Code.ARM_IN_THE_WAY,), MOST_YIELDS, counts_attempts=False, needs_untouched=True
        )
    ]
    if recovery is not Recovery.GIVE_UP:
        rules.append(
            RetryRule(Change.NEXT_CANDIDATE, UNREACHED, attempts, of_plans=True, needs_untouched=True)
        )
    if recovery is Recovery.REGRASP:
        rules += [
            RetryRule(
                Change.STEP_BACK, LOST, attempts, of_plans=False, needs_untouched=True, needs_hold=True
            ),
            RetryRule(Change.REGRASP, LOST, attempts, of_plans=False),
        ]
    return RetryPolicy(tuple(rules))


def retry_policy_of(params: object) -> RetryPolicy:
    """Return the policy of a run.

    Args:
        params: Parameters of a skill, which may be ``Recovering``.
    """
    found = retry_policy(Recovery.NEXT_CANDIDATE, DEFAULT_ATTEMPTS)
    if isinstance(params, Recovering):
        found = retry_policy(Recovery(params.recovery), params.max_attempts)
    if following_of(params) is None:
        return found
    return RetryPolicy((FOLLOW, *found.rules))
