"""A curve of lines and arcs whose corners are rounded within a radius, so that the tool passes them without a stop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from handiwork_core.model.geometry import Pose

from .segments import SHORTEST_M, PathRefused, Segment, slerp

SHARPEST = math.radians(175.0)
"""Largest change of direction that a blend rounds; a path that turns back has to stop there."""
TANGENT_SHARE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """The rounded part around a corner.

    It goes over from the one segment to the other, as the blends of Pilz's sequences do: each point is between a
    point of the first segment and one of the second, all of which are within the radius of the corner, and so is
    their mean. The weights begin and end with slope zero, so that the direction is continuous.

    Attributes:
        before: Segment that ends at the corner.
        after: Segment that starts there.
        enters: Share of ``before`` at which the blend begins.
        leaves: Share of ``after`` at which it ends.
    """

    before: Segment
    after: Segment
    enters: float
    leaves: float

    @property
    def length_m(self) -> float:
        """Upper bound of its length, m."""
        return (1.0 - self.enters) * self.before.length_m + self.leaves * self.after.length_m

    def pose(self, share: float) -> Pose:
        """Return the pose at a share of the blend.

        Args:
            share: 0 to 1.
        """
        one = self.before.pose(self.enters + (1.0 - self.enters) * share)
        other = self.after.pose(self.leaves * share)
        weight = share * share * (3.0 - 2.0 * share)
        point = (1.0 - weight) * one.translation_m + weight * other.translation_m
        return Pose.of(point, slerp(one, other, weight))


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The part of a segment between two blends.

    Attributes:
        segment: The segment.
        start: Share at which it begins.
        end: Share at which it ends.
    """

    segment: Segment
    start: float
    end: float

    @property
    def length_m(self) -> float:
        """Length of the part, m."""
        return (self.end - self.start) * self.segment.length_m

    def pose(self, share: float) -> Pose:
        """Return the pose at a share of the part.

        Args:
            share: 0 to 1.
        """
        # Exactly the segment's end at the end, whatever the arithmetic of the shares.
        return self.segment.pose(self.end if share == 1.0 else self.start + share * (self.end - self.start))


Piece = Stretch | Blend


def rounded(
    segments: Sequence[Segment], radii_m: Sequence[float], fields: Sequence[str]
) -> tuple[Piece, ...]:
    """Round the corners between segments.

    Args:
        segments: Segments, each of which starts where the one before it ends, n.
        radii_m: Radius of the blend at the end of each segment but the last, n - 1, above 0, m.
        fields: Field of the goal that gives each radius, n - 1.

    Returns:
        Stretches and blends in turn; stretches without length are left out.

    Raises:
        PathRefused: Blends overlap, one reaches beyond a segment, or the path turns straight back.
    """
    shares = [(_share(a, r, f), _share(b, r, f)) for (a, b), r, f in _corners(segments, radii_m, fields)]
    for i, segment in enumerate(segments):
        first = shares[i - 1][1] if i > 0 else 0.0
        last = shares[i][0] if i < len(shares) else 0.0
        if first + last > 1.0 + 1e-9:
            raise _overlap(i, segment, radii_m, fields)
    for (before, after), _radius, field in _corners(segments, radii_m, fields):
        _check_turn(before, after, field)
    pieces: list[Piece] = []
    for i, segment in enumerate(segments):
        start = shares[i - 1][1] if i > 0 else 0.0
        end = 1.0 - shares[i][0] if i < len(shares) else 1.0
        stretch = Stretch(segment, start, end)
        if stretch.length_m > SHORTEST_M or len(segments) == 1:
            pieces.append(stretch)
        if i < len(shares):
            pieces.append(Blend(segment, segments[i + 1], end, shares[i][1]))
    return tuple(pieces)


def _corners(
    segments: Sequence[Segment], radii_m: Sequence[float], fields: Sequence[str]
) -> list[tuple[tuple[Segment, Segment], float, str]]:
    return list(zip(pairwise(segments), radii_m, fields, strict=True))


def _share(segment: Segment, radius_m: float, field: str) -> float:
    if segment.length_m < SHORTEST_M:
        text = f"{field} is {radius_m:g} m beside a motion that only turns; set it to 0, so that the arm stops there"
        raise PathRefused(field, text)
    share = segment.share_within(radius_m)
    if share > 1.0 + 1e-9:
        far = float(np.linalg.norm(segment.end.translation_m - segment.start.translation_m))
        text = f"{field} is {radius_m:g} m, and the next point is {far:.4f} m away; make the radius smaller"
        raise PathRefused(field, text)
    return share


def _overlap(i: int, segment: Segment, radii_m: Sequence[float], fields: Sequence[str]) -> PathRefused:
    before, after = (fields[i - 1], radii_m[i - 1]), (fields[i], radii_m[i])
    text = (
        f"the blends overlap: {before[0]} is {before[1]:g} m and {after[0]} is {after[1]:g} m on a motion of "
        f"{segment.length_m:.4f} m; make one of them smaller"
    )
    return PathRefused(after[0], text)


def _check_turn(before: Segment, after: Segment, field: str) -> None:
    """Refuse a corner at which the path turns straight back."""
    come = before.end.translation_m - before.pose(1.0 - TANGENT_SHARE).translation_m
    go = after.pose(TANGENT_SHARE).translation_m - after.start.translation_m
    cosine = float(come @ go) / float(np.linalg.norm(come) * np.linalg.norm(go))
    if cosine < math.cos(SHARPEST):
        angle = math.degrees(math.acos(max(-1.0, cosine)))
        text = f"the path turns back by {angle:.0f} deg where {field} is to blend it; set the radius to 0"
        raise PathRefused(field, text)
