"""A request to a lost planner is repeated once it is back, unless it was cancelled or this takes too long."""

from __future__ import annotations

import threading

import numpy as np

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    JointGoals,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    Verdict,
)
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import smooth
from handiwork_ros.ports.reconnecting_planner import ReconnectingPlanner

REQUEST = PlanRequest("arm", np.zeros(6), JointGoals(np.zeros((1, 6))))


class Lossy:
    """A planner that is lost, or has an old world, for the first ``losses`` calls."""

    def __init__(self, losses: int, loss: Code = Code.PLANNER_LOST) -> None:
        self.losses, self.asked, self.loss = losses, 0, loss

    def _code(self) -> Code:
        self.asked += 1
        return self.loss if self.asked <= self.losses else Code.OK

    def plan(self, request: PlanRequest, *, should_stop) -> PlanResult:
        return PlanResult(self._code())

    def check_candidates(self, request: CandidatesRequest, *, should_stop) -> CandidatesResult:
        return CandidatesResult(self._code(), "", ())

    def validate(self, arm, trajectory, scene: SceneQuery, *, should_stop) -> Verdict:
        return Verdict(self._code())

    def validate_rest(self, arm, trajectory, scene: SceneQuery, rest, *, should_stop) -> Verdict:
        return Verdict(self._code())


def never() -> bool:
    return False


def test_every_question_is_asked_again_until_the_planner_is_back():
    for losses in (0, 1, 3):
        lossy = Lossy(losses)
        patient = ReconnectingPlanner(lossy, lambda: True, 60.0)
        assert patient.plan(REQUEST, should_stop=never).code is Code.OK
        assert lossy.asked == losses + 1
    lossy = Lossy(1)
    patient = ReconnectingPlanner(lossy, lambda: True, 60.0)
    request = CandidatesRequest("arm", np.zeros(6), (), (), 1.0, 0)
    assert patient.check_candidates(request, should_stop=never).code is Code.OK
    lossy.losses, lossy.asked = 1, 0
    path = smooth(np.zeros(6), np.ones(6))
    assert patient.validate("arm", path, SceneQuery(), should_stop=never).code is Code.OK


def test_the_rest_of_a_motion_is_asked_about_once_for_the_arm_moves():
    lossy = Lossy(1)
    path = smooth(np.zeros(6), np.ones(6))
    verdict = ReconnectingPlanner(lossy, lambda: True, 60.0).validate_rest(
        "arm", path, SceneQuery(), PathRest(0.0), should_stop=never
    )
    assert verdict.code is Code.PLANNER_LOST
    assert lossy.asked == 1


def test_a_planner_that_has_no_pose_of_a_new_object_yet_is_asked_again_for_a_short_time():
    lossy = Lossy(2, Code.STALE_WORLD)
    path = smooth(np.zeros(6), np.ones(6))
    verdict = ReconnectingPlanner(lossy, lambda: True, 60.0).validate(
        "arm", path, SceneQuery(), should_stop=never
    )
    assert (verdict.code, lossy.asked) == (Code.OK, 3)
    lossy = Lossy(10**9, Code.STALE_WORLD)
    patient = ReconnectingPlanner(lossy, lambda: True, 10**9)
    assert patient.plan(REQUEST, should_stop=never).code is Code.STALE_WORLD


def test_patience_ends():
    lossy = Lossy(10**9)
    assert ReconnectingPlanner(lossy, never, 0.2).plan(REQUEST, should_stop=never).code is Code.PLANNER_LOST
    assert lossy.asked == 1


def test_a_stop_ends_the_wait():
    stop, lossy = threading.Event(), Lossy(10**9)
    threading.Timer(0.1, stop.set).start()
    patient = ReconnectingPlanner(lossy, never, 600.0)
    assert patient.plan(REQUEST, should_stop=stop.is_set).code is Code.PLANNER_LOST
