"""Batches: each problem is answered for itself, in order, and as it would be alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Engine,
    JointGoals,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
    ShouldStop,
)
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from planner_node.pipeline.batches import BatchPlanner
from planner_node.pipeline.pipeline import PlanningPipeline, WorldReaders
from planner_node.pipeline.planning_scene import PlanningScene
from support.planning.demo_world import demo_items, hand_down, world_of

VERSION = 7


def never() -> bool:
    return False


class Together(CpuEngine):
    """An engine that plans a batch at once."""

    name = "together"

    def __init__(self) -> None:
        self.worlds: list[World] = []
        self.batches: list[int] = []

    def update_world(self, world: World) -> None:
        self.worlds.append(world)

    def plan_batch(self, requests: Sequence[PlanRequest], should_stop: ShouldStop) -> list[PlanResult]:
        assert not should_stop()
        self.batches.append(len(requests))
        return [PlanResult(Code.NO_IK, f"seed {request.seed}") for request in requests]


def pipeline_of(robot: Robot, engine: Engine) -> PlanningPipeline:
    arm = robot.arm("")
    joints = JointState(0.0, dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True)))
    world = dataclasses.replace(world_of(*demo_items(), version=VERSION), joints=joints)
    readers = WorldReaders(lambda: world, lambda: True, lambda: 0.0)
    return PlanningPipeline(robot, engine, PlanningScene(), readers, Pose.identity())


def made(robot: Robot, engine: Engine, workers: int = 1) -> Iterator[BatchPlanner]:
    planner = BatchPlanner(pipeline_of(robot, engine), Pose.identity(), workers)
    yield planner
    assert planner.close(60.0)


@pytest.fixture
def batches(robot: Robot, engine: Engine) -> Iterator[BatchPlanner]:
    yield from made(robot, engine)


def requests(robot: Robot) -> list[PlanRequest]:
    """Joints, a pose, a pose out of reach, and an object that does not exist; the measured joints are the start."""
    home, nowhere = np.array(robot.arm("").home_q), np.zeros(0)
    goals: list[tuple[JointGoals | PoseGoals, SceneQuery]] = [
        (JointGoals(home[None] + 0.2), SceneQuery()),
        (PoseGoals((hand_down(robot, 0.45, 0.0, 0.4),)), SceneQuery()),
        (PoseGoals((hand_down(robot, 2.0, 0.0, 0.4),)), SceneQuery()),
        (JointGoals(home[None] + 0.2), SceneQuery(ignored=frozenset({"cub"}))),
    ]
    arm = robot.arm("").name
    return [
        PlanRequest(arm, nowhere, goal, scene, budget_s=60.0, seed=i) for i, (goal, scene) in enumerate(goals)
    ]


def test_each_problem_is_answered_in_order_and_as_it_would_be_alone(
    batches: BatchPlanner, robot: Robot
) -> None:
    asked = requests(robot)
    refused = Outcome(Code.BAD_NUMBER, "goals is nan", field_name="goals")
    done = batches.plan([refused, *asked], 0, math.inf, never)
    assert batches.is_beside_engine
    assert [r.code for r in done.results] == [
        Code.BAD_NUMBER,
        Code.OK,
        Code.OK,
        Code.NO_IK,
        Code.UNKNOWN_OBJECT,
    ]
    assert done.results[0].message == "goals is nan" and "'cube'" in done.results[4].message
    assert {r.world_version for r in done.results} == {done.world_version} == {VERSION}
    assert [r.seed for r in done.results[1:]] == [0, 1, 2, 3]
    for request, result in zip(asked[:3], done.results[1:4], strict=True):
        alone = batches._pipeline.plan(request, 0, math.inf, never)
        assert (alone.code, alone.message, alone.goal_index) == (
            result.code,
            result.message,
            result.goal_index,
        )
        if alone.trajectory is not None and result.trajectory is not None:
            np.testing.assert_allclose(alone.trajectory.q, result.trajectory.q, rtol=0.0, atol=1e-9)
            assert alone.trajectory.q[0].tolist() == robot.arm("").home_q.tolist()


def test_a_batch_ends_with_its_time_or_when_it_is_stopped(batches: BatchPlanner, robot: Robot) -> None:
    late = batches.plan(requests(robot), 0, 0.0, never).results
    assert [r.code for r in late] == [Code.PLAN_BUDGET] * 3 + [Code.UNKNOWN_OBJECT]
    assert "allowed_planning_time of the batch" in late[0].message
    stopped = batches.plan(requests(robot)[:2], 0, math.inf, lambda: True).results
    assert [r.code for r in stopped] == [Code.CANCELED] * 2


def test_a_world_that_is_too_old_refuses_the_whole_batch(batches: BatchPlanner, robot: Robot) -> None:
    with pytest.raises(HandiworkError) as caught:
        batches.plan(requests(robot), VERSION + 1, math.inf, never)
    assert caught.value.outcome.code is Code.STALE_WORLD


def test_an_engine_that_plans_many_at_once_gets_the_whole_batch(robot: Robot) -> None:
    engine = Together()
    for batches in made(robot, engine):
        assert not batches.is_beside_engine, "it is called on the thread of the engine"
        done = batches.plan(requests(robot), 0, math.inf, never)
        assert engine.batches == [3], "the one with an unknown object is refused before"
        assert [world.version for world in engine.worlds] == [VERSION]
        assert [r.message for r in done.results[:3]] == ["seed 0", "seed 1", "seed 2"]
        nothing = batches.plan([Outcome(Code.BAD_GOAL, "goals is empty")], 0, math.inf, never)
        assert [r.code for r in nothing.results] == [Code.BAD_GOAL] and engine.batches == [3]


@pytest.mark.processes
def test_a_batch_whose_process_has_ended_is_lost_and_the_next_one_is_planned(
    robot: Robot, engine: Engine
) -> None:
    for batches in made(robot, engine, workers=2):
        asked = requests(robot)[:3]
        codes = [Code.OK, Code.OK, Code.NO_IK]
        assert [r.code for r in batches.plan(asked, 0, math.inf, never).results] == codes
        assert batches._pool is not None
        batches._pool._crew[0]._process.kill()
        with pytest.raises(HandiworkError) as caught:
            batches.plan(asked, 0, math.inf, never)
        assert caught.value.outcome.code is Code.PLANNER_LOST
        assert "send it again" in caught.value.outcome.message
        assert [r.code for r in batches.plan(asked, 0, math.inf, never).results] == codes
