"""The reference along a stream of any points stays within the limits of position, velocity and acceleration."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.control.point_stream import PointStream
from handiwork_core.control.trajectory_goal import JointLimits

STEP_S = 0.004
LIMITS = JointLimits(
    ("a", "b"), np.array([-1.0, -0.2]), np.array([1.0, 0.3]), np.array([2.0, 1.0]), np.array([6.0, 3.0])
)


@pytest.mark.parametrize("seed", range(5))
def test_no_stream_makes_the_reference_exceed_a_limit_of_its_joints(seed: int) -> None:
    """Points lie far beyond the limits of position, jump, and ask for thrice the velocities, irregularly."""
    rng, stream = np.random.default_rng(seed), PointStream(LIMITS)
    q, rate = np.zeros(2), np.zeros(2)
    speeds, changes, places = [], [], []
    for _ in range(2000):
        if rng.random() < 0.05:
            target = rng.uniform(3.0 * LIMITS.lower, 3.0 * LIMITS.upper)
            stream.take(target, rng.uniform(-3.0, 3.0, 2) * LIMITS.velocity, rng.uniform(-0.05, 0.05))
        before = rate
        q, rate = stream.advance(q, rate, STEP_S)
        speeds.append(np.abs(rate) / LIMITS.velocity)
        changes.append(np.abs(rate - before) / (LIMITS.acceleration * STEP_S))
        places.append(q)
    assert np.max(speeds) <= 1.0 + 1e-9
    assert np.max(changes) <= 1.0 + 1e-6
    assert (np.array(places) >= LIMITS.lower).all() and (np.array(places) <= LIMITS.upper).all()
    assert np.ptp(places, axis=0).min() > 0.2, "the joints hardly moved, so the limits were not tried"
