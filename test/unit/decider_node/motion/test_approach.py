"""The funnel and the closeness of poses, against recorded vectors."""

from __future__ import annotations

import numpy as np
import pytest

from decider_node.motion.approach import Approach, are_close
from decider_node.motion.command import MotionCommand
from handiwork_core.model.geometry import Pose, Rotation
from support.paths import DATA

VECTORS = np.load(DATA / "deciders/approach.npz")


def test_the_shifted_target_equals_the_recorded_one() -> None:
    for i, expected in enumerate(VECTORS["shifted"]):
        approach = Approach.along(VECTORS["approach_direction"][i], float(VECTORS["approach_std"][i]))
        target, ee = Pose.from_matrix(VECTORS["target_T"][i]), Pose.from_matrix(VECTORS["eff_T"][i])
        shifted = MotionCommand(target, approach).aim(ee)
        assert np.allclose(shifted.translation_m, expected, atol=1e-9)
        assert shifted.rotation.angle_to(target.rotation) < 1e-6


@pytest.mark.parametrize(
    ("distance_m", "turn"), [("0.005", "2"), ("0.01", "0.01"), ("0.1", "1"), ("0.05", "0.1")]
)
def test_closeness_equals_the_recorded_one(distance_m: str, turn: str) -> None:
    for i, expected in enumerate(VECTORS[f"close__{distance_m}__{turn}"]):
        target, ee = Pose.from_matrix(VECTORS["target_T"][i]), Pose.from_matrix(VECTORS["eff_T"][i])
        assert are_close(target, ee, float(distance_m), float(turn)) == expected


def test_on_the_line_the_target_itself_is_aimed_at() -> None:
    target = Pose.of((0.5, 0.0, 0.2))
    approach = Approach.along((0.0, 0.0, -0.1), 0.005)
    assert approach.share(target, Pose.of((0.5, 0.0, 0.4))) == pytest.approx(0.0)
    assert approach.share(target, Pose.of((0.53, 0.0, 0.2))) == pytest.approx(1.0, abs=1e-6)
    turned = Pose.of((0.5, 0.0, 0.2), Rotation.from_rpy(0.0, 0.0, 0.5))
    assert approach.share(target, turned) > 0.99


def test_an_approach_from_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="give a direction"):
        Approach.along((0.0, 0.0, 0.0), 0.005)
