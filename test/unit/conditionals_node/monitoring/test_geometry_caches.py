"""The monitor clears its caches of geometry when the geometry changes."""

from __future__ import annotations

import gc

import numpy as np

from conditionals_node.expressions.build import Builder
from conditionals_node.monitoring.monitor import ConditionMonitor
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

NAMES = [f"crate_{k}" for k in range(8)]
STILL = frozen(np.zeros(3))


def crates() -> dict[str, WorldObject]:
    shape = Shape(ShapeKind.BOX, frozen((0.2, 0.3, 0.1)), Pose.identity())
    return {name: WorldObject(name, (shape,)) for name in NAMES}


def world(objects: dict[str, WorldObject], stamp_s: float) -> World:
    states = {
        name: ObjectState(Pose.of((0.0, 0.0, 0.5 * k)), STILL, STILL, stamp_s) for k, name in enumerate(NAMES)
    }
    return World(stamp_s, objects=objects, states=states, contacts=(), contacts_stamp_s=stamp_s)


def living() -> int:
    gc.collect()
    return sum(isinstance(item, WorldObject) and item.name in NAMES for item in gc.get_objects())


def test_objects_of_former_worlds_are_not_kept() -> None:
    builder, monitor = (
        Builder(load_robot(ROBOTS / "fr3")),
        ConditionMonitor(1.0),
    )
    for upper, lower in zip(NAMES[1:], NAMES, strict=False):
        for name, container in (("object_above", "reference_object"), ("object_in_container", "container")):
            monitor.watch(builder.build(name, {"object": upper, container: lower}), 0.0)
    for reset in range(40):
        objects = crates()
        for step in range(3):
            now_s = 1.0 + reset + 0.1 * step
            monitor.update(world(objects, now_s), now_s)
    assert all(shown.finding.truth is not Truth.UNKNOWN for shown in monitor.shown())
    assert living() <= 2 * len(NAMES)
