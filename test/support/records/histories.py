"""Random histories of worlds in which everything that tasks, events and verdicts depend on changes often."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.world import World
from support.records.tabletop import IN_BIN, ON_TABLE, OVER_BIN, START, Shown

PLACES = {
    "cube": (
        ON_TABLE,
        (0.0, 0.0, 0.2),
        OVER_BIN,
        IN_BIN,
        IN_BIN,
        (0.5, 0.0, 0.12),
        (0.7, 0.0, 0.02),
        (1.4, 0.0, -0.7),
    ),
    "can": (START["can"], OVER_BIN, (0.55, 0.05, 0.05), (0.6, 0.0, 0.14), (0.0, 1.3, 0.04)),
}
STEPS = 120
EXPRESSIONS = (
    "object_in_container(object=cube, container=bin)",
    "not object_in_container(object=[cube, can], container=bin, logical=any)",
    "choose(1, object_grabbed(object=[cube, can]), gripper_open(), object_above(object=can, reference_object=bin))",
    "at_least(2, object_stationary(object=[cube, can]), not gripper_open()) and not object_grabbed(object=nobody)",
    "object_grabbed(object=nobody) or (object_upright(object=can) and not object_grabbed(object=cube))",
)


def carried(name: str) -> list[Shown]:
    """Return a pick and place that goes well, and a while of rest."""
    x, y, _ = START[name]
    way = [START[name], (x, y, 0.2), OVER_BIN, IN_BIN]
    held = [Shown({name: place}, {name: 0.2}, held=(name,)) for place in way]
    return [*held, *[Shown({name: IN_BIN}, {name: 0.01 * int(i < 3)}) for i in range(6)]]


def at_random(rng: np.random.Generator, shown: Shown) -> Shown:
    """Return the same worlds with another place of an object, other touches and other speeds."""
    name = ("cube", "can")[int(rng.random() < 0.3)]
    places = {**shown.places, name: PLACES[name][rng.integers(len(PLACES[name]))]}
    return Shown(
        places,
        {other: float(rng.choice([0.0, 0.019, 0.04, 0.4])) for other in places if rng.random() < 0.5},
        held=tuple(other for other in places if rng.random() < 0.35),
        touched=tuple(body for body in ("cube", "can", "bin", "table") if rng.random() < 0.1),
        pressed=tuple((other, "bin") for other in places if rng.random() < 0.5),
        opening=float(rng.choice([0.0, 0.01, 0.02, 0.04])),
    )


def history(rng: np.random.Generator, world: int) -> list[World]:
    """Return snapshots that stay for a while and then jump, so that all kinds of changes are frequent."""
    found: list[Shown] = [Shown()]
    while len(found) < STEPS:
        chance = rng.random()
        if chance < 0.08:
            found += carried("cube" if chance < 0.05 else "can")
        else:
            found.append(at_random(rng, found[-1]) if chance < 0.4 else found[-1])
    return [shown.world(1.0 + 3.0 * world + 0.1 * i) for i, shown in enumerate(found[:STEPS])]
