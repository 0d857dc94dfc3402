"""Joints come from one publisher or from several with different joints; two of the same joint are found."""

from __future__ import annotations

import math

import pytest

from handiwork_core.intake.writer_sequences import HOLD_S
from handiwork_core.model.measured_joints import MOST_GROUPS, MeasuredJoints

ARM, HAND = ["j1", "j2"], ["f1"]


def measure(joints: MeasuredJoints, names: list[str], number: int, heard_s: float, at: float = 0.0) -> None:
    joints.note(names, number, heard_s)
    joints.take(names, heard_s, [at] * len(names), [0.5] * len(names), heard_s)


def test_one_publisher_gives_its_newest_message() -> None:
    joints = MeasuredJoints(ARM)
    assert joints.heard_s() == -math.inf and not joints.value().position
    for k in range(5):
        measure(joints, ARM, k + 1, 0.1 * k, at=float(k))
    value = joints.value()
    assert (value.stamp_s, value.position, value.velocity) == (
        0.4,
        {"j1": 4.0, "j2": 4.0},
        {"j1": 0.5, "j2": 0.5},
    )
    assert joints.heard_s() == 0.4 and joints.contested(0.4) == ()


def test_publishers_of_different_joints_are_joined_and_do_not_contest() -> None:
    joints = MeasuredJoints(ARM)
    for k in range(20):
        measure(joints, ARM, 100 + k, 0.1 * k, at=1.0)
        measure(joints, HAND, 1 + k, 0.1 * k + 0.05, at=2.0)
    assert joints.value().position == {"j1": 1.0, "j2": 1.0, "f1": 2.0}
    assert joints.contested(2.0) == ()


def test_a_silent_arm_is_silent_though_the_hand_still_publishes() -> None:
    joints = MeasuredJoints(ARM)
    measure(joints, ARM, 1, 0.0)
    for k in range(100):
        measure(joints, HAND, 1 + k, 0.1 * k)
    assert joints.heard_s() == 0.0
    assert "j1" not in joints.value().position


def test_a_silent_hand_does_not_silence_the_arm() -> None:
    joints = MeasuredJoints(ARM)
    measure(joints, HAND, 1, 0.0)
    for k in range(100):
        measure(joints, ARM, 1 + k, 0.1 * k)
    assert joints.heard_s() == pytest.approx(9.9)
    assert set(joints.value().position) == set(ARM)


def test_two_publishers_of_the_same_joints_contest_them() -> None:
    joints = MeasuredJoints(ARM)
    for k in range(5):
        measure(joints, ARM, 100 + k, 0.1 * k)
        joints.note(ARM, 1 + k, 0.1 * k + 0.05)  # also one whose messages are all bad
    assert joints.contested(0.5) == ("j1", "j2")
    assert joints.contested(0.5 + HOLD_S) == ()


def test_two_publishers_of_one_common_joint_contest_that_one() -> None:
    joints = MeasuredJoints(ARM)
    for k in range(5):
        measure(joints, ARM, 100 + k, 0.1 * k)
        measure(joints, ["j2", "f1"], 1 + k, 0.1 * k + 0.05)
    assert joints.contested(0.5) == ("j2",)


def test_one_publisher_of_changing_lists_contests_nothing() -> None:
    joints = MeasuredJoints(ARM)
    for k in range(10):
        measure(joints, ARM if k % 2 else [*ARM, "f1"], 100 + k, 0.1 * k)
    assert joints.contested(1.0) == ()


def test_the_hand_of_an_earlier_publisher_does_not_make_the_arm_silent() -> None:
    joints = MeasuredJoints(ARM)
    measure(joints, [*ARM, "f1"], 1, 0.0)
    measure(joints, [*ARM, "knuckle"], 1, 9.0)
    assert joints.heard_s() == 9.0
    measure(joints, ["j1"], 2, 10.0)
    assert joints.heard_s() == 9.0, "the other joint of the arm is that old"


def test_forgetting_the_measurements_keeps_the_names() -> None:
    joints = MeasuredJoints(ARM)
    measure(joints, ARM, 1, 0.0)
    joints.clear()
    assert joints.heard_s() == -math.inf and not joints.value().position
    measure(joints, ARM, 2, 1.0)
    assert joints.heard_s() == 1.0


@pytest.mark.parametrize(("names", "words"), [([], "empty"), (["a", "b", "a"], "'a' twice")])
def test_bad_lists_of_names_are_refused(names: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        MeasuredJoints(ARM).note(names, 1, 0.0)


def test_the_number_of_different_lists_is_bounded() -> None:
    joints = MeasuredJoints(ARM)
    for k in range(MOST_GROUPS):
        joints.note([f"x{k}"], k + 1, 0.0)
    with pytest.raises(ValueError, match="different lists"):
        joints.note(ARM, 100, 0.1)
    joints.note(ARM, 101, 0.1 + HOLD_S)


def test_joints_that_are_older_than_the_time_that_they_are_held_are_no_measurement() -> None:
    joints = MeasuredJoints(ARM, hold_s=1.0)
    measure(joints, HAND, 1, 0.0)
    measure(joints, ARM, 1, 0.9)
    assert set(joints.value().position) == {*ARM, *HAND}
    measure(joints, ARM, 2, 1.1)
    assert set(joints.value().position) == set(ARM)


def test_efforts_are_joined_and_joints_without_are_left_out() -> None:
    joints = MeasuredJoints(ARM)
    joints.take(ARM, 0.0, [0.0, 0.0], [0.0, 0.0], 0.0, [1.0, -2.0])
    joints.take(HAND, 0.0, [0.0], [0.0], 0.1)
    assert joints.effort() == {"j1": 1.0, "j2": -2.0}
    joints.take(HAND, 0.0, [0.0], [0.0], 0.2, [3.0])
    assert joints.effort() == {"j1": 1.0, "j2": -2.0, "f1": 3.0}
    joints.clear()
    assert joints.effort() == {}
