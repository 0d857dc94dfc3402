"""The pose of an object that rests or is moved now and then: a Kalman filter with one variance each, and restarts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

OUTLIER = 4.0
"""A measurement that is farther off, in deviations, is not the noise of an object at rest."""


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """A measured pose.

    Attributes:
        world_T_object: The pose.
        position_std: Deviation of the position along its worst axis, m.
        rotation_std: The same of the rotation, rad.
        stamp_s: Time of the measurement, s.
    """

    world_T_object: Pose
    position_std: float
    rotation_std: float
    stamp_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The estimated pose of an object.

    Attributes:
        world_T_object: The pose.
        position_var: Variance of the position along each axis, m^2.
        rotation_var: Variance of the rotation about each axis, rad^2.
        stamp_s: Time of the newest measurement, s.
        outliers: Measurements in a row that were too far off for noise.
    """

    world_T_object: Pose
    position_var: float
    rotation_var: float
    stamp_s: float
    outliers: int = 0

    @classmethod
    def of(cls, seen: Measurement) -> Estimate:
        """Return the estimate after a first measurement.

        Args:
            seen: The measurement.
        """
        return cls(seen.world_T_object, seen.position_std**2, seen.rotation_std**2, seen.stamp_s)

    def predicted(self, stamp_s: float, drift: float, drift_rotation: float) -> Estimate:
        """Return the estimate for a later time: the pose is the same, the deviations have grown.

        Args:
            stamp_s: The time, s.
            drift: Growth of the deviation of the position, m/s.
            drift_rotation: Growth of that of the rotation, rad/s.
        """
        passed_s = max(0.0, stamp_s - self.stamp_s)
        position = (math.sqrt(self.position_var) + drift * passed_s) ** 2
        rotation = (math.sqrt(self.rotation_var) + drift_rotation * passed_s) ** 2
        return replace(self, position_var=position, rotation_var=rotation)

    def corrected(self, seen: Measurement) -> Estimate:
        """Return the estimate with a measurement; it is predicted for its time.

        A single measurement that is too far off counts little, and the second in a row restarts the filter: the object
        has moved.

        Args:
            seen: The measurement.
        """
        r_position, r_rotation = seen.position_std**2, seen.rotation_std**2
        distance, angle = self.world_T_object.distance_to(seen.world_T_object)
        is_off = distance > OUTLIER * math.sqrt(self.position_var + r_position)
        is_off = is_off or angle > OUTLIER * math.sqrt(self.rotation_var + r_rotation)
        if is_off and self.outliers:
            return Estimate.of(seen)
        k_position = self.position_var / (self.position_var + r_position)
        k_rotation = self.rotation_var / (self.rotation_var + r_rotation)
        old, new = self.world_T_object, seen.world_T_object
        place = old.translation_m + k_position * (new.translation_m - old.translation_m)
        return Estimate(
            Pose.of(place, _between(old.rotation, new.rotation, k_rotation)),
            (1.0 - k_position) * self.position_var,
            (1.0 - k_rotation) * self.rotation_var,
            seen.stamp_s,
            int(is_off),
        )

    def covariance(self) -> Array:
        """Return the covariance of the pose, (6, 6), as ``scene.covariance`` has it."""
        return np.diag([self.position_var] * 3 + [self.rotation_var] * 3)


def _between(old: Rotation, new: Rotation, share: float) -> Rotation:
    """Return the rotation at a share of the way from one to the other."""
    turn = old.inverse() @ new
    w, *xyz = turn.wxyz.tolist()
    half = math.atan2(float(np.linalg.norm(xyz)), w)
    if half < 1e-9:
        return old
    return old @ Rotation.from_axis_angle(xyz, 2.0 * half * share)
