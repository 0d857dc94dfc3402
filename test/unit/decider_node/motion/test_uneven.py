"""Points of a controller whose cycles have uneven intervals."""

from __future__ import annotations

import numpy as np

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController
from decider_node.motion.irregular_ticks import LONGEST_S, TrajectorySample, UnevenCycles
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
GOAL = MotionCommand(Pose.of((0.45, -0.3, 0.3), Rotation.from_rpy(np.pi, 0.0, 0.0)))


def made() -> tuple[UnevenCycles, Array, Array]:
    robot = load_robot(FR3)
    arm = robot.arm("")
    most = np.array([robot.joints[name].acceleration for name in arm.joint_names])
    return UnevenCycles(ReactiveController(robot, arm, Pose.identity())), arm.home_q, most


def at(point: TrajectorySample, stamp_s: float, now_s: float) -> Array:
    """Return the positions of an arm that follows the line of a point."""
    return point.q + point.rate * (now_s - stamp_s - point.ahead_s)


def test_the_line_of_each_point_begins_where_that_of_the_last_one_is_by_then() -> None:
    cycles, q, most = made()
    rng, now_s = np.random.default_rng(0), 5.0
    last, last_s = None, now_s
    for _ in range(150):
        now_s += float(rng.uniform(0.004, 0.07))
        if last is not None:
            q = at(last, last_s, now_s)
        point = cycles.point(GOAL, now_s, q, np.zeros(7))
        assert point is not None
        if last is not None:
            assert np.allclose(at(point, now_s, now_s), q, atol=1e-9)
            assert (np.abs(point.rate - last.rate) <= 0.5 * most * LONGEST_S + 1e-9).all()
        last, last_s = point, now_s
    reached = cycles.controller.tool_pose(q).translation_m
    assert np.linalg.norm(reached - GOAL.world_T_target.translation_m) < 1e-3


def test_after_a_silence_it_begins_from_what_is_measured() -> None:
    cycles, q, _ = made()
    first = cycles.point(GOAL, 1.0, q, np.zeros(7))
    assert first is not None
    assert cycles.point(GOAL, 1.0, q, np.zeros(7)) is None
    moved = q + 0.3
    later = cycles.point(None, 1.4, moved, np.zeros(7))
    assert later is not None
    assert np.allclose(later.q, moved)
    assert not later.rate.any()
