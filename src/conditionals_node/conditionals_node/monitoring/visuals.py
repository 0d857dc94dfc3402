"""The drawings of a condition: hull, centroid and cone, as lines and points. Pure."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conditionals_node.expressions.expression import Expression
from conditionals_node.spaces.hulls import GeometryError, hull
from handiwork_core.contracts.predicate import Predicate, Truth
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import World, WorldObject

CONE_LENGTH_M = 0.15
CONE_SIDES = 16
FLAT_EDGE = 0.999
"""Edges between faces whose normals have a product of at least this are not drawn."""
DIRECTIONS = {
    "object_left_of": (0.0, 1.0),
    "object_right_of": (0.0, -1.0),
    "object_in_front_of": (-1.0, 0.0),
    "object_behind": (1.0, 0.0),
}
"""Axis (x, y) in the frame of reference; the opposite when mirrored."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """One drawing.

    Attributes:
        what: "hull", "centroid" or "cone".
        subject: Name of the object.
        truth: Value of the condition.
        world_T_points: Pose of the frame of ``points``.
        points: (n, 3), m: pairs are lines; a single point is a dot.
    """

    what: str
    subject: str
    truth: Truth
    world_T_points: Pose
    points: Array


def draw(expression: Expression, truth: Truth, world: World) -> Iterator[Drawing]:
    """Draw every object of a condition once, and the cones of its predicates.

    Args:
        expression: The condition.
        truth: Its value, which all drawings get.
        world: The snapshot; objects without pose or geometry are left out.

    Yields:
        One drawing for each hull, centroid and cone.
    """
    seen: set[tuple[str, str]] = set()
    for leaf in expression.leaves():
        for item in itertools.chain(
            _bodies(leaf.predicate, truth, world), _cone(leaf.predicate, truth, world)
        ):
            if (item.what, item.subject) not in seen:
                seen.add((item.what, item.subject))
                yield item


def _bodies(predicate: Predicate, truth: Truth, world: World) -> Iterator[Drawing]:
    for name in predicate.subjects():
        item, state = world.objects.get(name), world.states.get(name)
        if item is None or state is None:
            continue
        try:
            shape, lines = hull(item), edges(item)
        except GeometryError:
            continue
        yield Drawing("hull", name, truth, state.world_T_object, lines)
        yield Drawing("centroid", name, truth, state.world_T_object, shape.centroid[None])


def _cone(predicate: Predicate, truth: Truth, world: World) -> Iterator[Drawing]:
    """Yield the cone of a predicate: up from an object for support, from the reference for the four directions."""
    half_deg = getattr(predicate, "cone_deg", None)
    apex = getattr(predicate, "reference_object" if predicate.name in DIRECTIONS else "object", None)
    state = world.states.get(apex) if isinstance(apex, str) else None
    if half_deg is None or state is None:
        return
    turn = _up_to(_axis(predicate, world))
    pose = Pose.of(state.world_T_object.translation_m, turn)
    yield Drawing("cone", str(apex), truth, pose, _cone_lines(math.radians(half_deg)))


def _axis(predicate: Predicate, world: World) -> Array:
    if predicate.name not in DIRECTIONS:
        return np.array([0.0, 0.0, 1.0])
    x, y = DIRECTIONS[predicate.name]
    sign = -1.0 if getattr(predicate, "mirrored", False) else 1.0
    frame = getattr(predicate, "frame_of_reference", "world")
    pose = (
        world.states[frame].world_T_object
        if frame in world.states
        else world.frames.get(frame, Pose.identity())
    )
    axis = pose.rotation.matrix() @ np.array([sign * x, sign * y, 0.0])
    axis[2] = 0.0
    length = float(np.linalg.norm(axis))
    return np.asarray(axis / length) if length > 1e-9 else np.array([0.0, 0.0, 1.0])


def _up_to(axis: Array) -> Rotation:
    """Return the rotation that brings z to ``axis``."""
    cross = np.cross((0.0, 0.0, 1.0), axis)
    length = float(np.linalg.norm(cross))
    return (
        Rotation.identity() if length < 1e-9 else Rotation.from_axis_angle(cross, math.acos(float(axis[2])))
    )


@functools.lru_cache(maxsize=64)
def _cone_lines(half_rad: float) -> Array:
    """Return the lines of a cone about z with its tip in the origin."""
    angle = np.arange(CONE_SIDES) * (2.0 * math.pi / CONE_SIDES)
    radius, height = CONE_LENGTH_M * math.sin(half_rad), CONE_LENGTH_M * math.cos(half_rad)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(CONE_SIDES, height)], axis=1)
    sides = np.stack([np.zeros((CONE_SIDES, 3)), rim], axis=1)[::2]
    return np.vstack([np.stack([rim, np.roll(rim, -1, axis=0)], axis=1), sides]).reshape(-1, 3)


@functools.lru_cache(maxsize=512)
def edges(item: WorldObject) -> Array:
    """Return lines along the edges of an object's hull, without those across flat faces.

    Args:
        item: The object.

    Returns:
        Points (2 n, 3) in the object's frame, m; pairs are lines.
    """
    shape = hull(item)
    corners = shape.vertices[shape.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sides: dict[tuple[int, int], list[int]] = {}
    for t, triangle in enumerate(shape.triangles.tolist()):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            sides.setdefault((min(triangle[a], triangle[b]), max(triangle[a], triangle[b])), []).append(t)
    sharp = [
        edge
        for edge, pair in sides.items()
        if len(pair) != 2 or abs(float(normals[pair[0]] @ normals[pair[1]])) < FLAT_EDGE
    ]
    return np.asarray(shape.vertices[np.array(sharp).ravel()])
