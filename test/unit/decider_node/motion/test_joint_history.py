"""Joints of earlier moments, for observations that arrive later than the joints."""

from __future__ import annotations

import numpy as np
import pytest

from decider_node.motion.joint_history import JointHistory


def filled() -> JointHistory:
    history = JointHistory(0.2)
    for k in range(100):
        history.add(0.01 * k, np.array([0.01 * k, 1.0]))
    return history


@pytest.mark.parametrize(("asked_s", "found"), [(0.985, 0.985), (0.9, 0.9), (0.795, 0.795), (2.0, 0.99)])
def test_the_joints_of_a_moment_are_interpolated(asked_s: float, found: float) -> None:
    assert filled().at(asked_s) == pytest.approx([found, 1.0])


def test_a_moment_before_all_that_is_kept_gets_the_oldest() -> None:
    assert filled().at(0.1)[0] == pytest.approx(0.79, abs=0.011)


def test_measurements_of_before_a_reset_are_forgotten() -> None:
    history = filled()
    history.add(0.5, np.array([7.0, 1.0]))
    assert history.at(0.9)[0] == history.at(0.0)[0] == 7.0


def test_without_a_measurement_there_is_nothing_to_return() -> None:
    with pytest.raises(ValueError, match="no joints were added yet"):
        JointHistory(0.2).at(0.0)
