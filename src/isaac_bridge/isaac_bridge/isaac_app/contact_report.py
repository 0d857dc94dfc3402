"""Computes net forces between our bodies from the contact report of PhysX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from handiwork_core.model.geometry import Array, frozen
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
    """Return net force and mean point for each pair of bodies, each pair once, names in alphabetical order.

    Args:
        headers: Headers of one step's report.
        points: Points of the same report.
        body_of: Returns the body of a collider; empty for one that is not ours.
        step_s: Length of that step, s.

    Returns:
        Contacts; forces in N on the first body.
    """
    found: dict[tuple[str, str], list[tuple[Array, Array]]] = {}
    for header in headers:
        one, other = body_of(header.collider0), body_of(header.collider1)
        if not one or not other or one == other:
            continue
        sign = 1.0 if one < other else -1.0
        start = header.contact_data_offset
        for point in points[start : start + header.num_contact_data]:
            row = (sign * np.array([*point.impulse]) / step_s, np.array([*point.position]))
            found.setdefault((min(one, other), max(one, other)), []).append(row)
    return tuple(
        Contact(
            a, b, frozen(sum(force for force, _ in rows)), frozen(np.mean([at for _, at in rows], axis=0))
        )
        for (a, b), rows in sorted(found.items())
    )
