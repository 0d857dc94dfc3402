"""Look-ahead of a grasp: can the object, held like this, be brought to the place that follows?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.planning import Candidate, CandidateVerdict, SceneQuery
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import OK, BodyPair, Code, Outcome
from skill_server.motions.candidate_selection import BATCH, Ways, cause_of
from skill_server.motions.planner_requests import judge_candidates
from skill_server.stages.foreseen import context_after
from skill_server.stages.scenes import stage_scenes
from skill_server.state.gripper_state import arm_q

from .params import PlaceParams
from .place_stages import N_CANDIDATES, PlaceStages, place_stages

LEAST_S = 0.01
"""The least time for one request, s."""


@dataclass(frozen=True, slots=True)
class Share:
    """The feasible ones among releases: their number, the number of all, and the most frequent cause of the others."""

    good: int
    of: int
    refusal: Outcome


@dataclass(frozen=True, slots=True)
class Level:
    """How closely a place is looked at.

    Attributes:
        releases: Number of releases that are sampled.
        enough: Number of feasible ones with which a grasp is taken; all, where a goal gives fewer.
    """

    releases: int
    enough: int


LEVELS = (Level(16, 2), Level(N_CANDIDATES, 4), Level(N_CANDIDATES, 1))
"""A coarse look at all grasps comes first. A single feasible release comes last: a small slip may leave none."""


class LookAhead:
    """The place that follows a grasp, and how much time is left to look at it.

    The releases are sampled and judged as Place itself does it, with the seed that the place will have. So all grasps
    are judged by the same releases of the object, wherever these do not depend on the hand, and Place finds them again.
    """

    def __init__(
        self,
        params: PlaceParams,
        object_name: str,
        context: Context,
        budget_s: float,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to look ahead.

        Args:
            params: Parameters of the place.
            object_name: The object that is grasped.
            context: Context of the run that grasps it; the planning time is added to its own.
            budget_s: Time for the grasps of one choice, s of steady time.
            steady: Returns the steady time, s.
        """
        self._params, self._object, self._context = params, object_name, context
        self._budget_s, self._steady = budget_s, steady
        self._until_s = steady() + budget_s
        self._level = 0
        self._found = dict[tuple[int, bytes], Share | Outcome]()

    def look_closer(self) -> bool:
        """Look more closely from now on, or accept less; return False where this cannot change any answer.

        To be called after all grasps were refused.
        """
        if self._level + 1 == len(LEVELS) or not self._found or self._left_s() <= 0.0:
            return False
        self._level += 1
        if LEVELS[self._level].releases > LEVELS[self._level - 1].releases:
            return True
        return any(isinstance(found, Share) and found.good for found in self._found.values())

    def refusal(self, stages: tuple[SkillStage, ...]) -> Outcome:
        """Return why the object cannot be placed after stages that grasp it.

        Args:
            stages: Stages of one grasp, each pose with its configuration.

        Returns:
            OK if the planner finds enough releases feasible; else NO_CANDIDATE, or PLAN_BUDGET for a grasp that no time
            was left for. The message is a cause that can be counted.

        Raises:
            StepFailed: The planner failed, or the place contradicts itself.
            Stopped: The token was set.
        """
        level = LEVELS[self._level]
        key = level.releases, b"".join(stage.q.tobytes() for stage in stages if stage.q is not None)
        if key not in self._found:
            self._found[key] = self._looked(stages, level.releases)
        found = self._found[key]
        if isinstance(found, Outcome):
            return found
        return OK if found.good >= min(level.enough, found.of) else found.refusal

    def _looked(self, stages: tuple[SkillStage, ...], n: int) -> Share | Outcome:
        """Return how many of ``n`` releases are feasible; or why this is not known."""
        if self._left_s() <= 0.0:
            return self._late()
        seed = self._params.seed
        rng = np.random.default_rng(seed & (2**64 - 1))
        ahead = replace(context_after(stages, self._context), rng=rng, seed=seed, planning_time_s=0.0)
        try:
            return self._judged(place_stages(self._params, ahead, ahead.held[self._object], n), ahead)
        except StepFailed as failure:
            if failure.outcome.code is not Code.NO_CANDIDATE:
                raise
            return _unreachable(failure.outcome.message, failure.outcome.blocking)
        finally:
            self._context.planning_time_s += ahead.planning_time_s

    def _judged(self, found: PlaceStages, ahead: Context) -> Share | Outcome:
        posed = [stage for stage in found.sequences[0] if stage.world_T_ee is not None]
        scenes = stage_scenes(found.sequences[0], self._params, ahead, ahead.world.snapshot())
        ways = Ways(tuple(stage.label for stage in posed))
        verdicts = self._verdicts(tuple(_candidate(one) for one in found.sequences), scenes, ahead)
        if verdicts is None:
            return self._late()
        bad = [verdict for verdict in verdicts if verdict.code is not Code.OK]
        if not bad:
            return Share(len(verdicts), len(verdicts), OK)
        [(most, _)] = Counter(cause_of(verdict, ways) for verdict in bad).most_common(1)
        blocking = next(verdict.blocking for verdict in bad if cause_of(verdict, ways) == most)
        return Share(len(verdicts) - len(bad), len(verdicts), _unreachable(most, blocking))

    def _verdicts(
        self, candidates: tuple[Candidate, ...], scenes: tuple[SceneQuery, ...], ahead: Context
    ) -> list[CandidateVerdict] | None:
        """Ask in the batches in which Place asks, so that the planner's own random choices are the same; None: late."""
        start_q, verdicts = arm_q(ahead.world.snapshot(), ahead.arm_spec), list[CandidateVerdict]()
        for first in range(0, len(candidates), BATCH):
            batch, left_s = candidates[first : first + BATCH], max(self._left_s(), LEAST_S)
            result = judge_candidates(ahead, start_q, batch, scenes, left_s)
            if result.code is Code.PLAN_BUDGET:
                return None
            if result.code is not Code.OK:
                text = result.message or "the planner refused the releases of the next place"
                raise StepFailed(Outcome(result.code, text, "select", "next_place"))
            verdicts += result.verdicts
        return verdicts

    def _left_s(self) -> float:
        return self._until_s - self._steady()

    def _late(self) -> Outcome:
        text = f"not looked at ahead within {self._budget_s:g} s, which follow from allowed_planning_time"
        return Outcome(Code.PLAN_BUDGET, text, "select", "allowed_planning_time")


def _candidate(stages: Sequence[SkillStage]) -> Candidate:
    return Candidate(tuple(stage.world_T_ee for stage in stages if stage.world_T_ee is not None))


def _unreachable(why: str, blocking: BodyPair | None) -> Outcome:
    return Outcome(
        Code.NO_CANDIDATE, f"cannot reach the place ({why})", "select", "next_place", blocking=blocking
    )
