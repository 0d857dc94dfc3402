"""The retry policy: which failure leads to another attempt, and what is different then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from skill_server.params.retry_policy import (
    DEFAULT_ATTEMPTS,
    FOLLOW,
    MOST_YIELDS,
    Attempt,
    Change,
    Recovery,
    retry_policy,
    retry_policy_of,
)
from skill_server.regrasping.params import MoveObjectParams, ObjectPlaceParams
from skill_server.regrasping.planning import pick_params
from skill_server.skills.pick_place.pick import PickParams
from skill_server.skills.pick_place.place import Place


def change(recovery: Recovery, code: Code, **seen: bool) -> Change | None:
    rule = retry_policy(recovery, 4).rule_for(Attempt(Outcome(code, "bad"), **seen))
    return None if rule is None else rule.change


@pytest.mark.parametrize(
    ("code", "seen", "give_up", "next_candidate", "regrasp"),
    [
        (Code.NO_IK, {"is_refused_plan": True}, None, Change.NEXT_CANDIDATE, Change.NEXT_CANDIDATE),
        (Code.NO_IK, {"is_refused_plan": True, "is_touched": True}, None, None, None),
        (Code.NO_IK, {}, None, None, None),
        (Code.PLANNER_LOST, {"is_refused_plan": True}, None, None, None),
        (Code.ARM_IN_THE_WAY, {}, Change.YIELD, Change.YIELD, Change.YIELD),
        (Code.ARM_IN_THE_WAY, {"is_touched": True}, None, None, None),
        (Code.OBJECT_MOVED, {"still_holds": True}, None, None, Change.STEP_BACK),
        (Code.OBJECT_MOVED, {"still_holds": True, "is_touched": True}, None, None, Change.REGRASP),
        (Code.NOTHING_GRASPED, {"is_touched": True}, None, None, Change.REGRASP),
        (Code.NOT_IN_PLACE, {"is_touched": True}, None, None, Change.REGRASP),
        (Code.NOT_REACHED, {}, None, None, None),
    ],
)
def test_each_failure_has_one_answer(
    code: Code,
    seen: dict[str, bool],
    give_up: Change | None,
    next_candidate: Change | None,
    regrasp: Change | None,
) -> None:
    answers = (change(recovery, code, **seen) for recovery in Recovery)
    assert tuple(answers) == (give_up, next_candidate, regrasp)


def test_attempts_bound_all_but_yielding() -> None:
    most = {
        rule.change: (rule.most, rule.counts_attempts) for rule in retry_policy(Recovery.REGRASP, 7).rules
    }
    assert most.pop(Change.YIELD) == (MOST_YIELDS, False)
    assert set(most.values()) == {(7, True)}


def test_the_goal_names_its_policy_and_a_goal_without_one_takes_other_candidates() -> None:
    regrasps = PickParams(object="cube", recovery="regrasp", max_attempts=5, follow_speed=0.0)
    assert retry_policy_of(regrasps) == retry_policy(Recovery.REGRASP, 5)
    follows = retry_policy_of(replace(regrasps, follow_speed=0.1))
    assert follows.rules == (FOLLOW, *retry_policy(Recovery.REGRASP, 5).rules)
    explicit = replace(regrasps, follow_speed=0.1, grasp_poses=(Pose.identity(),))
    assert not retry_policy_of(explicit).follows, "poses of the world do not move with the object"
    assert retry_policy_of(SkillParams()) == retry_policy(Recovery.NEXT_CANDIDATE, DEFAULT_ATTEMPTS)
    counts = [retry_policy(recovery, 5).candidates for recovery in Recovery]
    assert counts == [1, 5, 5]


def test_a_place_at_poses_of_the_world_is_not_followed() -> None:
    poses = (Pose.identity(),)
    assert not retry_policy_of(ObjectPlaceParams(container="tray", object_poses=poses)).follows
    assert retry_policy_of(ObjectPlaceParams(container="tray")).follows


def test_the_picks_that_a_goal_makes_follow_as_the_goal_says() -> None:
    goal = MoveObjectParams(object="cube", container="tray", follow_speed=0.0, follow_tolerance=0.02)
    skills = Place().recovery_skills(goal, "cube")
    assert skills is not None
    for made in (pick_params(goal), skills[0][1]):
        assert (made.follow_speed, made.follow_tolerance) == (0.0, 0.02)
