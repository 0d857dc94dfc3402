"""From the contact report of PhysX to net forces between our bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.world import Contact

Three = Sequence[float]


class Point(Protocol):
    """One contact point: where [m], and the impulse that the first body gets [N*s]."""

    position: Three
    impulse: Three


class Header(Protocol):
    """Two colliders by their numbers, and which of the points are theirs."""

    collider0: int
    collider1: int
    contact_data_offset: int
    num_contact_data: int


def contacts_of(
    headers: Iterable[Header], points: Sequence[Point], body_of: Callable[[int], str], step_s: float
) -> tuple[Contact, ...]:
    """Net force and mean point for each pair of bodies, each pair once, names in order.

    Args:
        headers: of the report of one step.
        points: of the same report.
        body_of: the body of a collider; empty for what is none of ours.
        step_s: length of that step [s].
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
