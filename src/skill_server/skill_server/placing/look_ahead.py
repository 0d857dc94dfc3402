"""Look-ahead of a grasp: can the object, held like this, be brought to the place that follows?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.planning import Candidate, CandidatesResult
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.stages import Stage
from handiwork_core.model.outcome import OK, BodyPair, Code, Outcome
from skill_server.motions.candidate_selection import Ways, cause_of
from skill_server.motions.planner_requests import judge_candidates
from skill_server.stages.foreseen import context_after
from skill_server.stages.scenes import stage_scenes
from skill_server.state.gripper_state import arm_q

from .params import PlaceParams
from .place_stages import PlaceStages, place_stages

AT_ONCE = 8
"""Releases that the planner judges in one request; the first feasible one suffices."""


class LookAhead:
    """The place that follows a grasp, and how much time is left to look at it.

    The releases are sampled and judged as Place itself does it. The random choices are the same for each grasp, so that
    all grasps are judged by the same releases of the object wherever the place does not depend on the hand.
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

    def refusal(self, stages: tuple[Stage, ...]) -> Outcome:
        """Return why the object cannot be placed after stages that grasp it.

        Args:
            stages: Stages of one grasp, each pose with its configuration.

        Returns:
            OK if the planner finds at least one release feasible; else NO_CANDIDATE, or PLAN_BUDGET for a grasp that no
            time was left for. The message is a cause that can be counted.

        Raises:
            StepFailed: The planner failed, or the place contradicts itself.
            Stopped: The token was set.
        """
        if self._left_s() <= 0.0:
            return self._late()
        rng = np.random.default_rng(self._context.seed & (2**64 - 1))
        ahead = replace(context_after(stages, self._context), rng=rng, planning_time_s=0.0)
        try:
            found = place_stages(self._params, ahead, ahead.held[self._object])
            return self._judged(found, ahead)
        except StepFailed as failure:
            if failure.outcome.code is not Code.NO_CANDIDATE:
                raise
            return _unreachable(failure.outcome.message, failure.outcome.blocking)
        finally:
            self._context.planning_time_s += ahead.planning_time_s

    def _judged(self, found: PlaceStages, ahead: Context) -> Outcome:
        posed = [stage for stage in found.sequences[0] if stage.world_T_ee is not None]
        world = ahead.world.snapshot()
        scenes = stage_scenes(found.sequences[0], self._params, ahead, world)
        ways, start_q = Ways(tuple(stage.label for stage in posed)), arm_q(world, ahead.arm_spec)
        causes, blocking = Counter[str](), dict[str, BodyPair | None]()
        for first in range(0, len(found.sequences), AT_ONCE):
            if (left_s := self._left_s()) <= 0.0:
                return self._late()
            batch = tuple(_candidate(one) for one in found.sequences[first : first + AT_ONCE])
            result = judge_candidates(ahead, start_q, batch, scenes, left_s)
            if result.code is Code.PLAN_BUDGET:
                return self._late()
            if any(verdict.code is Code.OK for verdict in _verdicts(result).verdicts):
                return OK
            for verdict in result.verdicts:
                cause = cause_of(verdict, ways)
                causes[cause] += 1
                blocking[cause] = verdict.blocking
        [(most, _)] = causes.most_common(1)
        return _unreachable(most, blocking[most])

    def _left_s(self) -> float:
        return self._until_s - self._steady()

    def _late(self) -> Outcome:
        text = f"not looked at ahead within allowed_planning_time, {self._budget_s:g} s"
        return Outcome(Code.PLAN_BUDGET, text, "select", "allowed_planning_time")


def _candidate(stages: Sequence[Stage]) -> Candidate:
    return Candidate(tuple(stage.world_T_ee for stage in stages if stage.world_T_ee is not None))


def _verdicts(result: CandidatesResult) -> CandidatesResult:
    if result.code is Code.OK:
        return result
    text = result.message or "the planner refused the releases of the next place"
    raise StepFailed(Outcome(result.code, text, "select", "next_place"))


def _unreachable(why: str, blocking: BodyPair | None) -> Outcome:
    return Outcome(
        Code.NO_CANDIDATE, f"cannot reach the place ({why})", "select", "next_place", blocking=blocking
    )
