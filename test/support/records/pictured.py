"""Small worlds that a person can picture."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)

FINGERS = ("r/left", "r/right")


def solid(kind: ShapeKind, size: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0)) -> Shape:
    return Shape(kind, frozen(size), Pose.of(at))


def box(name: str, *size: float) -> WorldObject:
    return WorldObject(name, (solid(ShapeKind.BOX, size),))


def mesh(name: str, points: Sequence[Sequence[float]]) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), frozen(points)),))


BIN = WorldObject(
    "bin",
    (
        solid(ShapeKind.BOX, (0.24, 0.24, 0.01), (0.0, 0.0, 0.005)),
        solid(ShapeKind.BOX, (0.01, 0.24, 0.1), (0.115, 0.0, 0.05)),
        solid(ShapeKind.BOX, (0.01, 0.24, 0.1), (-0.115, 0.0, 0.05)),
        solid(ShapeKind.BOX, (0.22, 0.01, 0.1), (0.0, 0.115, 0.05)),
        solid(ShapeKind.BOX, (0.22, 0.01, 0.1), (0.0, -0.115, 0.05)),
    ),
)
CUBE, TABLE = box("cube", 0.04, 0.04, 0.04), box("table", 1.0, 1.0, 0.05)


def state(
    pose: Pose, v: Sequence[float] = (0.0, 0.0, 0.0), w: Sequence[float] = (0.0, 0.0, 0.0)
) -> ObjectState:
    return ObjectState(pose, frozen(v), frozen(w), 0.0)


def world(
    *items: tuple[WorldObject, Pose], contacts: tuple[Contact, ...] | None = (), opening: float = 0.0
) -> World:
    return World(
        0.0,
        objects={item.name: item for item, _ in items},
        states={item.name: state(pose) for item, pose in items},
        contacts=contacts,
        joints=JointState(0.0, {"finger": opening}),
    )


def at(x: float, y: float, z: float) -> Pose:
    return Pose.of((x, y, z))


def touch(a: str, b: str, force: Sequence[float], point: Sequence[float] = (0.0, 0.0, 0.0)) -> Contact:
    return Contact(a, b, frozen(force), frozen(point))
