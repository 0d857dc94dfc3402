"""The samples from which ``benchmarks/policies/cloning.py`` learns."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.policies.cloning import CUBE, HAND, REST, Samples, displaced, samples

from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import Shard, Sources, generate, processes
from support.paths import ROBOTS, ROOT

WIDTH = 7
NOISE_RAD = 0.02
SOURCES = Sources(
    ROOT / "benchmarks/policies/lift_cube.yaml", ROOT / "config/scenes/tabletop.yaml", ROBOTS / "fr3"
)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """The samples of one generated episode."""
    folder = tmp_path_factory.mktemp("lift")
    (row,) = generate(SOURCES, DatasetFolder(folder), range(1), Shard(), processes(1))
    assert row.success
    return samples(folder, range(1), workers=1)


def test_the_cube_is_held_from_the_grasp_to_the_end(given: Samples) -> None:
    changes = np.flatnonzero(np.diff(given.held))
    assert len(changes) == 1, "the hand takes the cube once"
    before, after = given.states[: changes[0] + 1], given.states[changes[0] + 1 :]
    assert np.ptp(before[:, CUBE][:, 2]) < 0.002, "nobody lifts it before"
    assert before[0, WIDTH] > after[:, WIDTH].max() + 0.02
    assert after[-1, CUBE.start + 2] > before[0, CUBE.start + 2] + 0.05


def test_the_cube_is_displaced_with_the_hand_only_where_it_is_held(given: Samples) -> None:
    rng = np.random.default_rng(4)
    noise = np.full((len(given.states), 1), NOISE_RAD, np.float32)
    moved = displaced(np, rng, given.states, given.jacobians, given.held, noise)
    hand, cube = (np.linalg.norm((moved - given.states)[:, one][:, :3], axis=1) for one in (HAND, CUBE))
    held = given.held == 1.0
    assert hand.max() > 0.01
    np.testing.assert_array_equal(cube[~held], 0.0)
    apart = [
        np.linalg.norm(one[:, CUBE][:, :3] - one[:, HAND][:, :3], axis=1) for one in (moved, given.states)
    ]
    assert cube[held].max() > 0.005
    np.testing.assert_allclose(apart[0][held], apart[1][held], atol=0.002)


def test_the_last_sample_is_repeated_and_asks_to_stay(given: Samples) -> None:
    assert int(given.resting.sum()) == REST
    last = given.chunks[-1]
    np.testing.assert_array_equal(last, np.broadcast_to(last[0], last.shape))
