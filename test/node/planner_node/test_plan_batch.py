"""The service for many problems at once, from a program's client to the engine and back."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from handiwork_core.contracts.planning import (
    JointGoals,
    PathGoal,
    PlanRequest,
    PoseGoals,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.intake.limits import BATCH_PROBLEMS
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_ros import conversions as to
from handiwork_ros.clients.batch_plan_client import BatchAnswer, BatchPlanClient
from planner_node.pipeline.batches import BatchPlanner, BatchResult
from planner_node.ros.batch_service import problem_from_msg
from support.nodes.planner_bench import ARM, ROBOT, Bench, joint_request, never, running


def test_a_batch_comes_back_in_order_each_problem_with_its_own_outcome(bench: Bench) -> None:
    goals = [JointGoals(ARM.home_q[None] + 0.05 * i) for i in range(4)]
    asked = [PlanRequest(ARM.name, ARM.home_q, goal, seed=i) for i, goal in enumerate(goals)]
    asked[1] = replace(asked[1], scene=SceneQuery(ignored=frozenset({"cub"})))
    asked[2] = replace(asked[2], start_q=np.zeros(0), velocity_scaling=7.0)
    asked[3] = replace(asked[3], start_q=np.zeros(0))
    with BatchPlanClient(ROBOT) as client:
        answer = client.plan(asked)
        assert answer.ok and answer.world_version == 4, answer.outcome.message
        codes = [Code.OK, Code.UNKNOWN_OBJECT, Code.BAD_NUMBER, Code.OK]
        assert [r.code for r in answer.results] == codes
        assert [answer.results[i].seed for i in (0, 3)] == [0, 3]
        for i in (0, 3):
            found = answer.results[i].trajectory
            assert found is not None
            np.testing.assert_allclose(found.q, [ARM.home_q, ARM.home_q + 0.05 * i])
        assert client.plan([]).outcome.message == "problems is empty; send at least one"
        endless = client.plan(asked, allowed_planning_time_s=301.0).outcome
        assert endless.code is Code.BAD_NUMBER and "at most 300" in endless.message
        many = client.plan([asked[0]] * (BATCH_PROBLEMS + 1)).outcome
        assert "1001" in many.message and not many.ok, many.message


def test_problems_of_a_batch_are_read_as_those_of_the_other_services(bench: Bench) -> None:
    reader = bench.planner._planning_services.reader
    poses = (Pose.of((0.4, 0.0, 0.4)), Pose.of((0.5, 0.1, 0.4)))

    def read(goal: Any, **changes: Any) -> Any:
        problem = to.plan_problem_to_msg(ROBOT, PlanRequest(ARM.name, ARM.home_q, goal, budget_s=2.0, seed=5))
        for name, value in changes.items():
            setattr(problem, name, value)
        return problem_from_msg(problem, reader, ROBOT)

    goal = read(PoseGoals(poses)).goal
    assert isinstance(goal, PoseGoals) and len(goal.world_T_ee) == 2
    along = read(PathGoal(poses, 0.004)).goal
    assert isinstance(along, PathGoal) and along.max_deviation_m == 0.004
    straight = read(StraightGoal(poses[1], 0.003))
    assert (straight.budget_s, straight.seed) == (2.0, 5)
    assert straight.goal.max_deviation_m == 0.003
    assert straight.goal.world_T_ee.almost_equal(poses[1], within_m=1e-9, within_rad=1e-9)
    assert "kind is 9" in read(PoseGoals(poses), kind=9).message
    assert "kind is 0" in read(PoseGoals(poses), kind=0).message
    two = to.plan_problem_to_msg(ROBOT, PlanRequest(ARM.name, ARM.home_q, PoseGoals(poses))).poses
    assert "poses has 2 for a straight line" in read(StraightGoal(poses[0]), poses=two).message
    assert read(StraightGoal(poses[0]), max_deviation=0.0).field_name == "max_deviation"
    assert read(JointGoals(ARM.home_q[None]), goals=[0.0]).code is Code.BAD_GOAL


def test_the_arm_is_planned_for_while_the_cpu_engine_plans_a_batch(nothing_left_over: None) -> None:
    """A batch has a thread and an engine of its own: one that is under way delays no skill."""
    reached, go_on = threading.Event(), threading.Event()

    class HeldBatches(BatchPlanner):
        def plan(self, *args: Any) -> BatchResult:
            reached.set()
            assert go_on.wait(60.0)
            return super().plan(*args)

    with running(CpuEngine) as bench, BatchPlanClient(ROBOT) as client:
        services = bench.planner._planning_services
        assert bench.planner._pipeline is not None
        held = HeldBatches(bench.planner._pipeline, Pose.identity(), 1)
        services.batches = held
        answers: list[BatchAnswer] = []
        thread = threading.Thread(target=lambda: answers.append(client.plan([joint_request()] * 2)))
        thread.start()
        assert reached.wait(60.0)
        assert bench.client.plan(joint_request(), should_stop=never).code is Code.OK
        assert not answers
        go_on.set()
        thread.join(60.0)
        assert [r.code for r in answers[0].results] == [Code.OK] * 2, answers[0].outcome.message
        assert held.close(60.0)
