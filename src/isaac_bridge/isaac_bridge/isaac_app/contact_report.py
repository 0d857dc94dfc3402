"""Computes forces between our bodies from the contact report of PhysX; those that squeeze are kept apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from handiwork_core.model.geometry import frozen
from handiwork_core.model.opposed_forces import summed_by_side
from handiwork_core.model.world import Contact

Three = Sequence[float]


class ReportedPoint(Protocol):
    """One contact point.

    Attributes:
        position: Place in the world, m.
        impulse: Impulse on the first body, N*s.
    """

    position: Three
    impulse: Three


class Header(Protocol):
    """Two colliders by their numbers, with the range of their points.

    Attributes:
        collider0: Number of the first collider.
        collider1: Number of the second collider.
        contact_data_offset: Index of their first point.
        num_contact_data: Number of their points.
    """

    collider0: int
    collider1: int
    contact_data_offset: int
    num_contact_data: int


def contacts_of(
    headers: Iterable[Header], points: Sequence[ReportedPoint], body_of: Callable[[int], str], step_s: float
) -> tuple[Contact, ...]:
    """Return net force and mean point for each pair of bodies, names in alphabetical order.

    A pair comes once, or twice if one body squeezes the other; see ``summed_by_side``.

    Args:
        headers: Headers of one step's report.
        points: Points of the same report.
        body_of: Returns the body of a collider; empty for one that is not ours.
        step_s: Length of that step, s.

    Returns:
        Contacts; forces in N on the first body.
    """
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for header in headers:
        one, other = body_of(header.collider0), body_of(header.collider1)
        if not one or not other or one == other:
            continue
        sign = 1.0 if one < other else -1.0
        start = header.contact_data_offset
        for point in points[start : start + header.num_contact_data]:
            row = (*(sign * float(i) / step_s for i in point.impulse), *map(float, point.position))
            found.setdefault((min(one, other), max(one, other)), []).append(row)
    if not found:
        return ()
    names = sorted(found)
    rows = np.array([row for pair in names for row in found[pair]])
    members = np.repeat(np.arange(len(names)), [len(found[pair]) for pair in names])
    pairs, forces, places = summed_by_side(rows[:, :3], rows[:, 3:], members)
    return tuple(
        Contact(names[pair][0], names[pair][1], frozen(force), frozen(place))
        for pair, force, place in zip(pairs, forces, places, strict=True)
    )
