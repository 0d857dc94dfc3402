"""The ways that the own drive tries: all end at the goal, none turns and drives in a detour, and they are few."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from skill_server.motions.base_ways import SIDESTEPS_M, ways_between

START, GOAL = np.array([0.5, -0.2, 0.3]), np.array([2.0, 1.0, 1.5])


def test_every_way_ends_at_the_goal_and_moves_at_each_step() -> None:
    ways = list(ways_between(START, GOAL))
    assert len(ways) == 1 + 2 * (3 + len(SIDESTEPS_M))
    for way in ways:
        assert way[-1] == pytest.approx(GOAL)
        points = [START, *way]
        assert all(np.abs(b - a).max() > 1e-6 for a, b in pairwise(points))
        assert len(way) <= 4


def test_the_straight_way_is_the_first_and_detours_drive_without_turning() -> None:
    ways = list(ways_between(START, GOAL))
    assert len(ways[0]) == 1
    for way in ways[1:]:
        for a, b in zip([START, *way], way, strict=False):
            drives, turns = np.abs((b - a)[:2]).max() > 1e-9, abs(b[2] - a[2]) > 1e-9
            assert drives != turns


def test_without_a_turn_no_way_is_tried_twice() -> None:
    goal = np.array([2.0, 1.0, START[2]])
    ways = [np.round(np.concatenate(way), 6).tolist() for way in ways_between(START, goal)][1:]
    assert len({tuple(way) for way in ways}) == len(ways)


def test_a_turn_on_the_spot_has_ways_too() -> None:
    goal = np.array([*START[:2], 1.0])
    assert all(way[-1] == pytest.approx(goal) and len(way) == 1 for way in ways_between(START, goal))


def test_at_the_goal_there_is_one_motion_that_stays() -> None:
    assert all(len(way) == 1 for way in ways_between(START, START))
