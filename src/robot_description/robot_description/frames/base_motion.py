"""The joints of a mobile base from its frames of tf: position from the map, velocity from the odometry. No ROS."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose

WINDOW_S = 0.1
"""The time over which the velocity is measured, s; at least from one message to the next."""
GAP_S = 1.0
"""Messages that are farther apart belong to two motions, s."""
FOLD_RAD = 3.5 * math.pi
"""Beyond this angle full turns are taken off: the joint ends at two turns."""
TURN = 2.0 * math.pi


@dataclass(frozen=True, slots=True, eq=False)
class BaseSample:
    """The joints of a base.

    Attributes:
        stamp_s: Time of the measurement, s.
        q: x, y [m] and yaw [rad] from the origin of the base, (3,).
        velocity: Their velocities along the axes of the origin, (3,), m/s and rad/s.
    """

    stamp_s: float
    q: Array
    velocity: Array


class BaseMotion:
    """Makes joints of poses. The heading goes on beyond half a turn, as a joint does.

    A correction of the localization moves the frame of the odometry in the map, and so the position of the base, but is
    no motion: the velocity comes from the odometry alone. Heights and tilts are left out.
    """

    def __init__(self) -> None:
        self._places: deque[tuple[float, float, float, float]] = deque()
        self._yaw: float | None = None

    def sample(self, stamp_s: float, origin_T_odom: Pose, odom_T_base: Pose) -> BaseSample | None:
        """Take the newest transforms.

        Args:
            stamp_s: Time of ``odom_T_base``, s.
            origin_T_odom: Pose of the odometry's frame in that of the base's origin.
            odom_T_base: Pose of the base in the odometry's frame.

        Returns:
            The joints; None for a transform that is not newer, and for the first one, which shows no velocity.
        """
        places = self._places
        if places and stamp_s == places[-1][0]:
            return None
        if places and not 0.0 < stamp_s - places[-1][0] <= GAP_S:
            places.clear()
            self._yaw = None
        x, y = odom_T_base.translation_m[:2].tolist()
        before = places[-1][3] if places else 0.0
        places.append((stamp_s, x, y, _near(before, yaw_of(odom_T_base))))
        while len(places) > 2 and stamp_s - places[1][0] >= WINDOW_S:
            places.popleft()
        if len(places) < 2:
            return None
        origin_T_base = origin_T_odom @ odom_T_base
        self._yaw = _folded(_near(self._yaw or 0.0, yaw_of(origin_T_base)))
        q = np.array([*origin_T_base.translation_m[:2], self._yaw])
        return BaseSample(stamp_s, q, self._velocity(yaw_of(origin_T_odom)))

    def _velocity(self, odom_yaw: float) -> Array:
        first, last = np.array(self._places[0]), np.array(self._places[-1])
        vx, vy, turn = (last[1:] - first[1:]) / (last[0] - first[0])
        cos, sin = math.cos(odom_yaw), math.sin(odom_yaw)
        return np.array([cos * vx - sin * vy, sin * vx + cos * vy, turn])


def yaw_of(pose: Pose) -> float:
    """Return the heading of a pose about z, -pi to pi.

    Args:
        pose: An upright pose.
    """
    matrix = pose.rotation.matrix()
    return math.atan2(matrix[1, 0], matrix[0, 0])


def _near(before: float, angle: float) -> float:
    """Return the angle that is the same heading, less than half a turn from ``before``."""
    return before + math.remainder(angle - before, TURN)


def _folded(angle: float) -> float:
    return math.remainder(angle, TURN) if abs(angle) > FOLD_RAD else angle
