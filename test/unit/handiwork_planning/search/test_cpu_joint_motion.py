"""Paths between configurations: at once if both ends are clear, with the same meaning if one is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    JointGoals,
    PlanRequest,
    PlanResult,
    SceneQuery,
)
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.search import path_search

TURN = np.array([0.6, -0.3, 0.2, 0.4, 0.1, -0.2, 0.3])


@pytest.fixture(scope="module")
def own(robot: Robot) -> Any:
    made = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    made.update_world(World(0.0))
    yield made
    made.close()


def plan(engine: CpuEngine, start: Array, goals: Array) -> PlanResult:
    request = PlanRequest("fr3_arm", start, JointGoals(goals), SceneQuery(), budget_s=10.0, seed=5)
    return engine.plan(request, lambda: False)


def limits(robot: Robot) -> tuple[Array, Array]:
    joints = [robot.joints[name] for name in robot.arm("").joint_names]
    return np.array([j.lower for j in joints]), np.array([j.upper for j in joints])


def test_arrays_that_cannot_be_written_compile_nothing(own: CpuEngine, robot: Robot) -> None:
    before = len(path_search.begin.signatures)
    home = robot.arm("").home_q
    assert plan(own, frozen(home), JointGoals(frozen((home + TURN)[None])).q).code is Code.OK
    assert plan(own, np.asfortranarray(home), np.asfortranarray([home + TURN, home - TURN])).code is Code.OK
    assert len(path_search.begin.signatures) == before


def test_a_start_a_little_beyond_a_limit_begins_at_the_limit(own: CpuEngine, robot: Robot) -> None:
    start = robot.arm("").home_q.copy()
    start[0] = limits(robot)[1][0] + 0.005
    found = plan(own, start, robot.arm("").home_q[None])
    assert found.code is Code.OK and found.trajectory is not None, found.message
    assert found.trajectory.q[0, 0] == pytest.approx(limits(robot)[1][0])
    start[0] += 0.02
    assert plan(own, start, robot.arm("").home_q[None]).code is Code.JOINT_LIMIT


def test_goals_that_cannot_be_are_passed_over_and_the_index_tells_which_was_taken(
    own: CpuEngine, robot: Robot
) -> None:
    home = robot.arm("").home_q
    outside = home.copy()
    outside[3] = 1.0
    found = plan(own, home, np.array([outside, np.full(7, np.nan), home + TURN]))
    assert found.code is Code.OK and found.goal_index == 2, found.message
    alone = plan(own, home, (home + TURN)[None])
    assert alone.trajectory is not None and found.trajectory is not None
    np.testing.assert_array_equal(alone.trajectory.q, found.trajectory.q)
    assert plan(own, home, outside[None]).code is Code.JOINT_LIMIT
    assert plan(own, home, np.full((1, 7), np.nan)).code is Code.BAD_NUMBER
    assert plan(own, home, np.zeros((1, 6))).code is Code.BAD_NUMBER
    assert plan(own, home, np.empty((0, 7))).code is Code.BAD_GOAL


def test_many_goals_are_looked_at_one_by_one(own: CpuEngine, robot: Robot) -> None:
    home, rng = robot.arm("").home_q, np.random.default_rng(0)
    low, high = limits(robot)
    goals = np.clip(home + rng.normal(scale=0.2, size=(40, 7)), low, high)
    found = plan(own, home, goals)
    assert found.code is Code.OK and found.trajectory is not None, found.message
    np.testing.assert_allclose(found.trajectory.q[-1], goals[found.goal_index], atol=1e-9)
