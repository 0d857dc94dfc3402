"""Many problems at once: the same results as one after the other, in order, and stopped on request."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    JointGoals,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.process_pool import PlanPool, plan_many
from planner_node.engines import CpuEngine
from support.planning.demo_world import demo_items, hand_down, world_of
from support.planning.solids import bowl

pytestmark = pytest.mark.processes


def problems(robot: Robot, count: int) -> tuple[list[World], list[PlanRequest]]:
    """Free plans, blocked goals and goals out of reach, in worlds that differ."""
    rng, home = np.random.default_rng(3), np.array(robot.arm("").home_q)
    worlds, requests = [], []
    for i in range(count):
        x = 0.45 + 0.01 * (i // 3)
        worlds.append(world_of(*demo_items(), ("bowl", (bowl(),), Pose.of((x, 0.3, 0.0))), version=i + 1))
        kind = i % 4
        goal: PoseGoals | JointGoals
        if kind == 0:
            goal = JointGoals(home[None] + rng.uniform(-0.6, 0.6, (2, 7)))
        elif kind == 3:
            goal = PoseGoals((hand_down(robot, 2.0, 0.0, 0.4),))
        else:
            goal = PoseGoals(
                (hand_down(robot, x, (0.0, 0.2)[kind - 1], 0.05 + 0.1 * kind, rng.uniform(-3, 3)),)
            )
        requests.append(PlanRequest("", home, goal, SceneQuery(), budget_s=60.0, seed=i))
    return worlds, requests


def assert_same(one: PlanResult, two: PlanResult, within: float = 0.0) -> None:
    assert (one.code, one.message, one.goal_index, one.seed) == (
        two.code,
        two.message,
        two.goal_index,
        two.seed,
    )
    assert (one.blocking, one.world_version) == (two.blocking, two.world_version)
    assert (one.trajectory is None) == (two.trajectory is None)
    if one.trajectory is not None and two.trajectory is not None:
        np.testing.assert_allclose(one.trajectory.q, two.trajectory.q, rtol=0.0, atol=within)
        np.testing.assert_allclose(one.trajectory.t_s, two.trajectory.t_s, rtol=0.0, atol=within)


def test_results_are_those_of_one_engine_for_any_number_of_workers(robot: Robot) -> None:
    worlds, requests = problems(robot, 13)
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    alone = []
    for world, request in zip(worlds, requests, strict=True):
        engine.update_world(world)
        alone.append(engine.plan(request, lambda: False))
    assert {r.code for r in alone} >= {Code.OK, Code.NO_IK}
    together = {n: plan_many(robot, Pose.identity(), worlds, requests, n) for n in (1, 2, 3)}
    # If this process has just compiled the kernels that workers load from the cache, sums are rounded differently.
    for results in together.values():
        for one, two in zip(alone, results, strict=True):
            assert_same(one, two, 1e-9)
    for one, two in zip(together[2], together[3], strict=True):
        assert_same(one, two)


def test_a_pool_takes_one_world_for_all_and_stops_when_asked(robot: Robot) -> None:
    worlds, requests = problems(robot, 8)
    with PlanPool(robot, Pose.identity(), 2) as pool:
        results = pool.plan(worlds[0], requests)
        assert {r.world_version for r in results} == {1}
        stopped = pool.plan(worlds[0], requests * 50, lambda: True)
        assert len(stopped) == 400 and stopped[-1].code is Code.CANCELED
        for one, two in zip(results, pool.plan(worlds[0], requests), strict=True):
            assert_same(one, two)
        assert pool.plan(worlds[0], []) == []
        with pytest.raises(ValueError, match="8 worlds for 1 requests"):
            pool.plan(worlds, requests[:1])
    alone = plan_many(robot, Pose.identity(), worlds[0], requests, 1, lambda: True)
    assert {r.code for r in alone} == {Code.CANCELED}


def test_a_pool_passes_errors_on_and_says_that_a_worker_has_ended(robot: Robot) -> None:
    worlds, requests = problems(robot, 8)
    with PlanPool(robot, Pose.identity(), 2) as pool:
        broken = dataclasses.replace(requests[3], goal=None)  # type: ignore[arg-type]
        with pytest.raises(AssertionError):
            pool.plan(worlds, [*requests[:3], broken, *requests[4:]])
        after = pool.plan(worlds[0], requests[:2])
        assert {r.world_version for r in after} == {1}
        pool._crew[0]._process.kill()
        with pytest.raises(RuntimeError, match="ended with exit code -9; make a new pool"):
            pool.plan(worlds, requests)
