"""Places that the giving hand leaves by a part of the way only, or whose arm cannot go home, are the last resort."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contracts.test_arm_skills import held_by_both
from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    JointGoals,
    PlanRequest,
    PlanResult,
    ShouldStop,
)
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.testing.gantry import gantry_pose
from skill_server.handing import search
from skill_server.handing.meetings import Meeting
from skill_server.handing.params import HandoverParams
from skill_server.handing.search import FoundMeeting, MeetingSearch
from support.cells.gantry_pair import FIRST

PARAMS = HandoverParams(object="cube", search_time=600.0)
HANDS = BodyPair("gantry/hand", "gantry/other_hand")
ASIDE_M = 0.02
"""The second place is so far from where the giving hand is."""


def found(
    longest_m: float, at_first: float = 0.0, homes: frozenset[int] | None = None
) -> tuple[FoundMeeting, list[float]]:
    """Search at two places for one that the giving hand can leave by so much, and return the lengths that were asked.

    Args:
        longest_m: The hand leaves by this much at most, m.
        at_first: The same for the first place, m; 0: as elsewhere.
        homes: Numbers of the questions for a way home, from 1, to which there is one; None: to each.
    """
    given, taken = held_by_both()
    taken.cell.in_hand = ""
    check, asked = given.planner.check_candidates, list[float]()
    here = gantry_pose(given.cell.q).translation_m

    def judge(request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        answer = check(request, should_stop=should_stop)
        first, last = request.candidates[0].world_T_ee[0], request.candidates[0].world_T_ee[-1]
        if request.arm != FIRST or len(request.candidates[0].world_T_ee) < 2:
            return answer
        way_m = first.distance_to(last)[0]
        asked.append(round(way_m, 4))
        is_first = float(np.linalg.norm(first.translation_m - here)) < ASIDE_M / 2
        if way_m <= (at_first if is_first and at_first else longest_m) + 1e-6:
            return answer
        none = CandidateVerdict(Code.JOINT_LIMIT, answer.verdicts[0].q, 0.0, waypoint=1)
        return replace(answer, verdicts=(none,) * len(answer.verdicts))

    plan, numbers = given.planner.plan, itertools.count(1)

    def go_home(request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        assert isinstance(request.goal, JointGoals)
        np.testing.assert_allclose(request.goal.q[0], given.context.arm_spec.home_q)
        if homes is None or next(numbers) in homes:
            return plan(request, should_stop=should_stop)
        return PlanResult(Code.GOAL_IN_COLLISION, "the other hand is there", blocking=HANDS)

    given.planner.check_candidates = judge  # type: ignore[method-assign]
    given.planner.plan = go_home  # type: ignore[method-assign]
    return MeetingSearch(PARAMS, given.context, taken.context, given.context.held["cube"]).run(), asked


@pytest.fixture(autouse=True)
def _two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the arms meet where the giving hand is and beside it, with one grasp each."""

    def meet(
        _giver: object, _taker: object, giver_q: Array, held: Pose, grasps: tuple[Pose, ...], _gripper: object
    ) -> tuple[Meeting, ...]:
        hand = gantry_pose(giver_q)
        aside = Pose.of(hand.translation_m + np.array([0.0, 0.0, ASIDE_M]), hand.rotation)
        return tuple(Meeting(one, one @ held, grasps[:1], 0.0) for one in (hand, aside))

    for name, value in (("GIVER_SAMPLES", 4), ("TAKER_SAMPLES", 4), ("meetings", meet)):
        monkeypatch.setattr(search, name, value)


def height(one: FoundMeeting) -> float:
    return float(one.world_T_giver.translation_m[2])


def test_the_whole_way_is_asked_alone_where_it_is_free() -> None:
    _, asked = found(1.0)
    assert asked == [0.08]


def test_a_place_with_the_whole_way_comes_before_one_with_a_part_of_it() -> None:
    at_once, _ = found(1.0)
    beside, asked = found(1.0, at_first=0.06)
    assert height(beside) == pytest.approx(height(at_once) + ASIDE_M)
    assert asked == [0.08, 0.056, 0.08]


def test_the_first_place_with_a_part_of_the_way_is_the_last_resort() -> None:
    at_once, _ = found(1.0)
    short, asked = found(0.04)
    assert height(short) == pytest.approx(height(at_once))
    assert asked == [0.08, 0.056, 0.032, 0.08]


def test_without_any_way_the_refusal_counts_each_length() -> None:
    with pytest.raises(StepFailed, match=r"way back by 40%: 0 of 2 possible") as failed:
        found(0.01)
    assert failed.value.outcome.code is Code.NO_CANDIDATE


def test_a_place_from_which_the_arm_can_go_home_comes_first() -> None:
    at_once, _ = found(1.0)
    beside, asked = found(1.0, homes=frozenset({2}))
    assert height(beside) == pytest.approx(height(at_once) + ASIDE_M)
    assert asked == [0.08, 0.08]


def test_where_the_arm_cannot_go_home_from_any_place_the_first_is_taken() -> None:
    at_once, _ = found(1.0)
    blocked, asked = found(1.0, homes=frozenset())
    assert height(blocked) == pytest.approx(height(at_once))
    assert asked == [0.08, 0.08]


def test_only_some_more_places_are_looked_at_after_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BATCH", 1)
    monkeypatch.setattr(search, "MORE_PLACES", 1)
    _, asked = found(1.0, homes=frozenset({2}))
    assert asked == [0.08]


def test_the_last_resort_is_taken_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, _ = found(1.0)
    now = [0.0]
    monkeypatch.setattr(search, "BATCH", 1)
    monkeypatch.setattr(search, "time", SimpleNamespace(monotonic=lambda: now[0]))
    to_home = search.MeetingSearch._goes_home

    def slow(self: MeetingSearch, *given: Any) -> bool:
        now[0] += 1000.0
        return to_home(self, *given)

    monkeypatch.setattr(search.MeetingSearch, "_goes_home", slow)
    late, _ = found(1.0, homes=frozenset())
    assert height(late) == pytest.approx(height(at_once))
