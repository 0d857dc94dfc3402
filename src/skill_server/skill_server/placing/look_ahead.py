"""Look-ahead of a grasp: can the object, held like this, be brought to the place that follows?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.planning import Candidate, CandidatesResult, CandidateVerdict
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import OK, BodyPair, Code, Outcome
from skill_server.motions.candidate_selection import Ways, cause_of
from skill_server.motions.planner_requests import judge_candidates
from skill_server.stages.foreseen import context_after
from skill_server.stages.scenes import stage_scenes
from skill_server.state.gripper_state import arm_q

from .params import PlaceParams
from .place_stages import PlaceStages, place_stages

AT_FIRST = 8
"""Releases that the planner judges first: they often suffice, and each request costs time of its own."""
ENOUGH = 4
"""Feasible releases with which a grasp is taken at once: with fewer, a small slip in the hand may leave none."""


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
        self._enough, self._found = ENOUGH, dict[bytes, Outcome | int]()

    def makes_do(self) -> bool:
        """Accept a single feasible release from now on; return True if this changes the answer for a grasp.

        To be called after all grasps were refused.
        """
        was, self._enough = self._enough, 1
        return was > 1 and any(type(found) is int for found in self._found.values())

    def refusal(self, stages: tuple[SkillStage, ...]) -> Outcome:
        """Return why the object cannot be placed after stages that grasp it.

        Args:
            stages: Stages of one grasp, each pose with its configuration.

        Returns:
            OK if the planner finds ``ENOUGH`` releases feasible, or after ``makes_do`` one; else NO_CANDIDATE, or
            PLAN_BUDGET for a grasp that no time was left for. The message is a cause that can be counted.

        Raises:
            StepFailed: The planner failed, or the place contradicts itself.
            Stopped: The token was set.
        """
        key = b"".join(stage.q.tobytes() for stage in stages if stage.q is not None)
        if key not in self._found:
            self._found[key] = self._looked(stages)
        found = self._found[key]
        if not isinstance(found, int):
            return found
        if found >= self._enough:
            return OK
        return _unreachable(f"only {found} of its releases can be done", None)

    def _looked(self, stages: tuple[SkillStage, ...]) -> Outcome | int:
        """Return the number of feasible releases, up to ``ENOUGH``; or why there is none."""
        if self._left_s() <= 0.0:
            return self._late()
        seed = self._params.seed
        rng = np.random.default_rng(seed & (2**64 - 1))
        ahead = replace(context_after(stages, self._context), rng=rng, seed=seed, planning_time_s=0.0)
        try:
            found = place_stages(self._params, ahead, ahead.held[self._object])
            return self._judged(found, ahead)
        except StepFailed as failure:
            if failure.outcome.code is not Code.NO_CANDIDATE:
                raise
            return _unreachable(failure.outcome.message, failure.outcome.blocking)
        finally:
            self._context.planning_time_s += ahead.planning_time_s

    def _judged(self, found: PlaceStages, ahead: Context) -> Outcome | int:
        posed = [stage for stage in found.sequences[0] if stage.world_T_ee is not None]
        world = ahead.world.snapshot()
        scenes = stage_scenes(found.sequences[0], self._params, ahead, world)
        ways, start_q = Ways(tuple(stage.label for stage in posed)), arm_q(world, ahead.arm_spec)
        causes, blocking, good = Counter[str](), dict[str, BodyPair | None](), 0
        candidates = tuple(_candidate(one) for one in found.sequences)
        for batch in filter(None, (candidates[:AT_FIRST], candidates[AT_FIRST:])):
            if (left_s := self._left_s()) <= 0.0:
                return good or self._late()
            result = judge_candidates(ahead, start_q, batch, scenes, left_s)
            if result.code is Code.PLAN_BUDGET:
                return good or self._late()
            for verdict in _verdicts(result):
                if verdict.code is Code.OK:
                    good += 1
                    continue
                cause = cause_of(verdict, ways)
                causes[cause] += 1
                blocking[cause] = verdict.blocking
            if good >= ENOUGH:
                break
        if not causes:
            return ENOUGH  # a goal with few place_poses, which all can be done
        most = max(causes, key=causes.__getitem__)
        return good or _unreachable(most, blocking[most])

    def _left_s(self) -> float:
        return self._until_s - self._steady()

    def _late(self) -> Outcome:
        text = f"not looked at ahead within allowed_planning_time, {self._budget_s:g} s"
        return Outcome(Code.PLAN_BUDGET, text, "select", "allowed_planning_time")


def _candidate(stages: Sequence[SkillStage]) -> Candidate:
    return Candidate(tuple(stage.world_T_ee for stage in stages if stage.world_T_ee is not None))


def _verdicts(result: CandidatesResult) -> tuple[CandidateVerdict, ...]:
    if result.code is Code.OK:
        return result.verdicts
    text = result.message or "the planner refused the releases of the next place"
    raise StepFailed(Outcome(result.code, text, "select", "next_place"))


def _unreachable(why: str, blocking: BodyPair | None) -> Outcome:
    return Outcome(
        Code.NO_CANDIDATE, f"cannot reach the place ({why})", "select", "next_place", blocking=blocking
    )
