"""Synthetic robots and worlds have the properties of their names."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.mbm.engine_adapter import checker
from benchmarks.mbm.measure import make_engine
from benchmarks.mbm.problems import load_problems
from benchmarks.mbm.referee import Referee
from benchmarks.micro.checks import lifted, samples, twenty_boxes
from benchmarks.micro.goal_sets import poses_near
from benchmarks.micro.synthetic import AWAY_M, panda_of_spheres, pandas_in_series, problem_among

from handiwork_core.robot.kinematics import forward


@pytest.mark.parametrize("count", [20, 59, 200])
def test_pandas_have_as_many_spheres_as_asked_for(count):
    robot = panda_of_spheres(count).robot
    assert sum(len(s.radii) for s in robot.spheres) == count


def test_a_panda_on_a_panda_moves_as_two(panda):
    both = pandas_in_series()
    assert len(both.robot.arm("").joint_names) == 14
    assert sum(len(s.radii) for s in both.robot.spheres) > 59
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1.0, 1.0, (2, 7))
    flange = forward(panda.robot, "", a).matrix()
    turn = np.linalg.inv(forward(panda.robot, "", np.zeros(7)).matrix())
    zero = forward(both.robot, "", np.zeros(14)).matrix()
    # With the upper arm at zero, the tool keeps its place in the lower one's hand frame.
    expected = flange @ turn @ zero
    np.testing.assert_allclose(
        forward(both.robot, "", np.append(a, np.zeros(7))).matrix(), expected, atol=1e-9
    )
    assert not np.allclose(forward(both.robot, "", np.append(a, b)).matrix(), expected)


def test_scattered_bodies_leave_start_and_goal_free(sphere_robot):
    problem = problem_among(sphere_robot, 40, seed=1)
    assert len(problem.world.objects) == 40
    ends = np.array([problem.start, problem.goals[0]])
    to_world, to_self = Referee(sphere_robot.robot, sphere_robot.world_T_root).clearance(ends, problem.world)
    assert to_world > AWAY_M
    assert to_self > 0.0


def test_goal_poses_are_reachable_and_begin_with_the_problems_own(panda):
    (problem,) = load_problems("panda", ["table_pick"], per_scene=1)
    poses = poses_near(panda, problem, 5)
    assert len(poses) == 5
    assert poses[0].almost_equal(problem.world_T_ee, within_m=1e-9, within_rad=1e-6)


def test_collision_checks_are_asked_of_twenty_boxes(panda):
    world = twenty_boxes()
    assert len(world.objects) == 20
    away = lifted(world, 50.0)
    assert min(s.world_T_object.translation_m[2] for s in away.states.values()) > 48.0
    along = samples(panda.robot, 160)["along motions"]
    assert along.shape == (160, 7)
    np.testing.assert_allclose(np.linalg.norm(along[15] - along[0]), 0.5)


def test_blocks_of_configurations_are_counted_as_the_referee_counts(panda):
    """A block is free when all of its sixteen are; those within a millimetre of touching are left out."""
    world = twenty_boxes()
    engine, referee = make_engine(panda), Referee(panda.robot, panda.world_T_root)
    engine.update_world(world)
    check, kinds = checker(engine), samples(panda.robot, 1600)
    for q in kinds.values():
        nearest = referee.clearances(q, world).min(axis=1).reshape(-1, 16).min(axis=1)
        clear = np.abs(nearest - 0.0005) > 0.0005
        chosen = np.ascontiguousarray(q.reshape(-1, 16, 7)[clear].reshape(-1, 7))
        assert check(chosen) == int((nearest[clear] > 0.0).sum())
