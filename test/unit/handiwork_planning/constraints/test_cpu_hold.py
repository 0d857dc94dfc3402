"""Pose components that are held: the way back onto them, and whole motions that keep them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Attachment,
    Engine,
    IkRequest,
    JointGoals,
    PlanRequest,
    PoseGoals,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_planning.constraints.pose_constraint import (
    HOLD_M,
    HOLD_RAD,
    hold_of,
    project,
)
from handiwork_planning.kernels.arrays import flat
from handiwork_planning.scene.query import Reader
from handiwork_planning.scene.scene import CollisionScene
from planner_node.engines import CpuEngine
from support.planning.demo_world import box, hand_down, world_of

TILT = (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
TURN = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
HOLDS = [
    TILT,
    TURN,
    (0.0, 0.0, 0.0, 1.0, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0, 0.0, 1.0),
]
CUP = Shape(ShapeKind.CYLINDER, np.array([0.035, 0.1]), Pose.identity())


def never() -> bool:
    return False


def changes(base: Pose, first: Pose, pose: Pose) -> Array:
    """Return the rotation vector [rad] and translation [m] from ``first`` to ``pose``, in axes of the base."""
    w, *xyz = (pose.rotation @ first.rotation.inverse()).wxyz
    sine = float(np.linalg.norm(xyz))
    turn = np.array(xyz) * (2.0 * np.arctan2(sine, w) / sine if sine > 1e-12 else 2.0)
    into = base.rotation.matrix().T
    return np.concatenate([into @ turn, into @ (pose.translation_m - first.translation_m)])


def assert_held(robot: Robot, base: Pose, t: Trajectory, weights: tuple[float, ...], finer: int = 3) -> None:
    """Check every sample and the middle between two: written from the definition, on the slow kinematics."""
    first, allowed = base @ forward(robot, "", t.q[0]), np.array([HOLD_RAD] * 3 + [HOLD_M] * 3)
    for time_s in np.linspace(0.0, t.duration_s, finer * len(t.t_s)):
        change = changes(base, first, base @ forward(robot, "", t.sample(float(time_s))[0]))
        worst = np.abs(change / allowed)[np.array(weights) > 0.0].max()
        assert worst < 1.02, f"{worst:.3f} times what is allowed, at {time_s:.3f} s"


@pytest.mark.parametrize("weights", HOLDS)
def test_projection_brings_held_components_back_and_moves_little(
    robot: Robot, weights: tuple[float, ...]
) -> None:
    arm, rng = robot.arm(""), np.random.default_rng(4)
    base = Pose.of((0.2, -0.1, 0.3), Rotation.from_rpy(0.2, -0.3, 0.9))
    arrays = Reader(robot, base).read(arm, CollisionScene(), SceneQuery()).robot
    reached = 0
    for _ in range(100):
        start = rng.uniform(0.9 * arrays.lower, 0.9 * arrays.upper)
        first = base @ forward(robot, "", start)
        hold = hold_of(flat(first), base.rotation.matrix().T, weights)
        for far in (0.05, 0.6):
            near = np.clip(start + rng.uniform(-far, far, len(start)), arrays.lower, arrays.upper)
            q = near.copy()
            if not project(q, hold, arrays, np.empty((len(q) + 1, 12))):
                continue
            reached += 1
            held = np.abs(changes(base, first, base @ forward(robot, "", q)))[np.array(weights) > 0.0]
            assert held.max() < 0.1 * HOLD_RAD
            assert (q >= arrays.lower).all() and (q <= arrays.upper).all()
            assert np.linalg.norm(q - near) < 6.0 * np.linalg.norm(near - start)
    assert reached > 190


def cup_and_wall(engine: Engine, robot: Robot, wall_m: float) -> tuple[Array, SceneQuery]:
    """Return the start and the scene of a cup in the hand on one side of a wall."""
    engine.update_world(
        world_of(
            ("wall", (box((0.5, 0.03, wall_m)),), Pose.of((0.55, 0.0, 0.5 * wall_m))),
            ("table", (box((1.2, 1.6, 0.04)),), Pose.of((0.35, 0.0, -0.02))),
            ("cup", (CUP,), Pose.of((0.5, 0.3, 0.15))),
        )
    )
    at = hand_down(robot, 0.5, 0.3, 0.15)
    found = engine.solve_ik(
        IkRequest("", (at,), np.array(robot.arm("").home_q), SceneQuery(ignored=frozenset({"cup"}))), never
    )
    assert found.codes == (Code.OK,)
    link_T_cup = at.inverse() @ Pose.of((0.5, 0.3, 0.15))
    return found.q[0], SceneQuery(attached=(Attachment("cup", robot.arm("").ee_link, link_T_cup),))


@pytest.mark.parametrize("weights", [TILT, TURN])
@pytest.mark.parametrize("wall_m", [0.25, 0.4])
def test_a_cup_is_carried_upright_around_a_wall(
    engine: Engine, robot: Robot, wall_m: float, weights: tuple[float, ...]
) -> None:
    start, scene = cup_and_wall(engine, robot, wall_m)
    yaws = (0.0,) if weights == TURN else (0.0, 1.0, 2.0)
    goals = PoseGoals(tuple(hand_down(robot, 0.5, -0.3, 0.15, yaw) for yaw in yaws))
    request = PlanRequest("", start, goals, scene, hold_vec_weight=weights, budget_s=60.0)
    result = engine.plan(request, never)
    assert result.code is Code.OK and result.trajectory is not None, result.message
    verdict = engine.validate("", result.trajectory, scene, start)
    assert verdict.code is Code.OK, verdict.message
    assert_held(robot, Pose.identity(), result.trajectory, weights)
    reached = forward(robot, "", result.trajectory.q[-1])
    assert reached.almost_equal(goals.world_T_ee[result.goal_index], within_m=1e-3, within_rad=1e-3)
    again = engine.plan(request, never)
    assert again.trajectory is not None
    np.testing.assert_array_equal(again.trajectory.q, result.trajectory.q)
    free = engine.plan(replace(request, hold_vec_weight=None), never)
    assert free.trajectory is not None
    with pytest.raises(AssertionError, match="times what is allowed"):
        assert_held(robot, Pose.identity(), free.trajectory, weights)


def test_a_joint_goal_that_keeps_what_is_held_is_reached(engine: Engine, robot: Robot) -> None:
    start, scene = cup_and_wall(engine, robot, 0.3)
    there = engine.solve_ik(IkRequest("", (hand_down(robot, 0.5, -0.3, 0.15, 0.5),), start, scene), never).q[
        0
    ]
    goals = JointGoals(np.array([start + 0.1, there]))
    request = PlanRequest("", start, goals, scene, hold_vec_weight=TILT, budget_s=60.0)
    result = engine.plan(request, never)
    assert result.code is Code.OK and result.trajectory is not None and result.goal_index == 1, result.message
    np.testing.assert_allclose(result.trajectory.q[-1], there, atol=1e-9)
    assert engine.validate("", result.trajectory, scene, start).code is Code.OK
    assert_held(robot, Pose.identity(), result.trajectory, TILT)


def test_components_are_those_of_a_turned_base(robot: Robot) -> None:
    base = Pose.of((0.1, 0.2, 0.3), Rotation.from_rpy(0.0, 0.0, np.pi / 2))
    engine = CpuEngine(robot, base, lambda _share, _text: None)
    start = np.array(robot.arm("").home_q)
    first = base @ forward(robot, "", start)
    # 0.2 m along the base's y, which is -x of the world, leaves the base's x as it was.
    goal = PoseGoals((Pose.of(first.translation_m + np.array([-0.2, 0.0, 0.05]), first.rotation),))
    request = PlanRequest("", start, goal, hold_vec_weight=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0), budget_s=60.0)
    result = engine.plan(request, never)
    assert result.code is Code.OK and result.trajectory is not None, result.message
    assert_held(robot, base, result.trajectory, request.hold_vec_weight or ())
    refused = engine.plan(replace(request, hold_vec_weight=(0.0, 0.0, 0.0, 0.0, 1.0, 0.0)), never)
    assert refused.code is Code.CONTRADICTION and "y of the base by +0.2000 m" in refused.message


def test_goals_that_change_what_is_held_are_refused_by_name_and_number(engine: Engine, robot: Robot) -> None:
    start, scene = cup_and_wall(engine, robot, 0.3)
    at = hand_down(robot, 0.5, 0.3, 0.15)
    tilted = Pose.of(
        at.translation_m + np.array([0.0, 0.1, 0.0]), Rotation.from_rpy(0.1, 0.0, 0.0) @ at.rotation
    )
    lifted = Pose.of(at.translation_m + np.array([0.0, 0.1, 0.003]), at.rotation)
    for goal in (PoseGoals((tilted,)), StraightGoal(tilted)):
        result = engine.plan(PlanRequest("", start, goal, scene, hold_vec_weight=TILT), never)
        assert (
            result.code is Code.CONTRADICTION
            and "the turn about x of the base by +0.1000 rad" in result.message
        )
    request = PlanRequest("", start, PoseGoals((lifted,)), scene, hold_vec_weight=(0, 0, 0, 0, 0, 1))
    result = engine.plan(request, never)
    assert result.code is Code.CONTRADICTION and "z of the base by" in result.message
    moved = engine.plan(replace(request, goal=JointGoals(start[None] + 0.1)), never)
    assert moved.code is Code.CONTRADICTION and "z of the base by" in moved.message
    # A goal within the tolerance is taken, and the one of a set that fits is chosen.
    close = Pose.of(at.translation_m + np.array([0.0, 0.1, 0.0015]), at.rotation)
    result = engine.plan(replace(request, goal=PoseGoals((lifted, close)), budget_s=60.0), never)
    assert result.code is Code.OK and result.goal_index == 1, result.message


@pytest.mark.parametrize("weights", [(1.0, 1.0), (np.nan, 0, 0, 0, 0, 1.0), (-1.0, 0, 0, 0, 0, 1.0)])
def test_weights_that_mean_nothing_are_refused(
    engine: Engine, robot: Robot, weights: tuple[float, ...]
) -> None:
    start = np.array(robot.arm("").home_q)
    request = PlanRequest("", start, JointGoals(start[None]), hold_vec_weight=weights)
    assert engine.plan(request, never).code is Code.BAD_NUMBER


def test_a_held_search_stops_and_names_what_is_in_the_way(engine: Engine, robot: Robot) -> None:
    start, scene = cup_and_wall(engine, robot, 3.0)
    goal = PoseGoals((hand_down(robot, 0.5, -0.3, 0.15),))
    only_y = (1.0, 1.0, 1.0, 1.0, 0.0, 1.0)
    request = PlanRequest("", start, goal, scene, hold_vec_weight=only_y, budget_s=0.5)
    result = engine.plan(request, never)
    assert result.code in (Code.PLAN_BUDGET, Code.PATH_BLOCKED) and "wall" in result.message, result.message
    calls = iter(range(1_000_000))
    stopped = engine.plan(replace(request, budget_s=60.0), lambda: next(calls) > 12)
    assert stopped.code is Code.CANCELED and next(calls) < 30
