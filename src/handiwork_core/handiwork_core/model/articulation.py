"""How a drawer, a door or a knob moves on the body that it belongs to, and where it is to be grasped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .geometry import Array, Pose, Rotation


class JointKind(IntEnum):
    """Numbers equal those in ``handiwork_msgs/msg/Articulation``."""

    PRISMATIC = 1
    REVOLUTE = 2


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """Keypoints in the part's frame: a bar from ``head`` to ``tail`` (3,) [m], ``width_m`` between the fingers.

    ``approach`` (3,): unit vector along which the hand comes, across the bar.
    """

    head: Array
    tail: Array
    approach: Array
    width_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Articulation:
    """A joint between an object (the part) and ``body``, another object.

    ``body_T_part`` at position zero; ``axis`` (3,) unit vector and ``origin`` (3,) a point on it, in the part's frame;
    positions between ``lower`` and ``upper`` [m or rad], where ``lower`` is closed.
    """

    body: str
    kind: JointKind
    body_T_part: Pose
    axis: Array
    origin: Array
    lower: float
    upper: float
    handle: Handle | None = None

    @property
    def range(self) -> float:
        """From closed to open [m or rad]."""
        return self.upper - self.lower

    @property
    def unit(self) -> str:
        """For messages."""
        return "m" if self.kind is JointKind.PRISMATIC else "rad"

    def motion(self, position: float) -> Pose:
        """From the part's frame at zero to that at ``position``, in the former."""
        if self.kind is JointKind.PRISMATIC:
            return Pose.of(position * self.axis)
        turn = Rotation.from_axis_angle(self.axis, position)
        return Pose.of(self.origin - turn.matrix() @ self.origin, turn)

    def at(self, position: float) -> Pose:
        """Pose of the part in the body at a position [m or rad]."""
        return self.body_T_part @ self.motion(position)

    def position(self, body_T_part: Pose) -> float:
        """The joint position whose pose is nearest to a measured one [m or rad]."""
        moved = self.body_T_part.inverse() @ body_T_part
        if self.kind is JointKind.PRISMATIC:
            return float(moved.translation_m @ self.axis)
        w, *xyz = moved.rotation.wxyz
        angle = 2.0 * math.atan2(float(np.asarray(xyz) @ self.axis), float(w))
        middle = 0.5 * (self.lower + self.upper)
        return middle + math.remainder(angle - middle, 2.0 * math.pi)

    def share(self, position: float) -> float:
        """0 where closed, 1 where open."""
        return (position - self.lower) / self.range
