"""Directions and orientations of the tool."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_planning.reach.orientations import sphere_directions, tool_rotations


@pytest.mark.parametrize("count", [1, 2, 12, 200])
def test_directions_are_unit_vectors_and_the_first_points_down(count: int) -> None:
    directions = sphere_directions(count)
    assert directions.shape == (count, 3)
    assert np.allclose(np.linalg.norm(directions, axis=1), 1.0)
    assert np.allclose(directions[0], (0.0, 0.0, -1.0))


def test_directions_are_spread_evenly() -> None:
    directions = sphere_directions(200)
    angles = np.arccos(np.clip(directions @ directions.T, -1.0, 1.0)) + 9.0 * np.eye(200)
    nearest = angles.min(axis=1)
    assert nearest.min() > 0.6 * nearest.max()
    assert np.linalg.norm(directions.mean(axis=0)) < 0.02


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_approach_axis_has_the_direction_at_every_angle(axis: int) -> None:
    directions = np.array([(0.0, 0.0, -1.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (-1.0, 0.0, 0.0)])
    for direction, rotations in zip(directions, tool_rotations(directions, 3, axis), strict=True):
        assert len(rotations) == 3
        for rotation in rotations:
            assert np.allclose(rotation.matrix()[:, axis], direction)
        others = [rotation.matrix()[:, (axis + 1) % 3] for rotation in rotations]
        assert np.allclose(sum(others), 0.0), "thirds of a turn"
