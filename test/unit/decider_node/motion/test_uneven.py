"""Points of a controller whose cycles have uneven intervals."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.mark.parametrize("cycle_s", [0.01, 0.03, LONGEST_S])
def test_every_point_leaves_room_to_brake_before_a_limit_of_position(cycle_s: float) -> None:
    """The hand is to turn on and on, so its last joint runs against its limit."""
    cycles, q, most = made()
    robot = load_robot(FR3)
    upper = np.array([robot.joints[name].upper for name in robot.arm("").joint_names])
    now_s, nearest = 5.0, np.inf
    for _ in range(round(6.0 / cycle_s)):
        tool = cycles.controller.tool_pose(q)
        ahead = tool @ Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle((0.0, 0.0, 1.0), 0.3))
        point = cycles.point(MotionCommand(ahead), now_s, q, np.zeros(7))
        assert point is not None
        rest = point.q + 0.5 * point.rate * np.abs(point.rate) / most
        assert (rest <= upper + 1e-9).all(), (
            f"the joints would come to rest {rest - upper} beyond their limits"
        )
        nearest = min(nearest, float((upper - point.q).min()))
        now_s += cycle_s
        q = at(point, now_s - cycle_s, now_s)
    assert nearest < 0.01, "no joint came to its limit, so the limit was not tried"
