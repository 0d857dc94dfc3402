"""Whether a target is where a motion was chosen for: tolerances, reports in a row, round objects, even motion."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from skill_server.following.expected_targets import (
    CONFIRMED,
    ExpectedTargets,
    TargetWatch,
    visible_turn,
)

UP = (0.0, 0.0, 1.0)
BOX = Shape(ShapeKind.BOX, np.full(3, 0.04), Pose.identity())
CAN = Shape(ShapeKind.CYLINDER, np.array([0.03, 0.1]), Pose.identity())
BALL = Shape(ShapeKind.SPHERE, np.array([0.03]), Pose.identity())


def world(x: float, turn_rad: float = 0.0, stamp_s: float = 0.0, shape: Shape = BOX) -> World:
    pose = Pose.of((x, 0.0, 0.0), Rotation.from_axis_angle(UP, turn_rad))
    state = ObjectState(pose, np.zeros(3), np.zeros(3), stamp_s)
    return World(stamp_s, 1, {"cube": WorldObject("cube", (shape,))}, {"cube": state})


def watch(**velocities: tuple[float, float, float]) -> TargetWatch:
    moving = {name: np.array(v) for name, v in velocities.items()}
    return TargetWatch(ExpectedTargets(world(0.0), moving), ("cube",), 0.01)


def test_one_outlier_of_a_camera_is_no_motion() -> None:
    one = watch()
    assert not one.has_moved(world(0.05, stamp_s=0.1))
    assert not one.has_moved(world(0.05, stamp_s=0.1)), "the same report twice is one report"
    assert not one.has_moved(world(0.0, stamp_s=0.2))
    assert not one.has_moved(world(0.05, stamp_s=0.3))
    assert one.has_moved(world(0.05, stamp_s=0.4))
    assert one.fault is not None and one.fault.gap_m == pytest.approx(0.05)
    assert one.has_moved(world(0.0, stamp_s=0.5)), "it stays so"
    assert CONFIRMED == 2


def test_noise_within_the_tolerance_is_no_motion() -> None:
    one, rng = watch(), np.random.default_rng(0)
    for i in range(200):
        assert not one.has_moved(world(float(rng.uniform(-0.009, 0.009)), 0.1, 0.02 * i))


def test_an_object_that_leaves_the_world_has_moved() -> None:
    one = watch()
    gone = [replace(world(0.0, stamp_s=0.1 * i), states={}) for i in (1, 2)]
    assert not one.has_moved(gone[0])
    assert one.has_moved(gone[1])
    change = ExpectedTargets(world(0.0)).change(("cube",), gone[0], 0.01)
    assert change is not None and change.is_gone


def test_a_target_that_moves_evenly_is_expected_ahead_and_one_that_stops_has_moved() -> None:
    one = watch(cube=(0.1, 0.0, 0.0))
    for i in range(1, 20):
        assert not one.has_moved(world(0.02 * i, stamp_s=0.2 * i))
    assert not one.has_moved(world(0.38, stamp_s=4.2))
    assert one.has_moved(world(0.38, stamp_s=4.3))


@pytest.mark.parametrize(("shape", "seen"), [(BOX, 1.0), (CAN, 0.0), (BALL, 0.0)])
def test_turns_that_a_shape_does_not_show_do_not_count(shape: Shape, seen: float) -> None:
    then, now = world(0.0, 0.0, shape=shape), world(0.0, 1.0, shape=shape)
    found = visible_turn(
        now.objects["cube"], then.states["cube"].world_T_object, now.states["cube"].world_T_object
    )
    assert found == pytest.approx(seen, abs=1e-6)
    change = ExpectedTargets(then).change(("cube",), now, 0.01, 0.2)
    assert (change is not None) == (seen > 0.2)
    assert ExpectedTargets(then).change(("cube",), now, 0.01, math.inf) is None


@pytest.mark.parametrize(
    ("gap_m", "deviation_m", "moved"), [(0.02, 0.005, False), (0.04, 0.005, True), (0.04, 0.1, True)]
)
def test_the_noise_of_a_measured_pose_is_no_motion(gap_m: float, deviation_m: float, moved: bool) -> None:
    def noisy(x: float) -> World:
        seen = world(x)
        covariance = np.diag([deviation_m**2] * 3 + [0.02**2] * 3)
        return replace(seen, states={"cube": replace(seen.states["cube"], pose_covariance=covariance)})

    found = ExpectedTargets(noisy(0.0)).change(("cube",), noisy(gap_m), 0.01)
    assert (found is not None) == moved
    assert ExpectedTargets(world(0.0)).change(("cube",), world(gap_m), 0.01) is not None
