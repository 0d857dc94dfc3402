"""The referee's distances between bodies against every ball with every ball, from the definition."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_planning.validation.other_arms import Way, gaps_to_way
from handiwork_planning.validation.robot_bodies import (
    NEAR_M,
    BodyPath,
    LinkBalls,
    between,
    track_of,
)


def body(rng: np.random.Generator, count: int) -> LinkBalls:
    balls = np.column_stack([rng.uniform(-0.1, 0.1, (count, 3)), rng.choice([0.01, 0.017, 0.03], count)])
    return LinkBalls("a body", "its link", balls, False)


def way(rng: np.random.Generator, rows: int, middle: float) -> Array:
    """Return poses (rows, 4, 4) on a line that begins ``middle`` [m] away."""
    place = [np.array([middle + 0.001 * i, 0.0, 0.0]) for i in range(rows)]
    turn = [Rotation.from_rpy(*(0.01 * i + rng.uniform(0.0, 0.01, 3))) for i in range(rows)]
    return np.stack([Pose.of(tuple(p), r).matrix() for p, r in zip(place, turn, strict=True)])


def balls_of(track: BodyPath, row: int) -> tuple[Array, Array]:
    return track.centres(np.array([row]))[0], track.body.balls[:, 3]


def gap(p: tuple[Array, Array], q: tuple[Array, Array]) -> float:
    apart = np.linalg.norm(p[0][:, None] - q[0][None], axis=2)
    return float((apart - p[1][:, None] - q[1][None]).min())


def agree(said: Array, true: Array) -> None:
    near = true < NEAR_M
    np.testing.assert_allclose(said[near], true[near], atol=1.0e-9)
    assert (said[~near] <= true[~near] + 1.0e-9).all()
    assert (said[~near] >= NEAR_M - 1.0e-9).all()


@pytest.mark.parametrize("middle", [0.15, 0.22, 0.26, 0.4, 1.0])
def test_two_bodies_at_the_same_time(middle: float) -> None:
    rng = np.random.default_rng(3)
    a, b = track_of(way(rng, 150, 0.0), body(rng, 25)), track_of(way(rng, 150, middle), body(rng, 30))
    true = np.array([gap(balls_of(a, i), balls_of(b, i)) for i in range(150)])
    agree(between(a, b), true)


@pytest.mark.parametrize("middle", [0.2, 0.3, 0.4, 1.0])
def test_a_body_and_another_wherever_it_comes_along(middle: float) -> None:
    rng = np.random.default_rng(4)
    a, there = track_of(way(rng, 80, 0.0), body(rng, 25)), track_of(way(rng, 60, middle), body(rng, 30))
    others = [balls_of(there, i) for i in range(60)]
    true = np.array([min(gap(balls_of(a, i), other) for other in others) for i in range(80)])
    agree(gaps_to_way(a, Way(there.body, there.frames)), true)
