"""Points of round shapes lie on them, all around."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.scene.round_points import ROUND_STEPS, ball, ring


def test_a_ring_goes_all_the_way_round() -> None:
    points = ring(0.3)
    assert np.linalg.norm(points, axis=1) == pytest.approx(np.full(ROUND_STEPS, 0.3))
    assert np.abs(points[:, 2]).max() == 0.0
    turns = np.sort(np.arctan2(points[:, 1], points[:, 0]))
    assert np.diff(turns) == pytest.approx(np.full(ROUND_STEPS - 1, 2.0 * np.pi / ROUND_STEPS))


@pytest.mark.parametrize("half", [0.0, 0.2])
def test_points_of_a_capsule_are_a_radius_from_its_middle_line(half: float) -> None:
    points = ball(0.1, half)
    on_line = np.clip(points[:, 2], -half, half)
    away = np.linalg.norm(points - np.stack([0 * on_line, 0 * on_line, on_line], axis=1), axis=1)
    assert away == pytest.approx(np.full(len(points), 0.1))
    assert (points[:, 2].min(), points[:, 2].max()) == pytest.approx((-half - 0.1, half + 0.1))
