"""Where a hand that is wide open has no way to an object, Pick opens it only as far as the object needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import OpenGripper
from handiwork_core.contracts.planning import CandidatesRequest, CandidatesResult, CandidateVerdict
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.testing.fakes import FakePlanner, Fakes
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import NARROW_ROOM_M, Pick, PickParams
from unit.skill_server.execution.test_executor import CUBE, PICK, made

BESIDE = BodyPair("gantry/left_finger", "can")


@dataclass
class Beside(FakePlanner):
    """Something stands beside the object, so that fingers have room up to an opening."""

    cell: Any
    most_m: float

    def __post_init__(self) -> None:
        super().__init__(self.cell)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        """See ``FakePlanner``."""
        result = super().check_candidates(request, should_stop=should_stop)
        if 2.0 * dict(request.scenes[1].gripper_m)["left_finger_joint"] <= self.most_m:
            return result
        refused = CandidateVerdict(Code.PATH_BLOCKED, np.zeros((0, 0)), blocking=BESIDE, waypoint=1)
        return replace(result, verdicts=tuple(refused for _ in result.verdicts))


def cell(most_m: float) -> Fakes:
    f = made()
    f.planner = f.context.planner = Beside(f.cell, most_m)
    return f


def opening(f: Fakes) -> float | None:
    """Return how far the hand is open on the way to the grasp that Pick chooses, m."""
    (descent,) = (stage for stage in Pick().chosen_stages(PICK, f.context) if stage.name == "descend")
    (function,) = descent.functions
    assert isinstance(function, OpenGripper)
    return function.width_m


def test_a_hand_with_room_opens_wide_and_one_without_as_far_as_it_must() -> None:
    assert opening(cell(1.0)) == 0.08
    assert opening(cell(0.07)) == pytest.approx(CUBE + NARROW_ROOM_M)


def test_such_a_pick_is_carried_out() -> None:
    f = cell(0.07)
    assert run_skill(Pick(), PICK, f.context).outcome.ok
    assert set(f.context.held) == {"cube"}


def test_what_a_wide_open_hand_did_not_reach_is_tried_again_with_a_narrower_one() -> None:
    f = cell(1.0)
    first = Pick().chosen_stages(PICK, f.context)[1].q
    assert first is not None
    f = cell(0.07)
    f.context.refused.append(first)
    assert opening(f) == pytest.approx(CUBE + NARROW_ROOM_M)
    assert f.context.refused == [first]


@pytest.mark.parametrize(
    ("most_m", "params", "words"),
    [
        (0.03, PICK, "with the hand open by 61 mm: none of"),
        (0.07, replace(PICK, gripper_width=0.08), "none of"),  # the goal says how far it opens
    ],
)
def test_where_that_has_no_way_either_the_refusal_says_both(
    most_m: float, params: PickParams, words: str
) -> None:
    outcome = run_skill(Pick(), params, cell(most_m).context).outcome
    assert outcome.code is Code.NO_CANDIDATE
    assert outcome.blocking == BESIDE
    assert words in outcome.message
    assert ("with the hand open by" in outcome.message) == ("open by" in words)
