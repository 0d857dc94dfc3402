"""A simulated detector is as imperfect as it was asked to be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from sim_bridge.detector.faulty_detector import DetectorFaults, FaultyDetector, Look

POSES = {"cube": Pose.of((0.5, 0.0, 0.02)), "can": Pose.of((0.5, 0.3, 0.05))}
FAULTS = {
    "position_std": 0.005,
    "rotation_std": 0.05,
    "dropout": 0.1,
    "flip": 0.02,
    "rate_hz": 5.0,
    "delay_s": 0.15,
}


def looks(seconds: float, seed: int = 0) -> list[tuple[float, Look]]:
    detector = FaultyDetector(DetectorFaults(**FAULTS), seed)
    stamps = [round(0.02 * i, 3) for i in range(round(seconds / 0.02))]
    return [(stamp, look) for stamp in stamps for look in detector.take(stamp, POSES)]


def test_looks_come_at_their_rate_and_late() -> None:
    found = looks(10.0)
    assert len(found) == 50
    assert all(0.15 - 1e-9 <= now_s - look.stamp_s <= 0.17 for now_s, look in found)


def test_noise_dropouts_and_flips_have_their_shares() -> None:
    found = [one for _, look in looks(1000.0) for one in look.found]
    assert len(found) == pytest.approx(0.9 * 10_000, rel=0.02)
    flipped = [label for label, pose in found if (label == "cube") != (pose.translation_m[1] < 0.15)]
    assert len(flipped) == pytest.approx(0.02 * len(found), rel=0.25)
    cubes = [pose for _, pose in found if pose.translation_m[1] < 0.15]
    places = np.array([pose.translation_m for pose in cubes])
    assert places.std(axis=0) == pytest.approx(0.005, rel=0.05)
    angles = np.array([pose.rotation.angle_to(POSES["cube"].rotation) for pose in cubes])
    assert math.sqrt((angles**2).mean() / 3.0) == pytest.approx(0.05, rel=0.05)


def test_a_seed_repeats_the_faults_and_time_that_goes_back_begins_again() -> None:
    first, second = looks(5.0, seed=3), looks(5.0, seed=3)
    pairs = zip(first, second, strict=True)
    assert all([l for l, _ in a.found] == [l for l, _ in b.found] for (_, a), (_, b) in pairs)  # noqa: E741
    detector = FaultyDetector(DetectorFaults(**FAULTS), 0)
    assert detector.take(100.0, POSES) == []
    assert detector.take(1.0, POSES) == []
    (look,) = detector.take(1.2, POSES)
    assert look.stamp_s == 1.0


def test_what_was_seen_before_a_pause_is_not_reported_after_it() -> None:
    detector = FaultyDetector(DetectorFaults(**FAULTS), 0)
    assert detector.take(100.0, POSES) == []
    detector.forget()
    assert detector.take(106.0, POSES) == []
    (look,) = detector.take(106.2, POSES)
    assert look.stamp_s == 106.0


@pytest.mark.parametrize(
    ("key", "value"), [("dropout", 1.5), ("flip", -0.1), ("rate_hz", 0.0), ("delay_s", -1.0)]
)
def test_impossible_faults_are_refused(key: str, value: float) -> None:
    with pytest.raises(ValueError, match=key):
        DetectorFaults(**{**FAULTS, key: value})
