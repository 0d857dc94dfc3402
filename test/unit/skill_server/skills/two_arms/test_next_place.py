"""Handover with ``next_place``: the other hand takes only a grasp with which it can go on to the place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contracts.test_arm_skills import held_by_both
from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    ShouldStop,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry_pose
from skill_server.execution.run import run_skill
from skill_server.handing import search
from skill_server.handing.meetings import Meeting
from skill_server.handing.params import HandoverParams
from skill_server.handing.search import FoundMeeting, MeetingSearch
from skill_server.placing.params import PlaceParams
from skill_server.skills.two_arms.handover import Handover
from support.cells.gantry_pair import FIRST

PLACE = PlaceParams(container="tray")
AHEAD = HandoverParams(object="cube", next_place=PLACE, search_time=600.0)
WALL = BodyPair("gantry/other_hand", "wall")


class PlaceJudge:
    """Counts the questions about the place, in which the giving arm is away, and refuses some of their grasps."""

    def __init__(self, given: Fakes, refused: int) -> None:
        self.asked = list[CandidatesRequest]()
        self._refused, self._grasps = refused, list[bytes]()
        self._check = given.planner.check_candidates
        given.planner.check_candidates = self.check  # type: ignore[method-assign]

    def check(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        found = self._check(request, should_stop=should_stop)
        if not any(one.arm == FIRST and not len(one.q) for scene in request.scenes for one in scene.others):
            return found
        self.asked.append(request)
        held = request.scenes[0].attached[0].link_T_object.matrix().round(6).tobytes()
        if held not in self._grasps:
            self._grasps.append(held)
        if self._grasps.index(held) >= self._refused:
            return found
        blocked = CandidateVerdict(Code.PATH_BLOCKED, found.verdicts[0].q, 0.0, blocking=WALL)
        return replace(found, verdicts=(blocked,) * len(found.verdicts))


@pytest.fixture(autouse=True)
def _where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the arms meet where the giving hand is, with three grasps: where else they can is not asked here."""

    def meet(
        _giver: object, _taker: object, giver_q: Array, held: Pose, grasps: tuple[Pose, ...], _gripper: object
    ) -> tuple[Meeting, ...]:
        hand = gantry_pose(giver_q)
        return (Meeting(hand, hand @ held, grasps[:3], 0.0),)

    for name, value in (("GIVER_SAMPLES", 4), ("TAKER_SAMPLES", 4), ("meetings", meet)):
        monkeypatch.setattr(search, name, value)


def meeting(params: HandoverParams, refused: int = 0) -> tuple[FoundMeeting, PlaceJudge]:
    """Search for a place to meet, in which the place ahead is refused to so many grasps."""
    given, taken = held_by_both()
    taken.cell.in_hand = ""
    judge = PlaceJudge(given, refused)
    held = given.context.held["cube"]
    return MeetingSearch(params, given.context, taken.context, held).run(), judge


def hands(found: FoundMeeting) -> list[bytes]:
    return [grasp.matrix().round(6).tobytes() for grasp in found.grasps]


def test_without_a_next_place_nothing_is_asked_about_one() -> None:
    found, judge = meeting(replace(AHEAD, next_place=None))
    assert found.grasps and not judge.asked


def test_a_grasp_that_cannot_reach_the_place_is_not_taken() -> None:
    free, _ = meeting(replace(AHEAD, next_place=None))
    assert len(free.grasps) == 3
    found, judge = meeting(AHEAD, refused=1)
    assert judge.asked
    assert set(hands(found)) < set(hands(free))
    assert len(found.grasps) == 2


def test_the_place_is_asked_about_with_the_object_in_the_other_hand_and_released_over_the_container() -> None:
    found, judge = meeting(AHEAD)
    request = judge.asked[0]
    assert request.arm == "other"
    attached = request.scenes[0].attached[0]
    assert (attached.object, attached.link) == ("cube", "other_hand")
    for one in request.candidates:
        places = [(hand @ attached.link_T_object).translation_m for hand in one.world_T_ee]
        x, y, z = min(places, key=lambda place: float(place[2]))
        assert abs(x - 0.4) < 0.15 and abs(y + 0.3) < 0.15 and z < 0.2, (x, y, z)
    assert found.grasps


def test_where_no_grasp_serves_the_place_the_cause_is_counted_and_the_first_hand_keeps_the_object() -> None:
    given, taken = held_by_both()
    taken.cell.in_hand = ""
    judge = PlaceJudge(given, 10_000)
    failed = run_skill(Handover(), AHEAD, given.context).outcome
    assert judge.asked
    assert failed.code is Code.NO_CANDIDATE, failed
    assert "place ahead: 0 of 3 possible" in failed.message
    assert failed.message.endswith("'cube' is held by arm")
    assert given.cell.in_hand == "cube"


@pytest.mark.parametrize(
    ("place", "code", "field_name", "words"),
    [
        (PlaceParams(container="tary"), Code.UNKNOWN_OBJECT, "next_place.container", "tray"),
        (PlaceParams(container="cube"), Code.CONTRADICTION, "next_place.container", "into itself"),
        (
            PlaceParams(container="tray", object="tray"),
            Code.CONTRADICTION,
            "next_place.object",
            "name two different objects",
        ),
        (
            PlaceParams(container="tray", place_z_offset=0.5),
            Code.CONTRADICTION,
            "next_place.place_z_offset",
            "in next_place",
        ),
    ],
)
def test_a_bad_next_place_is_refused_by_field_and_nothing_moves(
    place: PlaceParams, code: Code, field_name: str, words: str
) -> None:
    given, _ = held_by_both()
    refused = run_skill(Handover(), replace(AHEAD, next_place=place), given.context).outcome
    found = [one for one in refused.all if one.field_name == field_name]
    assert found and found[0].code is code, refused
    assert words in refused.message
    assert "arm.follow" not in given.cell.calls
