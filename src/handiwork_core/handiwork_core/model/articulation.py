"""The motion of a drawer, a door or a knob on its body, and the place where it is grasped."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.joint_kind import JointKind

from .geometry import Array, Pose, Rotation


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """Keypoints of a bar in the part's frame.

    Attributes:
        head: One end of the bar, (3,), m.
        tail: The other end, (3,), m.
        approach: Unit vector along which the hand comes, across the bar, (3,).
        width_m: Width of the bar between the fingers, m.
    """

    head: Array
    tail: Array
    approach: Array
    width_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Articulation:
    """A joint between an object (the part) and ``body``, another object.

    Attributes:
        body: Name of the other object.
        kind: The kind of the joint, PRISMATIC or REVOLUTE.
        body_T_part: Pose of the part at position zero.
        axis: Unit vector in the part's frame, (3,).
        origin: A point on the axis in the part's frame, (3,), m.
        lower: Position when closed, m or rad.
        upper: Position when open, m or rad.
        handle: The place to grasp the part, if it has one.
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
        """The way from closed to open, m or rad."""
        return self.upper - self.lower

    @property
    def unit(self) -> str:
        """The unit of positions in messages."""
        return "m" if self.kind is JointKind.PRISMATIC else "rad"

    def motion(self, position: float) -> Pose:
        """Return the motion of the part's frame from position zero.

        Args:
            position: Joint position, m or rad.

        Returns:
            Pose of the part's frame at ``position`` in the part's frame at zero.
        """
        if self.kind is JointKind.PRISMATIC:
            return Pose.of(position * self.axis)
        turn = Rotation.from_axis_angle(self.axis, position)
        return Pose.of(self.origin - turn.matrix() @ self.origin, turn)

    def at(self, position: float) -> Pose:
        """Return body_T_part at a position.

        Args:
            position: Joint position, m or rad.
        """
        return self.body_T_part @ self.motion(position)

    def position(self, body_T_part: Pose) -> float:
        """Return the joint position whose pose is nearest to a measured one.

        Args:
            body_T_part: The measured pose.

        Returns:
            Joint position, m or rad; an angle within pi of the middle of the limits.
        """
        moved = self.body_T_part.inverse() @ body_T_part
        if self.kind is JointKind.PRISMATIC:
            return float(moved.translation_m @ self.axis)
        w, *xyz = moved.rotation.wxyz
        angle = 2.0 * math.atan2(float(np.asarray(xyz) @ self.axis), float(w))
        middle = 0.5 * (self.lower + self.upper)
        return middle + math.remainder(angle - middle, 2.0 * math.pi)

    def share(self, position: float) -> float:
        """Return the opened share of the range: 0 when closed, 1 when open.

        Args:
            position: Joint position, m or rad.
        """
        return (position - self.lower) / self.range
