"""Ways of a base around obstacles: every position on them is clear, and the straight way is taken where it is."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import never_stop
from handiwork_core.model.geometry import Array
from skill_server.driving.path_search import Limits, find_path
from skill_server.motions.base_steering import positions_between, positions_on_way, turned_ahead

LIMITS = Limits(np.array([-3.0, -3.0, -6.0]), np.array([3.0, 3.0, 6.0]))
START, GOAL = np.array([0.0, 0.0, 0.0]), np.array([2.0, 0.5, 1.0])
RADIUS_M = 0.3


def everywhere(q: Array) -> Array:
    return np.ones(len(q), bool)


def beside_wall(q: Array) -> Array:
    """Clear for a disc beside a wall at x 1, from y -3 to 1.5."""
    gaps = np.hypot(q[:, 0] - 1.0, np.maximum(q[:, 1] - 1.5, 0.0))
    return np.asarray(gaps >= RADIUS_M)


def outside_ring(q: Array) -> Array:
    """Clear for a disc inside or outside of a closed ring of radius 1 around the start."""
    return np.asarray(np.abs(np.hypot(q[:, 0], q[:, 1]) - 1.0) >= RADIUS_M)


def found(is_clear: object, goal: Array = GOAL, seed: int = 0) -> tuple[Array, ...]:
    return find_path(START, goal, is_clear, LIMITS, np.random.default_rng(seed), never_stop)  # type: ignore[arg-type]


def test_a_free_way_is_straight() -> None:
    (end,) = found(everywhere)
    assert end == pytest.approx(GOAL)


@pytest.mark.parametrize("seed", range(5))
def test_a_wall_is_driven_around(seed: int) -> None:
    path = found(beside_wall, seed=seed)
    assert len(path) > 1
    assert path[-1] == pytest.approx(GOAL)
    for start, end in zip((START, *path), path, strict=False):
        assert beside_wall(positions_between(start, end)).all()
    assert all(((LIMITS.lower <= q) & (q <= LIMITS.upper)).all() for q in path)


def test_equal_seeds_give_equal_ways() -> None:
    assert np.array_equal(found(beside_wall, seed=3), found(beside_wall, seed=3))


def test_there_is_no_way_out_of_a_ring_nor_to_a_place_that_is_taken() -> None:
    assert found(outside_ring) == ()
    assert found(beside_wall, np.array([1.1, 0.0, 0.0])) == ()


def test_a_search_ends_when_it_is_to_stop() -> None:
    asked = []

    def stop() -> bool:
        asked.append(True)
        return True

    assert find_path(START, GOAL, outside_ring, LIMITS, np.random.default_rng(0), stop) == ()
    assert len(asked) == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_base_that_turns_and_drives_ahead_goes_around_a_wall_by_such_motions(seed: int) -> None:
    def steering(start: Array, goal: Array) -> tuple[Array, ...]:
        return turned_ahead(start, goal, float(LIMITS.lower[2]), float(LIMITS.upper[2]))

    rng = np.random.default_rng(seed)
    path = find_path(START, GOAL, beside_wall, LIMITS, rng, never_stop, steering=steering)
    assert path and path[-1] == pytest.approx(GOAL)
    for start, end in zip((START, *path), path, strict=False):
        assert beside_wall(positions_on_way(steering, start, end)).all()
