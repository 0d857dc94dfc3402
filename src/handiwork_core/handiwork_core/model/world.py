"""The known state of the world at one instant. All frames are ``world`` unless a name says otherwise; SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from handiwork_core.voxels.voxel_map import VoxelMap

from .articulation import Articulation
from .geometry import Array, Pose
from .suction import SuctionState

Indices = NDArray[np.int64]


class ShapeKind(IntEnum):
    """The kind of a shape. Numbers equal those in ``handiwork_msgs/msg/Shape``."""

    BOX = 1
    SPHERE = 2
    CYLINDER = 3
    CAPSULE = 4
    CONVEX = 5
    MESH = 6


@dataclass(frozen=True, eq=False)  # without slots, so that it can be referred to weakly
class Shape:
    """One solid in its object's frame; all kinds but MESH are convex.

    Attributes:
        kind: The kind.
        size: BOX: full edges, (3,), m. SPHERE: radius, (1,), m. CYLINDER and CAPSULE: radius, length along local z,
            (2,), m, where a capsule's length is that of its straight part. CONVEX and MESH: empty.
        object_T_shape: Pose in the object's frame.
        vertices: CONVEX and MESH: points, (n, 3), m.
        triangles: MESH: rows of ``vertices``, (m, 3), counter-clockwise from outside, which close it
            (``mesh.closed_mesh`` ensures that).
    """

    kind: ShapeKind
    size: Array
    object_T_shape: Pose
    vertices: Array | None = None
    triangles: Indices | None = None


@dataclass(frozen=True, slots=True, eq=False)
class WorldObject:
    """A named rigid body, the union of its shapes; a part of another object if it has an ``articulation``."""

    name: str
    shapes: tuple[Shape, ...]
    is_static: bool = False
    mass_kg: float = 0.0
    articulation: Articulation | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ObjectState:
    """Pose and twist of one object.

    Attributes:
        world_T_object: Its pose.
        world_v_object: Linear velocity in world axes, (3,), m/s.
        world_w_object: Angular velocity in world axes, (3,), rad/s.
        stamp_s: Time of the measurement, s.
        pose_covariance: Covariance of the pose, (6, 6): x, y, z, rotation about the fixed axes x, y, z of world
            [m, rad]; None: the pose is exact. See ``scene.covariance``.
    """

    world_T_object: Pose
    world_v_object: Array
    world_w_object: Array
    stamp_s: float
    pose_covariance: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """A contact of two bodies.

    Attributes:
        a: Name of one body.
        b: Name of the other body.
        force_on_a_n: Net force on ``a`` from ``b`` in world axes, (3,), N.
        point_m: Mean contact point, (3,), m.
    """

    a: str
    b: str
    force_on_a_n: Array
    point_m: Array


@dataclass(frozen=True, slots=True)
class JointState:
    """Measured joints by name: positions, rad or m, and velocities, rad/s or m/s."""

    stamp_s: float
    position: Mapping[str, float]
    velocity: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class World:
    """Immutable snapshot. ``contacts`` is None if the backend has no contact source.

    ``derived`` caches values computed from this snapshot, so that predicates share them; each computation chooses its
    own keys.
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
    """Rises with every change of the planner's own obstacles and attachments; 1 before the first, 0 if unknown."""
    planner_objects: Mapping[str, WorldObject] = field(default_factory=dict)
    """The planner's own obstacles by name; ``objects`` is without them. Their frame is ``world``."""
    planner_attached: Mapping[str, tuple[str, Pose]] = field(default_factory=dict)
    """Objects that the planner's service has attached to the robot, by name: the link, and link_T_object.

    For one of ``planner_objects`` this is link_T_world at the time of the attachment, as its frame is ``world``.
    """
    voxels: VoxelMap | None = None
    """Obstacles that are none of ``objects``; None if nobody looks for them."""


def part_positions(objects: Mapping[str, WorldObject], states: Mapping[str, ObjectState]) -> dict[str, float]:
    """Return the joint positions of all parts, computed from their poses and those of their bodies.

    Args:
        objects: Objects by name.
        states: Their poses by name.

    Returns:
        Joint positions, m or rad, by the name of the part.
    """
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
    """Return the robot's joints together with those of the parts; the robot's joint takes precedence for a common name.

    Args:
        joints: The robot's joints.
        objects: Objects by name.
        states: Their poses by name.
    """
    parts = part_positions(objects, states)
    if not parts:
        return joints
    stamp_s = joints.stamp_s if joints.position else min(states[name].stamp_s for name in parts)
    return JointState(stamp_s, {**parts, **joints.position}, joints.velocity)
