"""A differential base turns, drives along its heading, and turns; a holonomic one moves at once."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import BaseKind, Robot
from handiwork_core.testing.mobile import BASE, mobile_gantry
from skill_server.motions.base_steering import positions_on_way, steering_of, turned_ahead

WIDE = 4.0 * math.pi


def differential() -> Robot:
    return replace(mobile_gantry(), base=replace(BASE, kind=BaseKind.DIFFERENTIAL))


def sideways_m(path: Array) -> float:
    """Return the largest move across the heading between two positions of a path, m."""
    return max(
        abs(float((b - a)[:2] @ (-math.sin(0.5 * (a[2] + b[2])), math.cos(0.5 * (a[2] + b[2])))))
        for a, b in pairwise(path)
    )


def test_a_holonomic_base_moves_at_once() -> None:
    goal = np.array([0.3, 1.0, 0.5])
    (end,) = steering_of(mobile_gantry())(np.zeros(3), goal)
    assert end == pytest.approx(goal)


@pytest.mark.parametrize("seed", range(20))
def test_a_differential_base_never_moves_sideways_and_reaches_its_goal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, goal = rng.uniform([-2.0, -2.0, -1.9], [2.0, 2.0, 1.9], (2, 3))
    path = positions_on_way(steering_of(differential()), start, goal)
    assert path[0] == pytest.approx(start) and path[-1] == pytest.approx(goal)
    assert sideways_m(path) < 1e-6
    assert np.abs(path[:, 2]).max() <= 2.0, "the range of the joint"
    straight = positions_on_way(steering_of(mobile_gantry()), start, goal)
    assert sideways_m(straight) > 1e-4


def test_it_drives_back_where_that_turns_less() -> None:
    ends = turned_ahead(np.zeros(3), np.array([-1.0, 0.0, 0.0]), -WIDE, WIDE)
    assert [end.tolist() for end in ends] == [[-1.0, 0.0, 0.0]]
    turn, drive, last = turned_ahead(np.zeros(3), np.array([0.0, 1.0, 0.0]), -WIDE, WIDE)
    assert abs(turn[2]) == pytest.approx(math.pi / 2) and turn[:2] == pytest.approx([0.0, 0.0])
    assert drive[:2] == pytest.approx([0.0, 1.0]) and drive[2] == turn[2]
    assert last == pytest.approx([0.0, 1.0, 0.0])


def test_a_goal_beside_it_that_is_nearer_than_it_can_drive_is_a_turn() -> None:
    ends = turned_ahead(np.zeros(3), np.array([0.0, 0.003, 0.4]), -WIDE, WIDE)
    assert [end.tolist() for end in ends] == [[0.0, 0.0, 0.4]]


def test_the_heading_stays_within_the_range_of_the_joint() -> None:
    start = np.array([0.0, 0.0, 1.9])
    for goal in (np.array([-1.0, 0.2, 1.9]), np.array([0.3, -1.0, -1.9])):
        ends = turned_ahead(start, goal, -2.0, 2.0)
        assert all(abs(end[2]) <= 2.0 for end in ends)
        assert sideways_m(np.stack([start, *ends])) < 1e-9
