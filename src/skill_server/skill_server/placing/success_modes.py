"""Success modes of Place: functions of boxes in the world, each with its constants as arguments.

Formulas: SimBox format, but for oriented boxes instead of axis-aligned ones, which are the special case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from skill_server.geometry.solids import OrientedBox

from .box_overlap import inset_from_above, iou

MODES = ("3diou", "xybbox", "height", "left", "right", "flower", "cup")


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The settled pair in the world.

    Attributes:
        object: Box of the object.
        origin: Origin of the object, (3,), m.
        container: Box of the container.
    """

    object: OrientedBox
    origin: Array
    container: OrientedBox


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of a mode.

    Attributes:
        good: True when the mode is satisfied.
        words: The numbers as text.
    """

    good: bool
    words: str


def overlapping(placed: Placed, least: float) -> Judged:
    """Judge by mode 3diou: the boxes share more than a part of their union.

    Args:
        placed: Settled pair.
        least: Largest share that is not enough, 0 to 1.

    Returns:
        The judgement.
    """
    overlap = iou(placed.object, placed.container)
    return Judged(overlap > least, f"overlap {overlap:.4f}, success_th {least:g}")


def inside_sides(placed: Placed, margin_m: float) -> Judged:
    """Judge by mode xybbox: the origin is inside the container's sides, seen from above, by more than a margin.

    Args:
        placed: Settled pair.
        margin_m: Margin, m.

    Returns:
        The judgement.
    """
    p, inset = placed.origin, inset_from_above(placed.origin, placed.container)
    place = f"{inset * 1e3:.1f} mm within" if inset >= 0.0 else f"{-inset * 1e3:.1f} mm outside of"
    asked = f"more than {margin_m * 1e3:g} mm within is wanted"
    words = f"position ({p[0]:.3f}, {p[1]:.3f}) m is {place} the container's sides, {asked}"
    return Judged(inset > margin_m, words)


def fallen(height_m: float, release_height_m: float, drop_m: float) -> Judged:
    """Judge by mode height: the origin came to rest lower than at the release.

    Args:
        height_m: Height of the origin, m.
        release_height_m: Height of the origin before the release, m.
        drop_m: Difference that must be exceeded, m.

    Returns:
        The judgement.
    """
    limit = release_height_m - drop_m
    return Judged(height_m < limit, f"height {height_m:.3f} m, wanted below {limit:.3f} m")


def beside(placed: Placed, direction: Array, least_m: float) -> Judged:
    """Judge by modes left and right: the origin is beyond the container along a direction.

    Args:
        placed: Settled pair.
        direction: Direction in the world, (3,), not zero.
        least_m: Distance that must be exceeded, m.

    Returns:
        The judgement.
    """
    d = direction / np.linalg.norm(direction)
    edge = float(np.max(placed.container.corners() @ d))
    gap = float(placed.origin @ d) - edge
    return Judged(gap > least_m, f"{gap * 1e3:.0f} mm beyond the container, threshold {least_m * 1e3:g} mm")


def standing_in(placed: Placed, least: float) -> Judged:
    """Judge by mode flower: the origin is inside the sides, and the boxes share more than a part of their union.

    Args:
        placed: Settled pair.
        least: Largest share that is not enough, 0 to 1.

    Returns:
        The judgement.
    """
    inside, overlap = inside_sides(placed, 0.0), overlapping(placed, least)
    return Judged(inside.good and overlap.good, f"{inside.words}, {overlap.words}")


def raised_in(placed: Placed, least: float, rise_m: float) -> Judged:
    """Judge by mode cup: the underside is higher than the container's, and the overlap is large enough.

    Args:
        placed: Settled pair.
        least: Largest overlap that is not enough, 0 to 1.
        rise_m: Difference of the undersides that must be exceeded, m.

    Returns:
        The judgement.
    """
    rise = underside(placed.object) - underside(placed.container)
    overlap = overlapping(placed, least)
    words = (
        f"underside {rise * 1e3:.0f} mm over the container's, cup_rise {rise_m * 1e3:g} mm, {overlap.words}"
    )
    return Judged(rise > rise_m and overlap.good, words)


def underside(box: OrientedBox) -> float:
    """Return the lowest height of a box.

    Args:
        box: Box in the world.

    Returns:
        The height, m.
    """
    return float(box.corners()[:, 2].min())


def _bounds(box: OrientedBox, axes: Array) -> tuple[Array, Array]:
    along = box.corners() @ axes
    return along.min(axis=0), along.max(axis=0)
