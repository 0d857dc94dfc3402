"""Sampling of timed paths."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.trajectory import Trajectory


def cubic() -> Trajectory:
    t = np.array([0.0, 0.3, 1.0, 1.2])
    zero = np.zeros((4, 1))
    return Trajectory(("j",), t, (t**3 - t)[:, None], (3 * t**2 - 1)[:, None], zero)


@pytest.mark.parametrize("t", np.linspace(0.0, 1.2, 13).tolist())
def test_cubics_are_reproduced(t: float) -> None:
    q, qd = cubic().sample(t)
    assert q[0] == pytest.approx(t**3 - t)
    assert qd[0] == pytest.approx(3 * t**2 - 1)


def test_the_ends_are_held() -> None:
    path = cubic()
    assert path.duration_s == pytest.approx(1.2)
    assert path.sample(-1.0)[0] == pytest.approx(path.q[0])
    assert path.sample(9.0)[0] == pytest.approx(path.q[-1])
