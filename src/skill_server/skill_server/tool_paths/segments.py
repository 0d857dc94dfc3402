"""Lines and arcs of the tool, which turns evenly along them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome

SHORTEST_M = 1e-4
"""Points that are nearer to one another than this are the same point of a curve."""
LEAST_BEND = 1e-3
"""Least sine of the angle between two chords of a circle; points with less are on one line."""
MOST_RADIUS_M = 5.0
"""Largest radius of a circle; points of a larger one are nearly on a line."""
SAME_RADIUS = 0.01
"""Largest difference of the distances of start and goal from a center, as a share of the radius."""


class PathRefused(StepFailed):
    """A curve cannot be made of its points. Nothing has moved.

    Args:
        field: Field of the goal that is wrong.
        message: Fault, values and correction.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(Outcome(Code.BAD_GOAL, message, "select", field))


class Segment(Protocol):
    """One line or arc from a pose to another."""

    @property
    def start(self) -> Pose:
        """Pose at share 0."""
        ...

    @property
    def end(self) -> Pose:
        """Pose at share 1."""
        ...

    @property
    def length_m(self) -> float:
        """Length of the curve, m."""
        ...

    def pose(self, share: float) -> Pose:
        """Return the pose at a share of the length.

        Args:
            share: 0 to 1.
        """
        ...

    def share_within(self, radius_m: float) -> float:
        """Return the share of the curve that lies within a radius of either of its ends.

        It is the same at both ends, as lines and arcs are symmetric.

        Args:
            radius_m: Radius of the ball around the end, m.

        Returns:
            Above 0; 1 or more when the whole curve is inside.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A straight line.

    Attributes:
        start: Pose at its start.
        end: Pose at its end, in the same frame.
    """

    start: Pose
    end: Pose

    @property
    def length_m(self) -> float:
        """See ``Segment``."""
        return float(np.linalg.norm(self.end.translation_m - self.start.translation_m))

    def pose(self, share: float) -> Pose:
        """See ``Segment``.

        Args:
            share: 0 to 1.
        """
        shift = self.end.translation_m - self.start.translation_m
        return Pose.of(self.start.translation_m + share * shift, slerp(self.start, self.end, share))

    def share_within(self, radius_m: float) -> float:
        """See ``Segment``.

        Args:
            radius_m: Radius of the ball around the end, m.
        """
        return radius_m / max(self.length_m, 1e-12)


@dataclass(frozen=True, slots=True, eq=False)
class Arc:
    """An arc of a circle.

    Attributes:
        start: Pose at its start.
        end: Pose at its end, in the same frame.
        center: Center of the circle, (3,), m.
        axis: Unit vector about which the tool's point turns, (3,).
        angle_rad: Angle of the arc, above 0 and below 2 pi.
    """

    start: Pose
    end: Pose
    center: Array
    axis: Array
    angle_rad: float

    @property
    def radius_m(self) -> float:
        """Radius of the circle, m."""
        return float(np.linalg.norm(self.start.translation_m - self.center))

    @property
    def length_m(self) -> float:
        """See ``Segment``."""
        return self.radius_m * self.angle_rad

    def pose(self, share: float) -> Pose:
        """See ``Segment``.

        Args:
            share: 0 to 1.
        """
        turn = Rotation.from_axis_angle(self.axis, share * self.angle_rad).matrix()
        point = self.center + turn @ (self.start.translation_m - self.center)
        # The center is computed: the end is taken as it was given.
        return Pose.of(self.end.translation_m if share == 1.0 else point, slerp(self.start, self.end, share))

    def share_within(self, radius_m: float) -> float:
        """See ``Segment``; a chord of length c belongs to the angle 2 asin(c / 2 r).

        Args:
            radius_m: Radius of the ball around the end, m.
        """
        half = radius_m / (2.0 * self.radius_m)
        return 2.0 * math.asin(half) / self.angle_rad if half < 1.0 else math.inf


def slerp(start: Pose, end: Pose, share: float) -> Rotation:
    """Return the orientation on the shortest arc between those of two poses (Shoemake 1985).

    Args:
        start: Orientation at share 0.
        end: Orientation at share 1.
        share: 0 to 1.
    """
    turn = start.rotation.inverse() @ end.rotation
    w, vector = float(turn.wxyz[0]), turn.wxyz[1:]
    if w < 0.0:
        w, vector = -w, -vector
    size = float(np.linalg.norm(vector))
    if size < 1e-12:
        return start.rotation
    return start.rotation @ Rotation.from_axis_angle(vector / size, share * 2.0 * math.atan2(size, w))


