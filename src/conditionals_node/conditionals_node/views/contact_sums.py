"""The sums of one world's contacts by pairs of bodies."""

from __future__ import annotations

import math

from handiwork_core.model.world import (
    Contact,
    World,
    WorldObject,
)

from .views import Unknown

NO_TOUCH = (0.0, 0.0, 0.0, 0.0, math.nan, math.nan, math.nan)
"""Net force, N, sum of sizes, N, and mean point, m, of bodies that do not touch."""
Touch = tuple[float, float, float, float, float, float, float]


GRAVITY_MPS2 = 9.81


def weight_of(item: WorldObject | None) -> float:
    """Return the weight of an object, N; infinite for one that is fixed, or whose mass is not known.

    Args:
        item: The object; None for a body that is no object.
    """
    known = item is not None and not item.is_static and item.mass_kg > 0.0
    return item.mass_kg * GRAVITY_MPS2 if item is not None and known else math.inf


def lifts_of(world: World) -> dict[str, float]:
    """Return the sum of the upward parts of the net forces on each body from each other body, N.

    Args:
        world: The snapshot, with contacts.
    """
    nets: dict[tuple[str, str], float] = {}
    for contact in world.contacts or ():
        z = float(contact.force_on_a_n[2])
        nets[contact.a, contact.b] = nets.get((contact.a, contact.b), 0.0) + z
        nets[contact.b, contact.a] = nets.get((contact.b, contact.a), 0.0) - z
    found: dict[str, float] = {}
    for (on, _), z in nets.items():
        found[on] = found.get(on, 0.0) + max(z, 0.0)
    return found


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
