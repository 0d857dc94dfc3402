"""What is known of the world at one instant. All frames are ``world`` unless a name says otherwise; SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from .articulation import Articulation
from .geometry import Array, Pose
from .suction import SuctionState

Indices = NDArray[np.int64]


class ShapeKind(IntEnum):
    """Numbers equal those in ``handiwork_msgs/msg/Shape``."""

    BOX = 1
    SPHERE = 2
    CYLINDER = 3
    CAPSULE = 4
    CONVEX = 5
    MESH = 6


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """One solid in its object's frame; all kinds but MESH are convex.

    ``size``: BOX (3,) full edges; SPHERE (1,) radius; CYLINDER and CAPSULE (2,) radius, length along local z, where a
    capsule's length is that of its straight part [m]. CONVEX and MESH have an empty ``size`` and ``vertices`` (n, 3)
    [m]; MESH also has ``triangles`` (m, 3), rows of ``vertices`` counter-clockwise from outside, which close it
    (``mesh.closed_mesh`` sees to that).
    """

    kind: ShapeKind
    size: Array
    object_T_shape: Pose
    vertices: Array | None = None
    triangles: Indices | None = None


@dataclass(frozen=True, slots=True, eq=False)
class WorldObject:
    """A named rigid body, the union of its shapes; a part of another object where it has an ``articulation``."""

    name: str
    shapes: tuple[Shape, ...]
    is_static: bool = False
    mass_kg: float = 0.0
    articulation: Articulation | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ObjectState:
    """Pose and twist of one object; velocities (3,) in world axes [m/s, rad/s]."""

    world_T_object: Pose
    world_v_object: Array
    world_w_object: Array
    stamp_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """Net force on ``a`` from ``b`` (3,) [N] in world axes, and the mean contact point (3,) [m]."""

    a: str
    b: str
    force_on_a_n: Array
    point_m: Array


@dataclass(frozen=True, slots=True)
class JointState:
    """Measured joints by name: positions [rad, m], velocities [rad/s, m/s]."""

    stamp_s: float
    position: Mapping[str, float]
    velocity: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class World:
    """Immutable snapshot. ``contacts`` is None where the backend has no contact source.

    ``derived`` keeps what was computed from this snapshot, so that predicates share it; keys are up to who computes.
    """

    stamp_s: float
    version: int = 0
    objects: Mapping[str, WorldObject] = field(default_factory=dict)
    states: Mapping[str, ObjectState] = field(default_factory=dict)
    contacts: tuple[Contact, ...] | None = None
    contacts_stamp_s: float = 0.0
    joints: JointState = field(default_factory=lambda: JointState(0.0, {}))
    derived: dict[object, object] = field(default_factory=dict, init=False, repr=False, compare=False)
    frames: Mapping[str, Pose] = field(default_factory=dict)
    suction: Mapping[str, SuctionState] = field(default_factory=dict)
    """Suction cups by the names of their grippers."""
    planner_version: int = 0
    """Rises with every change of the obstacles that the planner alone was told of."""
    planner_objects: frozenset[str] = frozenset()
    """Their names; ``objects`` is without them."""


def part_positions(objects: Mapping[str, WorldObject], states: Mapping[str, ObjectState]) -> dict[str, float]:
    """Joint positions [m or rad] of all parts by their names, measured by their poses and those of their bodies."""
    found = {}
    for name, item in objects.items():
        joint = item.articulation
        if joint is not None and name in states and joint.body in states:
            body, part = states[joint.body].world_T_object, states[name].world_T_object
            found[name] = joint.position(body.inverse() @ part)
    return found


def with_parts(
    joints: JointState, objects: Mapping[str, WorldObject], states: Mapping[str, ObjectState]
) -> JointState:
    """The robot's joints together with those of the parts; a name that both have is the robot's."""
    parts = part_positions(objects, states)
    if not parts:
        return joints
    stamp_s = joints.stamp_s if joints.position else min(states[name].stamp_s for name in parts)
    return JointState(stamp_s, {**parts, **joints.position}, joints.velocity)
