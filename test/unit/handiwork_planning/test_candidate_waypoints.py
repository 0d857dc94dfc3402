"""The verdict on a candidate names the waypoint that cannot be reached."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Candidate,
    CandidatesRequest,
    Engine,
    SceneQuery,
)
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from support.planning.demo_world import hand_down


@pytest.mark.parametrize(
    ("ways", "waypoint"),
    [
        ((2.0, 0.5, 0.55), 0),
        ((0.5, 1.5, 0.55), 1),
        ((0.5, 0.55, 1.5), 2),
        ((0.5, 0.55, 0.5), -1),
    ],
)
def test_a_refused_candidate_names_its_waypoint(
    engine: Engine, robot: Robot, ways: tuple[float, ...], waypoint: int
) -> None:
    candidate = Candidate(tuple(hand_down(robot, x, 0.0, 0.3) for x in ways))
    home = np.array(robot.arm("").home_q)
    request = CandidatesRequest("", home, (candidate,), (SceneQuery(),), budget_s=20.0)
    verdict = engine.check_candidates(request, lambda: False).verdicts[0]
    assert (verdict.code is Code.OK) == (waypoint < 0)
    assert verdict.waypoint == waypoint
