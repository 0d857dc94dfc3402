"""Requests that fail leave nothing for the garbage collector, which can take many minutes to find it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Candidate,
    CandidatesRequest,
    Engine,
    PlanRequest,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from handiwork_planning.scene.query import Query
from handiwork_planning.search.free_motion import Path
from handiwork_planning.search.goal_search import find_any
from handiwork_planning.search.requests import Deadline, Failed
from support.planning.demo_world import hand_down


def kept(kind: type) -> int:
    """Return how many objects of a type exist."""
    return sum(isinstance(each, kind) for each in gc.get_objects())


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """Switch the collector off, so that only counts of references free memory."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_line_that_cannot_be_followed_leaves_no_query(engine: Engine, robot: Robot) -> None:
    line = Candidate((hand_down(robot, 0.5, 0.0, 0.3), hand_down(robot, 1.5, 0.0, 0.3)))
    home = np.array(robot.arm("").home_q)
    before = kept(Query)
    found = engine.check_candidates(CandidatesRequest("", home, (line,), (SceneQuery(),)), lambda: False)
    assert found.verdicts[0].code in (Code.NO_IK, Code.JOINT_LIMIT, Code.PLAN_FAILED)
    assert kept(Query) == before


def test_a_goal_out_of_reach_leaves_no_query(engine: Engine, robot: Robot) -> None:
    home = np.array(robot.arm("").home_q)
    before = kept(Query)
    goal = PoseGoals((hand_down(robot, 2.0, 0.0, 0.3),))
    assert engine.plan(PlanRequest("", home, goal), lambda: False).code is Code.NO_IK
    assert kept(Query) == before


def test_a_search_that_is_repeated_leaves_no_failure() -> None:
    searches = []

    def find(goals: np.ndarray, _salt: int, _limit: Deadline) -> Path:
        searches.append(len(goals))
        if len(searches) == 1:
            raise Failed(Code.PATH_BLOCKED, "refused")
        return Path(goals[:1], 0)

    rounds = ((np.zeros((32, 7)), np.arange(32)) for _ in range(2))
    find_any(rounds, 100, find, Deadline.start(lambda: False, 8.0))
    assert searches == [32, 64]
    assert kept(Failed) == 0
