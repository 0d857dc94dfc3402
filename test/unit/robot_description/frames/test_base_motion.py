"""The joints of a base from its frames: headings go on, corrections are no motion, and a gap begins another motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from robot_description.frames.base_motion import FOLD_RAD, BaseMotion


def planar(x: float, y: float, yaw: float) -> Pose:
    return Pose.of((x, y, 0.0), Rotation.from_rpy(0.0, 0.0, yaw))


def test_position_is_in_the_origin_and_velocity_along_its_axes() -> None:
    motion, odom = BaseMotion(), planar(1.0, 2.0, math.pi / 2)
    assert motion.sample(10.0, odom, planar(0.0, 0.0, 0.0)) is None
    sample = motion.sample(10.05, odom, planar(0.02, 0.0, 0.01))
    assert sample is not None
    assert sample.stamp_s == 10.05
    assert sample.q == pytest.approx([1.0, 2.02, math.pi / 2 + 0.01])
    assert sample.velocity == pytest.approx([0.0, 0.4, 0.2], abs=1e-9)


def test_a_transform_that_came_before_gives_nothing() -> None:
    motion = BaseMotion()
    motion.sample(1.0, Pose.identity(), planar(0.0, 0.0, 0.0))
    assert motion.sample(1.05, Pose.identity(), planar(0.0, 0.0, 0.0)) is not None
    assert motion.sample(1.05, Pose.identity(), planar(0.0, 0.0, 0.0)) is None


def test_a_correction_of_the_localization_is_no_motion() -> None:
    motion = BaseMotion()
    for i in range(5):
        motion.sample(i * 0.05, Pose.identity(), planar(0.0, 0.0, 0.0))
    sample = motion.sample(0.3, planar(0.2, 0.1, 0.05), planar(0.0, 0.0, 0.0))
    assert sample is not None
    assert sample.q == pytest.approx([0.2, 0.1, 0.05])
    assert sample.velocity == pytest.approx(np.zeros(3))


@pytest.mark.parametrize("turn", [0.1, -0.1])
def test_the_heading_goes_on_and_full_turns_come_off_before_the_joint_ends(turn: float) -> None:
    motion, before = BaseMotion(), 0.0
    for i in range(200):
        sample = motion.sample(i * 0.05, Pose.identity(), planar(0.0, 0.0, i * turn))
        if sample is None:
            continue
        yaw = float(sample.q[2])
        assert abs(yaw) <= FOLD_RAD
        assert sample.velocity[2] == pytest.approx(turn / 0.05)
        step = yaw - before
        assert step == pytest.approx(turn, abs=1e-6) or abs(abs(step) - 4.0 * math.pi) < 0.2
        before = yaw
        assert math.remainder(yaw - i * turn, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("stamp_s", [0.5, 9.0])
def test_after_a_gap_or_a_step_back_of_time_the_velocity_starts_again(stamp_s: float) -> None:
    motion = BaseMotion()
    motion.sample(1.0, Pose.identity(), planar(0.0, 0.0, 0.0))
    motion.sample(1.05, Pose.identity(), planar(0.1, 0.0, 0.0))
    assert motion.sample(stamp_s, Pose.identity(), planar(3.0, 0.0, 0.0)) is None
    sample = motion.sample(stamp_s + 0.05, Pose.identity(), planar(3.0, 0.0, 0.0))
    assert sample is not None
    assert sample.velocity == pytest.approx(np.zeros(3))


def test_slow_odometry_is_measured_from_one_message_to_the_next() -> None:
    motion = BaseMotion()
    for i in range(4):
        sample = motion.sample(i * 0.5, Pose.identity(), planar(0.1 * i * i, 0.0, 0.0))
    assert sample is not None
    assert sample.velocity[0] == pytest.approx((0.9 - 0.4) / 0.5)
