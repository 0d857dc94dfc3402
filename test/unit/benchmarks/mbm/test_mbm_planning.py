"""The product's engine solves published problems of every scene type, and the referee finds nothing."""

from __future__ import annotations

import pytest
from benchmarks.mbm.measure import Options, attempt, make_engine
from benchmarks.mbm.own_scene import own_problems
from benchmarks.mbm.problems import SCENES, load_problems
from benchmarks.mbm.referee import Referee

FULL = Options(budget_s=30.0, with_path=False)


@pytest.fixture(scope="module")
def engine(sphere_robot):
    return make_engine(sphere_robot)


@pytest.mark.parametrize("scene", SCENES)
def test_one_problem_of_each_scene_type_is_solved_cleanly(engine, sphere_robot, scene):
    referee = Referee(sphere_robot.robot, sphere_robot.world_T_root)
    (problem,) = load_problems(sphere_robot.robot.name, [scene], per_scene=1)
    row = attempt(engine, referee, problem, FULL, seed=3)
    assert row.motion is not None, row.why
    assert row.motion.clean, row.motion
    assert row.motion.in_rates, row.motion


def test_a_pose_goal_is_reached(engine, sphere_robot):
    referee = Referee(sphere_robot.robot, sphere_robot.world_T_root)
    (problem,) = load_problems(sphere_robot.robot.name, ["table_pick"], per_scene=1)
    row = attempt(engine, referee, problem, Options(budget_s=30.0, with_path=False, to_pose=True), seed=0)
    assert row.motion is not None, row.why
    assert row.motion.clean, row.motion


def test_problems_in_a_scene_of_ones_own_are_solved_cleanly(request):
    scene = request.config.rootpath / "config/scenes/tabletop.yaml"
    robot, problems = own_problems(scene, request.config.rootpath / "src/robot_description/robots/fr3", 2)
    engine, referee = make_engine(robot), Referee(robot.robot, robot.world_T_root)
    for problem in problems:
        row = attempt(engine, referee, problem, Options(budget_s=30.0, to_pose=True), seed=0)
        assert row.path is not None, row.why
        assert row.path.clean
        assert row.motion is not None, row.why
        assert row.motion.clean
