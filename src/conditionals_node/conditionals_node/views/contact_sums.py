"""The sums of one world's contacts by pairs of bodies."""

from __future__ import annotations

import math

from handiwork_core.model.world import (
    Contact,
    World,
)

from .views import Unknown

NO_TOUCH = (0.0, 0.0, 0.0, 0.0, math.nan, math.nan, math.nan)
"""Net force, N, sum of sizes, N, and mean point, m, of bodies that do not touch."""
Touch = tuple[float, float, float, float, float, float, float]


def contacts_by_body(world: World) -> dict[str, list[Contact]]:
    """Return the contacts by each of their bodies.

    Args:
        world: The snapshot.

    Raises:
        Unknown: The world has no contact source.
    """
    if world.contacts is None:
        raise Unknown("the world has no contact source; start one that publishes world/contacts")
    found: dict[str, list[Contact]] = {}
    for contact in world.contacts:
        found.setdefault(contact.a, []).append(contact)
        found.setdefault(contact.b, []).append(contact)
    return found


def summed_contacts(on: str, by: str, index: dict[str, list[Contact]]) -> Touch:
    """Return the net force on one body from another, the sum of the sizes, and the mean point.

    Args:
        on: Name of the one body.
        by: Name of the other body.
        index: Contacts by each of their bodies.

    Returns:
        Net force, N, sum of sizes, N, and mean point in world, m; ``NO_TOUCH`` if the bodies do not touch.

    Raises:
        Unknown: A force is not finite.
    """
    of_one, of_other = index.get(on, ()), index.get(by, ())
    shorter = of_one if len(of_one) < len(of_other) else of_other
    total, size, place, count = [0.0, 0.0, 0.0], 0.0, [0.0, 0.0, 0.0], 0
    for contact in shorter:
        if (contact.a, contact.b) == (on, by):
            sign = 1.0
        elif (contact.b, contact.a) == (on, by):
            sign = -1.0
        else:
            continue
        force, point = contact.force_on_a_n.tolist(), contact.point_m.tolist()
        total = [t + sign * f for t, f in zip(total, force, strict=True)]
        place = [t + p for t, p in zip(place, point, strict=True)]
        size += math.hypot(*force)
        count += 1
    if count == 0:
        return NO_TOUCH
    if not math.isfinite(size):
        raise Unknown(f"the force between {on!r} and {by!r} is not a number")
    return (*total, size, *(p / count for p in place))  # type: ignore[return-value]  # three and three
