"""A checked trajectory at single times: the same as its splines say."""

from __future__ import annotations

import numpy as np

from handiwork_core.control.tolerances import Tolerances
from handiwork_core.control.trajectory_goal import JointLimits, TrajectoryGoal, check


def test_a_sample_is_what_the_splines_say_at_knots_between_them_and_at_the_ends() -> None:
    rng, knots = np.random.default_rng(3), np.array([0.0, 0.4, 0.5, 1.2, 2.0])
    q, qd = 0.1 * rng.random((5, 2)), 0.1 * rng.random((5, 2))
    qd[[0, -1]] = 0.0
    far = np.full(2, 100.0)
    limits = JointLimits(("a", "b"), -far, far, far, far)
    path = check(TrajectoryGoal(("a", "b"), knots, q, qd), limits, q[0], Tolerances())
    for t in [*knots, *rng.uniform(0.0, 2.0, 50)]:
        position, velocity = path.sample(float(t))
        assert np.allclose(position, path.position(t), atol=1e-12)
        assert np.allclose(velocity, path.velocity(t), atol=1e-12)
