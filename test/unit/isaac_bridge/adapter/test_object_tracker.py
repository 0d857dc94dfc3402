"""Poses become states: moving objects have a velocity, resting ones keep their state, a restart begins again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isaac_bridge.adapter.object_tracker import ObjectTracker

HERE = (0.5, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0)


def turned(x: float, angle: float) -> tuple[float, ...]:
    """Return a pose as numbers: x, 0, 0.1 m, and a rotation about z.

    Args:
        x: Position along x, m.
        angle: Angle, rad.
    """
    return (x, 0.0, 0.1, 0.0, 0.0, math.sin(angle / 2.0), math.cos(angle / 2.0))


def test_two_poses_give_the_velocities() -> None:
    tracker = ObjectTracker(["cube"])
    assert tracker.missing == ["cube"]
    assert tracker.take("cube", turned(0.5, 0.0), 1.0) == ""
    assert tracker.take("cube", turned(0.51, -0.02), 1.1) == ""
    state = tracker.states["cube"]
    assert state.world_v_object.tolist() == pytest.approx([0.1, 0.0, 0.0], abs=1e-9)
    assert state.world_w_object.tolist() == pytest.approx([0.0, 0.0, -0.2], abs=1e-9)
    assert tracker.missing == []


def test_a_turn_through_the_back_of_the_quaternion_is_short() -> None:
    tracker = ObjectTracker(["cube"])
    tracker.take("cube", turned(0.5, 3.13), 1.0)
    x, y, z, *turn = turned(0.5, 3.15)
    tracker.take("cube", (x, y, z, *(-v for v in turn)), 1.1)
    assert tracker.states["cube"].world_w_object[2] == pytest.approx(0.2, abs=1e-6)


def test_what_rests_keeps_its_state_and_what_stops_has_no_speed() -> None:
    tracker = ObjectTracker(["cube"])
    tracker.take("cube", turned(0.5, 0.0), 1.0)
    tracker.take("cube", turned(0.6, 0.0), 1.1)
    tracker.take("cube", turned(0.6 + 1e-9, 0.0), 1.2)
    stopped = tracker.states["cube"]
    assert stopped.world_v_object.tolist() == [0.0, 0.0, 0.0]
    tracker.take("cube", turned(0.6, 0.0), 1.3)
    assert tracker.states["cube"] is stopped
    tracker.take("cube", turned(0.7, 0.0), 1.4)
    assert tracker.states["cube"].world_v_object[0] == pytest.approx(1.0), (
        "since the last frame, not the last motion"
    )


def test_an_earlier_stamp_begins_anew_without_a_speed() -> None:
    tracker = ObjectTracker(["cube"])
    tracker.take("cube", HERE, 100.0)
    tracker.take("cube", turned(0.9, 0.0), 0.02)
    assert tracker.states["cube"].world_v_object.tolist() == [0.0, 0.0, 0.0]
    assert tracker.states["cube"].world_T_object.translation_m[0] == 0.9


@given(st.integers(0, 2**32 - 1))
def test_all_at_once_is_one_after_the_other(seed: int) -> None:
    rng, names = np.random.default_rng(seed), ["a", "b", "c", "d"]
    together, apart = ObjectTracker(names), ObjectTracker(names)
    numbers, stamps_s = np.tile(HERE, (4, 1)), np.zeros(4)
    for _ in range(12):
        present = rng.permutation(4)[: rng.integers(0, 5)]  # a message may have some of them, in any order
        stamps_s[present] += rng.choice([-0.1, 0.0, 0.01, 0.02], len(present), p=[0.05, 0.1, 0.4, 0.45])
        numbers[present, 0] += rng.choice([0.0, 1e-9, 0.01], len(present))
        if len(present) and rng.random() < 0.1:
            numbers[present[0], 6] = rng.choice([np.nan, 0.5, 1.0])
        edges = [("world", names[i]) for i in present]
        taken = together.take_all(edges, numbers[present], stamps_s[present])
        singly = [apart.take(names[i], tuple(numbers[i].tolist()), float(stamps_s[i])) for i in present]
        assert (taken is None) == (len(present) == 0)
        assert taken is None or taken == (stamps_s[present].max(), [fault for fault in singly if fault])
        assert list(together.states) == list(apart.states)
        for one, other in zip(together.states.values(), apart.states.values(), strict=True):
            assert one.stamp_s == other.stamp_s
            assert one.world_v_object.tolist() == other.world_v_object.tolist()
            assert one.world_T_object.translation_m.tolist() == other.world_T_object.translation_m.tolist()


def test_frames_that_are_not_the_objects_are_left_alone_and_the_last_of_two_counts() -> None:
    tracker = ObjectTracker(["cube", "can"])
    edges = [("world", "cube"), ("fr3/base", "can"), ("world", "fr3/base"), ("world", "cube")]
    numbers = np.array([turned(x, 0.0) for x in (0.1, 0.2, 0.3, 0.4)])
    assert tracker.take_all(edges, numbers, np.array([1.0, 9.0, 9.0, 2.0])) == (2.0, [])
    assert list(tracker.states) == ["cube"]
    assert tracker.states["cube"].world_T_object.translation_m[0] == 0.4
    assert tracker.take_all(edges[1:3], numbers[1:3], np.array([9.0, 9.0])) is None


@pytest.mark.parametrize(
    ("numbers", "words"),
    [((math.nan, *HERE[1:]), "not finite"), ((*HERE[:6], 0.5), "norm 0.5")],
)
def test_a_bad_pose_is_named_and_not_taken(numbers: tuple[float, ...], words: str) -> None:
    tracker = ObjectTracker(["cube"])
    fault = tracker.take("cube", numbers, 1.0)
    assert "'cube'" in fault
    assert words in fault
    assert tracker.states == {}
