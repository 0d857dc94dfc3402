"""Constrained orientations are constructed, and not found by rejection."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.outcome import Code
from skill_server.geometry.orientation_cones import (
    Cone,
    OrientationFilter,
    cones_of,
    surviving,
    unit,
)
from skill_server.geometry.rotation_sampler import is_feasible, sample_rotations


def test_a_cone_of_one_degree_gives_all_that_were_asked_for() -> None:
    cones = cones_of([OrientationFilter("z", "downward", 0.0, 1.0)])
    turns = sample_rotations(cones, np.random.default_rng(0), 500)
    assert len(turns) == 500
    assert np.degrees(np.arccos(np.clip(-turns[:, 2, 2], -1, 1))).max() <= 1.0 + 1e-9
    headings = np.arctan2(turns[:, 1, 0], turns[:, 0, 0])
    assert np.histogram(headings, bins=4, range=(-np.pi, np.pi))[0].min() > 80, (
        "the turn about the axis is not free"
    )


def test_samples_are_rotations_spread_evenly_over_the_cone() -> None:
    turns = sample_rotations(
        cones_of([OrientationFilter("x", "leftward", 20.0, 60.0)]), np.random.default_rng(1), 4000
    )
    assert np.allclose(turns @ turns.transpose(0, 2, 1), np.eye(3), atol=1e-12)
    assert np.allclose(np.linalg.det(turns), 1.0)
    cosine = turns[:, 1, 0]
    low, high = np.cos(np.deg2rad([60.0, 20.0]))
    assert cosine.mean() == pytest.approx((low + high) / 2.0, abs=0.01)


def test_tight_combinations_that_rejection_would_miss() -> None:
    filters = [
        OrientationFilter("z", "forward", 0.0, 10.0),
        OrientationFilter("y", "upward", 30.0, 60.0),
        OrientationFilter("x", "downward", 30.0, 60.0),
    ]
    turns = sample_rotations(cones_of(filters), np.random.default_rng(2), 64)
    assert len(turns) == 64
    assert surviving(turns, cones_of(filters))[0].all()


def test_angles_come_in_either_order() -> None:
    a = cones_of([OrientationFilter("z", "upward", 10.0, 50.0)])
    b = cones_of([OrientationFilter("z", "upward", 50.0, 10.0)])
    turns = sample_rotations(a, np.random.default_rng(3), 50)
    assert surviving(turns, b)[0].all()


def test_equal_seeds_give_equal_rotations() -> None:
    cones = cones_of([OrientationFilter("z", "downward", 0.0, 30.0)])
    first, second = (sample_rotations(cones, np.random.default_rng(5), 20) for _ in range(2))
    assert np.array_equal(first, second)


def test_no_orientation_left_names_the_constraints() -> None:
    cones = cones_of(
        [OrientationFilter("z", "downward", 0.0, 20.0), OrientationFilter("z", "upward", 0.0, 20.0)]
    )
    with pytest.raises(StepFailed) as caught:
        sample_rotations(cones, np.random.default_rng(0), 10)
    assert caught.value.outcome.code is Code.NO_CANDIDATE
    assert "downward" in caught.value.outcome.message
    assert "upward" in caught.value.outcome.message


def around(seed: int) -> list[Cone]:
    """Make two to four constraints of any width from 0.03 to 50 degrees that some rotation satisfies."""
    rng = np.random.default_rng(seed)
    turn = cones_of([OrientationFilter("z", "upward", 0.0, 180.0)])[0].sample(rng, 1)[0]
    made = []
    for i in range(int(rng.integers(2, 5))):
        a, v = unit(rng.normal(size=3)), unit(rng.normal(size=3))
        angle = float(np.degrees(np.arccos(turn @ a @ v)))
        low, high = angle - 10 ** rng.uniform(-1.5, 1.7, 2) * (1.0, -1.0)
        made.append(Cone(a, v, max(0.0, low), min(180.0, high), str(i)))
    return made


@pytest.mark.parametrize("seed", range(60))
def test_any_feasible_set_gives_twenty_different_rotations(seed: int) -> None:
    cones = around(seed)
    turns = sample_rotations(cones, np.random.default_rng(seed), 20)
    assert surviving(turns, cones)[0].all()
    assert len(np.unique(np.round(turns.reshape(20, 9), 9), axis=0)) == 20
    assert np.allclose(turns @ turns.transpose(0, 2, 1), np.eye(3), atol=1e-12)


def test_a_gap_between_two_constraints_is_told_from_a_thin_overlap() -> None:
    below = OrientationFilter("z", "downward", 0.0, 30.0)
    assert is_feasible(cones_of([below, OrientationFilter("z", "downward", 29.99, 60.0)]))
    assert not is_feasible(cones_of([below, OrientationFilter("z", "downward", 30.01, 60.0)]))


def test_only_what_contradicts_is_named() -> None:
    filters = [
        OrientationFilter("z", "downward", 0.0, 60.0),
        OrientationFilter("y", "leftward", 0.0, 50.0),
        OrientationFilter("y", "leftward", 60.0, 70.0),
    ]
    with pytest.raises(StepFailed) as caught:
        sample_rotations(cones_of(filters), np.random.default_rng(0), 20)
    message = caught.value.outcome.message
    assert "0 to 50 deg from leftward" in message
    assert "60 to 70 deg from leftward" in message
    assert "downward" not in message


@pytest.mark.parametrize(("wide", "narrow"), [(60.0, 100.0), (25.0, 95.0)])
def test_samples_of_two_constraints_are_spread_as_those_of_rejection(wide: float, narrow: float) -> None:
    cones = cones_of(
        [OrientationFilter("z", "downward", 0.0, wide), OrientationFilter("x", "forward", 80.0, narrow)]
    )
    drawn = cones[0].sample(np.random.default_rng(7), 200_000)
    rejected = drawn[surviving(drawn, cones)[0]]
    made = np.concatenate([sample_rotations(cones, np.random.default_rng(k), 400) for k in range(20)])
    assert np.abs(made.mean(axis=0) - rejected.mean(axis=0)).max() < 0.04
    assert np.abs(made.std(axis=0) - rejected.std(axis=0)).max() < 0.04
