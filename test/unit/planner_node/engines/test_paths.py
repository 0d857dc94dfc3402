"""Motions along a curve that is given by many poses: on the curve, without a stop, within limits, and free."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handiwork_core.contracts.planning import IkRequest, PathGoal, PlanRequest, SceneQuery, never_stop
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from planner_node.engines import CpuEngine
from support.planning.demo_world import box, demo_items, hand_down, world_of

DEVIATION_M = 0.001


@pytest.fixture
def engine(bare_engine: CpuEngine) -> CpuEngine:
    bare_engine.update_world(world_of(*demo_items()))
    return bare_engine


def start_at(engine: CpuEngine, robot: Robot, pose: Pose) -> Array:
    """Return a configuration of a pose, (n,), rad."""
    found = engine.solve_ik(IkRequest("", (pose,), np.array(robot.arm("").home_q)), never_stop)
    assert found.codes == (Code.OK,)
    return np.asarray(found.q[0])


def waves(middle: Pose, wide: float, high: float, turn: float) -> tuple[Pose, ...]:
    """Return a smooth curve of 61 poses from a pose, which is not among them."""
    shares = np.linspace(0.0, 1.0, 61)[1:]
    return tuple(
        Pose.of(
            middle.translation_m + [0.0, wide * s, high * np.sin(2.0 * np.pi * s) ** 2],
            middle.rotation @ Rotation.from_axis_angle((0.0, 0.0, 1.0), turn * s),
        )
        for s in shares
    )


def planned(engine: CpuEngine, q: Array, path: tuple[Pose, ...], scaling: float = 1.0) -> Trajectory:
    request = PlanRequest(
        "", q, PathGoal(path, DEVIATION_M), velocity_scaling=scaling, acceleration_scaling=scaling
    )
    result = engine.plan(request, never_stop)
    assert result.code is Code.OK, result.message
    assert result.trajectory is not None
    return result.trajectory


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(-0.2, 0.2), st.floats(-0.08, 0.08), st.floats(-1.0, 1.0), st.sampled_from([0.3, 1.0]))
def test_the_tool_follows_the_curve_without_a_stop_within_limits(
    engine: CpuEngine, robot: Robot, wide: float, high: float, turn: float, scaling: float
) -> None:
    if abs(wide) < 0.05:
        wide = 0.1  # a narrow curve turns back on itself, and the tool stops there
    middle = hand_down(robot, 0.45, 0.0, 0.35)
    q, path = start_at(engine, robot, middle), waves(middle, wide, high, turn)
    t = planned(engine, q, path, scaling)
    points = np.array([forward(robot, "", row).translation_m for row in t.q])
    line = np.array([forward(robot, "", q).translation_m, *(pose.translation_m for pose in path)])
    near = min_distance(points, line)
    assert near.max() <= DEVIATION_M + 1e-4
    assert forward(robot, "", t.q[-1]).almost_equal(path[-1], within_m=1e-3, within_rad=1e-2)
    inside = (t.t_s > 0.2) & (t.t_s < t.duration_s - 0.2)
    assert np.abs(t.qd[inside]).max(axis=1).min(initial=1.0) > 1e-3
    joints = [robot.joints[name] for name in robot.arm("").joint_names]
    assert (np.abs(t.qd) <= scaling * np.array([j.velocity for j in joints]) * 1.001).all()
    assert (np.abs(t.qdd) <= scaling * np.array([j.acceleration for j in joints]) * 1.001).all()
    # Velocity is continuous: it changes by no more than acceleration allows in the time between samples.
    change = np.abs(np.diff(t.qd, axis=0)) / np.diff(t.t_s)[:, None]
    assert (change <= scaling * np.array([j.acceleration for j in joints]) * 1.01).all()
    assert engine.validate("", t, SceneQuery(), q).code is Code.OK


def min_distance(points: Array, line: Array) -> Array:
    """Return the distance of each point (k, 3) from a line of straight parts (m, 3), (k,), m."""
    gaps = []
    for point in points:
        parts = []
        for a, b in pairwise(line):
            d = b - a
            share = np.clip((point - a) @ d / max(d @ d, 1e-12), 0.0, 1.0)
            parts.append(np.linalg.norm(point - a - share * d))
        gaps.append(min(parts))
    return np.array(gaps)


def test_an_obstacle_on_the_curve_is_named_with_the_place(engine: CpuEngine, robot: Robot) -> None:
    middle = hand_down(robot, 0.45, 0.0, 0.35)
    q, path = start_at(engine, robot, middle), waves(middle, 0.35, 0.0, 0.0)
    engine.update_world(
        world_of(*demo_items(), ("wall", (box((0.3, 0.02, 0.3)),), Pose.of((0.45, 0.25, 0.3))))
    )
    result = engine.plan(PlanRequest("", q, PathGoal(path)), never_stop)
    assert result.code is Code.PATH_BLOCKED
    assert result.blocking is not None
    assert "wall" in result.blocking
    assert "of 60 of the path" in result.message


def test_a_curve_that_leaves_the_reach_is_refused(engine: CpuEngine, robot: Robot) -> None:
    middle = hand_down(robot, 0.45, 0.0, 0.35)
    q, path = start_at(engine, robot, middle), waves(middle, 1.0, 0.0, 0.0)
    result = engine.plan(PlanRequest("", q, PathGoal(path)), never_stop)
    assert result.code in (Code.NO_IK, Code.JOINT_LIMIT)
    assert "of 60 of the path" in result.message


def test_held_components_do_not_go_with_a_path(engine: CpuEngine, robot: Robot) -> None:
    middle = hand_down(robot, 0.45, 0.0, 0.35)
    q, path = start_at(engine, robot, middle), waves(middle, 0.1, 0.0, 0.0)
    request = PlanRequest("", q, PathGoal(path), hold_vec_weight=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    result = engine.plan(request, never_stop)
    assert result.code is Code.UNSUPPORTED
    assert "hold_vec_weight does not apply to a path" in result.message
