"""The true poses of objects, as a detector with noise, dropouts, wrong labels and a delay reports them. No ROS."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

KEPT = 8
"""Looks that wait for their delay."""


@dataclass(frozen=True, slots=True)
class DetectorFaults:
    """How imperfect a detector is.

    Attributes:
        position_std: Deviation of a position along each axis, m.
        rotation_std: Deviation of a rotation about each axis, rad.
        dropout: Share of the objects that a look misses.
        flip: Share of the objects that a look reports with the label of another one.
        rate_hz: Looks per second, Hz.
        delay_s: Time from a look to its report, s.
    """

    position_std: float
    rotation_std: float
    dropout: float
    flip: float
    rate_hz: float
    delay_s: float

    def __post_init__(self) -> None:
        for key in ("position_std", "rotation_std", "delay_s"):
            if getattr(self, key) < 0.0:
                raise ValueError(f"{key}: is {getattr(self, key):g}; make it 0 or more")
        for key in ("dropout", "flip"):
            if not 0.0 <= getattr(self, key) <= 1.0:
                raise ValueError(f"{key}: is {getattr(self, key):g}; give 0 to 1")
        if self.rate_hz <= 0.0:
            raise ValueError(f"rate_hz: is {self.rate_hz:g}; make it more than 0")

    def covariance(self) -> Array:
        """Return the covariance of a reported pose, (6, 6)."""
        return np.diag([self.position_std**2] * 3 + [self.rotation_std**2] * 3)


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one look reports: its time, s, and labels with poses in ``world``."""

    stamp_s: float
    found: tuple[tuple[str, Pose], ...]


class FaultyDetector:
    """Looks at true poses, and reports them later.

    Args:
        faults: How imperfect it is.
        seed: Seed of its faults.
    """

    def __init__(self, faults: DetectorFaults, seed: int) -> None:
        self._faults, self._rng = faults, np.random.default_rng(seed)
        self._waiting: deque[Look] = deque(maxlen=KEPT)
        self._last_s = -np.inf

    def take(self, stamp_s: float, poses: Mapping[str, Pose]) -> list[Look]:
        """Take the true poses of a time.

        Args:
            stamp_s: The time, s; when it goes back, what waits is dropped.
            poses: Poses in ``world`` by label.

        Returns:
            The looks whose delay is over.
        """
        if stamp_s < self._last_s:
            self.forget()
        if stamp_s - self._last_s > 1.0 / self._faults.rate_hz - 1e-6:
            self._last_s = stamp_s
            self._waiting.append(self._look(stamp_s, poses))
        done = []
        while self._waiting and stamp_s - self._waiting[0].stamp_s > self._faults.delay_s - 1e-6:
            done.append(self._waiting.popleft())
        return done

    def forget(self) -> None:
        """Drop the looks that are not reported yet: a detector that starts reports only what it sees from then on."""
        self._waiting.clear()
        self._last_s = -np.inf

    def _look(self, stamp_s: float, poses: Mapping[str, Pose]) -> Look:
        faults, rng, found = self._faults, self._rng, []
        for label, pose in poses.items():
            others = [name for name in poses if name != label]
            is_missed, is_flipped = rng.random(2) < (faults.dropout, faults.flip)
            reported = str(rng.choice(others)) if is_flipped and others else label
            if not is_missed:
                found.append((reported, self._noisy(pose)))
        return Look(stamp_s, tuple(found))

    def _noisy(self, pose: Pose) -> Pose:
        place = pose.translation_m + self._rng.normal(0.0, self._faults.position_std, 3)
        turn = self._rng.normal(0.0, self._faults.rotation_std, 3)
        angle = float(np.linalg.norm(turn))
        noise = Rotation.from_axis_angle(turn, angle) if angle > 0.0 else Rotation.identity()
        return Pose.of(place, noise @ pose.rotation)
