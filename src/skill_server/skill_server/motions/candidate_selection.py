"""Chooses the best of many candidates by verdicts of the planner, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.contracts.planning import (
    Candidate,
    CandidateVerdict,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.thresholds import SAME_REFUSED_RAD
from handiwork_core.model.trajectory import Trajectory
from skill_server.params.retry_policy import UNREACHED
from skill_server.state.gripper_state import arm_q

from .approach_planning import ApproachPlanning
from .planner_requests import judge_candidates

BATCH = 32
TURN_WEIGHT = 0.05
"""A candidate is still preferred when it scores this much worse for each radian of joint motion that it saves."""
Test = Callable[[int, Array], Outcome]
"""A further condition for a candidate that the planner finds feasible, by its index and its configurations (n, dof).

A refusal is counted by its message.
"""


def accepted(_index: int, _q: Array) -> Outcome:
    """Return OK: there is no further condition."""
    return OK


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The chosen candidate.

    Attributes:
        candidate: Candidate.
        q: Configuration for each of its waypoints, (n, dof), rad or m.
        planned: Motion to the first waypoint; None when it was not planned.
    """

    candidate: Candidate
    q: Array
    planned: Trajectory | None = None


@dataclass(frozen=True, slots=True)
class Ways:
    """What a message says of candidates that cannot be done.

    Attributes:
        waypoints: Name of each waypoint, in order; none: they are numbered.
        removed: Number of candidates that were removed before the planner judged, by cause.
    """

    waypoints: tuple[str, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)

    def name(self, index: int) -> str:
        """Return the name of a waypoint.

        Args:
            index: Index of the waypoint.
        """
        return self.waypoints[index] if index < len(self.waypoints) else f"waypoint {index + 1}"


def choose(
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    scenes: tuple[SceneQuery, ...],
    budget_s: float,
    context: Context,
    way: ApproachPlanning | None = None,
    ways: Ways = Ways(),
    test: Test = accepted,
) -> Choice:
    """Choose the best feasible candidate of the first batch that has one.

    Args:
        candidates: Candidates, best first.
        scores: Score of each candidate; lower is better.
        scenes: Scene for each waypoint.
        budget_s: Steady time for one batch, s.
        context: Context of the run.
        way: Plans also the free motion to a candidate, of which the next one is taken where there is none; None:
            not planned.
        ways: What the message of a failure says of the candidates.
        test: Further condition, asked of the feasible candidates of a batch, the best first.

    Returns:
        The candidate with its configurations.

    Raises:
        StepFailed: NO_CANDIDATE with the count of every cause, or the planner's own failure.
        Stopped: The token was set.
    """
    causes = Counter(ways.removed)
    last = None
    refusals: list[str] = []
    for start in range(0, len(candidates), BATCH):
        batch = tuple(candidates[start : start + BATCH])
        verdicts = _judge(batch, scenes, budget_s, context)
        good = []
        for i, verdict in enumerate(verdicts):
            if verdict.code is not Code.OK:
                causes[cause_of(verdict, ways)] += 1
                last = verdict.blocking or last
            elif _refused(verdict.q[0], context.refused):
                causes["no free path to it"] += 1
            else:
                good.append((scores[start + i] + TURN_WEIGHT * verdict.cost, i))
        for _, i in sorted(good):
            refusal = test(start + i, verdicts[i].q)
            if not refusal.ok:
                causes[refusal.message] += 1
                last = refusal.blocking or last
                continue
            if way is None:
                return Choice(batch[i], verdicts[i].q)
            result = _planned(way, verdicts[i].q[0], scenes[0], context, refusals)
            if result is not None:
                return Choice(batch[i], verdicts[i].q, result)
            causes["no free path to it"] += 1
    counted = ", ".join(f"{n} {cause}" for cause, n in causes.most_common(5))
    text = f"none of {len(candidates) + sum(ways.removed.values())} candidates can be done: {counted}"
    raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", blocking=last))


def _planned(
    way: ApproachPlanning, q: Array, scene: SceneQuery, context: Context, refusals: list[str]
) -> Trajectory | None:
    """Return the free motion to ``q``; None where another candidate is to be tried."""
    result = way.plan(q, arm_q(context.world.snapshot(), context.arm_spec), scene, context)
    if result.code is Code.OK:
        return result.trajectory
    refusals.append(result.message or result.code.name)
    if result.code in UNREACHED and len(refusals) < way.attempts:
        context.refused.append(q)
        return None
    text = f"no free motion: {refusals[-1]}"
    if len(refusals) > 1:
        text = f"no free path to {len(refusals)} candidates: {' | '.join(refusals)}"
    raise StepFailed(Outcome(result.code, text, "select", blocking=result.blocking))


def _judge(
    batch: tuple[Candidate, ...], scenes: tuple[SceneQuery, ...], budget_s: float, context: Context
) -> tuple[CandidateVerdict, ...]:
    start_q = arm_q(context.world.snapshot(), context.arm_spec)
    result = judge_candidates(context, start_q, batch, scenes, budget_s)
    if result.code is not Code.OK:
        raise StepFailed(
            Outcome(result.code, result.message or "the planner refused the candidates", "select")
        )
    return result.verdicts


def cause_of(verdict: CandidateVerdict, ways: Ways) -> str:
    """Return the cause for which a candidate was removed, in words that can be counted.

    Args:
        verdict: Verdict of the planner, not OK.
        ways: Names of the waypoints.
    """
    bodies = f" ({verdict.blocking.a} - {verdict.blocking.b})" if verdict.blocking else ""
    at = f" at {ways.name(verdict.waypoint)}" if verdict.waypoint >= 0 else ""
    return f"{verdict.code.name}{at}{bodies}"


def _refused(q: Array, refused: Sequence[Array]) -> bool:
    return any(bool(np.abs(q - other).max() < SAME_REFUSED_RAD) for other in refused)