def arc_through(start: Pose, interim: Array, end: Pose, field: str) -> Arc:
    """Return the arc from a pose through a point to another pose.

    Args:
        start: Pose at the start.
        interim: Point on the arc between both, (3,), m.
        end: Pose at the end.
        field: Field of the goal that gives the interim point.

    Raises:
        PathRefused: Two of the points are the same, or the three are on one line.
    """
    a, b = interim - start.translation_m, end.translation_m - start.translation_m
    lengths = [float(np.linalg.norm(v)) for v in (a, b, b - a)]
    names = (("the start", "the interim point"), ("the start", "the goal"), ("the interim point", "the goal"))
    for length, (one, other) in zip(lengths, names, strict=True):
        if length < SHORTEST_M:
            text = f"{one} and {other} of the circle are {1e3 * length:.2f} mm apart; give three different points"
            raise PathRefused(field, text)
    normal = np.cross(a, b)
    if float(np.linalg.norm(normal)) < LEAST_BEND * lengths[0] * lengths[1]:
        text = f"start, interim point {_shown(interim)} and goal are on one line; move the interim point, or use lin"
        raise PathRefused(field, text)
    # The circumcenter of a triangle, from one corner.
    square = float(normal @ normal)
    center = start.translation_m + ((a @ a) * np.cross(b, normal) + (b @ b) * np.cross(normal, a)) / (
        2.0 * square
    )
    radius = float(np.linalg.norm(start.translation_m - center))
    if radius > MOST_RADIUS_M:
        text = f"the circle through {_shown(interim)} has a radius of {radius:.1f} m, more than {MOST_RADIUS_M:g} m"
        raise PathRefused(field, f"{text}; move the interim point, or use lin")
    axis: Array = np.asarray(normal / math.sqrt(square), dtype=np.float64)
    return Arc(
        start, end, center, axis, _angle(start.translation_m - center, end.translation_m - center, axis)
    )


def arc_about(start: Pose, center: Array, end: Pose, field: str) -> Arc:
    """Return the shorter arc from a pose to another about a center.

    Args:
        start: Pose at the start.
        center: Center of the circle, (3,), m.
        end: Pose at the end.
        field: Field of the goal that gives the center.

    Raises:
        PathRefused: The radius is zero, start and goal have different distances from the center, are the same, or are
            on one line with it, so that the plane is unknown.
    """
    a, b = start.translation_m - center, end.translation_m - center
    radii = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if min(radii) < SHORTEST_M:
        text = f"the circle about {_shown(center)} has a radius of {1e3 * min(radii):.2f} mm; move the center away"
        raise PathRefused(field, text)
    if abs(radii[0] - radii[1]) > SAME_RADIUS * max(radii):
        text = (
            f"the center {_shown(center)} is {1e3 * radii[0]:.1f} mm from the start and {1e3 * radii[1]:.1f} mm "
            "from the goal; give a point with the same distance from both, or an interim point"
        )
        raise PathRefused(field, text)
    normal = np.cross(a, b)
    sine = float(np.linalg.norm(normal)) / (radii[0] * radii[1])
    if sine < LEAST_BEND:
        text = f"start, center {_shown(center)} and goal are on one line; give an interim point, which names the plane"
        raise PathRefused(field, text)
    axis: Array = np.asarray(normal / float(np.linalg.norm(normal)), dtype=np.float64)
    middle = _equally_far(start.translation_m, end.translation_m, center)
    return Arc(
        start, end, middle, axis, _angle(start.translation_m - middle, end.translation_m - middle, axis)
    )


def _equally_far(start: Array, end: Array, center: Array) -> Array:
    """Return the point nearest to the center that is exactly as far from the start as from the end."""
    chord = end - start
    off = float((center - 0.5 * (start + end)) @ chord) / float(chord @ chord)
    return np.asarray(center - off * chord)


def _angle(start: Array, end: Array, axis: Array) -> float:
    """Return the angle about the axis from one arm to the other, above 0 and below 2 pi."""
    return math.atan2(float(np.cross(start, end) @ axis), float(start @ end)) % (2.0 * math.pi)


def _shown(point: Array) -> str:
    return "[" + ", ".join(f"{v:.3f}" for v in point) + "]"
