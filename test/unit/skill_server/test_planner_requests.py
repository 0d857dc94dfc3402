"""Questions to the planner: what they hold, that they can be stopped, and that their time counts."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Candidate,
    CandidatesResult,
    JointGoals,
    PlanResult,
    SceneQuery,
)
from handiwork_core.contracts.skill import Stopped
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.outcome import Code
from handiwork_core.testing.gantry import gantry_pose
from skill_server.motions.planner_requests import judge_candidates, plan_motion

from .execution.test_executor import made

PARAMS = SkillParams(
    max_velocity_scaling_factor=0.5, max_acceleration_scaling_factor=0.4, allowed_planning_time=3.0
)
START, GOAL = np.zeros(6), np.full(6, 0.1)
SCENE = SceneQuery(frozenset({"tray"}))
WEIGHTS = (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
WAY = Candidate((gantry_pose(GOAL),))


def test_a_plan_is_asked_for_with_the_limits_of_the_goal_times_the_speed() -> None:
    f = made(seed=4)
    result = plan_motion(
        f.context, PARAMS, START, JointGoals(GOAL[None, :]), SCENE, speed=0.5, hold_vec_weight=WEIGHTS
    )
    assert result.trajectory is not None
    (asked,) = f.planner.plans
    assert (asked.arm, asked.seed, asked.budget_s) == ("arm", 4, 3.0)
    assert (asked.velocity_scaling, asked.acceleration_scaling) == (0.25, 0.2)
    assert (asked.scene, asked.hold_vec_weight) == (SCENE, WEIGHTS)
    assert asked.start_q is START
    assert f.context.planning_time_s == result.planning_time_s > 0.0


def test_candidates_are_judged_within_the_budget_and_their_time_counts() -> None:
    f = made(seed=4)
    result = judge_candidates(f.context, START, (WAY, WAY), (SCENE,), 1.5)
    assert [verdict.code for verdict in result.verdicts] == [Code.OK, Code.OK]
    (asked,) = f.planner.candidates
    assert (asked.arm, asked.seed, asked.budget_s, asked.scenes) == ("arm", 4, 1.5, (SCENE,))
    assert f.context.planning_time_s == result.planning_time_s > 0.0


@pytest.mark.parametrize("is_set_before", [True, False])
def test_a_set_token_ends_either_question(is_set_before: bool) -> None:
    f = made()
    if is_set_before:
        f.context.token.set(Code.CANCELED)
    f.cell.before = lambda _call: f.context.token.set(Code.CANCELED)
    with pytest.raises(Stopped):
        plan_motion(f.context, PARAMS, START, JointGoals(GOAL[None, :]), SCENE, speed=1.0)
    assert bool(f.planner.plans) is not is_set_before
    with pytest.raises(Stopped):
        judge_candidates(f.context, START, (WAY,), (SCENE,), 1.0)
    assert not f.planner.candidates


def test_a_planner_that_breaks_its_contract_is_no_bad_plan() -> None:
    f = made()
    f.planner.refusals = [PlanResult(Code.OK)]
    with pytest.raises(ValueError, match="OK without a trajectory"):
        plan_motion(f.context, PARAMS, START, JointGoals(GOAL[None, :]), SCENE, speed=1.0)
    f.planner.check_candidates = lambda *_, **__: CandidatesResult(Code.OK, "", ())  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="0 verdicts for 1 candidates"):
        judge_candidates(f.context, START, (WAY,), (SCENE,), 1.0)
