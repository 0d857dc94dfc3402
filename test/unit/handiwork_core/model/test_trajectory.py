"""Sampling of timed paths."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.trajectory import Trajectory


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


@pytest.mark.parametrize("from_s", [-1.0, 0.0, 0.1, 0.3, 0.999, 1.0, 1.1])
def test_what_is_left_is_the_same_motion(from_s: float) -> None:
    path, left = cubic(), cubic().remaining(from_s)
    begun = max(from_s, 0.0)
    assert left.t_s[0] == 0.0 and (np.diff(left.t_s) > 0.0).all()
    assert left.duration_s == pytest.approx(1.2 - begun)
    for t in np.linspace(0.0, left.duration_s, 9):
        (q, qd), (wanted, wanted_d) = left.sample(float(t)), path.sample(float(t) + begun)
        assert q == pytest.approx(wanted, abs=1e-9) and qd == pytest.approx(wanted_d, abs=1e-6)


def test_at_its_end_two_samples_are_left() -> None:
    left = cubic().remaining(5.0)
    assert left.q[:, 0] == pytest.approx(cubic().q[-2:, 0])
