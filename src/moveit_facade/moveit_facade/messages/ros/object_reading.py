"""Collision objects of messages as objects of the world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handiwork_core.intake.limits import MESH_TRIANGLES, NAME_CHARACTERS, SHAPES_PER_OBJECT
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import Shape, WorldObject
from handiwork_core.voxels.voxel_map import UNMODELLED
from handiwork_ros import conversions as to
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.acm import OCTOMAP
from moveit_facade.scene.client_scene import ClientObject
from moveit_facade.scene.frames import Frames
from moveit_facade.scene.shapes import mesh_shape, plane_shape, solid

ADD, REMOVE, APPEND, MOVE = (bytes([value]) for value in range(4))
"""The values of ``operation`` of ``moveit_msgs/msg/CollisionObject``."""


@dataclass(frozen=True)
class ReadObject:
    """An object as it was read.

    Attributes:
        item: The object.
        notes: One sentence for each mesh whose hull is used.
    """

    item: ClientObject
    notes: tuple[str, ...]


def name_of(msg: Any, field: str) -> str:
    """Read the id of an object.

    Args:
        msg: ``moveit_msgs/msg/CollisionObject``.
        field: Name of the message in errors.

    Raises:
        RequestError: It is empty or too long, or the name of the octomap.
    """
    name = str(msg.id)
    if not name or len(name) > NAME_CHARACTERS:
        text = f"{field}.id has {len(name)} characters; name the object with 1 to {NAME_CHARACTERS}"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    if name in (OCTOMAP, UNMODELLED):
        text = f"{field}.id is {name!r}, the name of all that the octomap occupies; choose another id"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    return name


def has_shapes(msg: Any) -> bool:
    """Check whether an object message has geometry.

    Args:
        msg: ``moveit_msgs/msg/CollisionObject``.
    """
    return bool(msg.primitives or msg.meshes or msg.planes)


def world_T_object(msg: Any, frames: Frames, field: str) -> Pose:
    """Read the pose of an object.

    Args:
        msg: ``moveit_msgs/msg/CollisionObject``.
        frames: The frames of now.
        field: Name of the message in errors.

    Raises:
        RequestError: The frame is unknown.
        BadMessage: The pose is malformed.
    """
    frame = frames.world_T(msg.header.frame_id, f"{field}.header.frame_id")
    return frame @ to.pose_from_msg(msg.pose, f"{field}.pose")


def client_object(msg: Any, frames: Frames, field: str) -> ReadObject:
    """Read an object with its geometry.

    As in MoveIt, the pose of an object whose own pose is the identity and that has one shape is that of the shape.

    Args:
        msg: ``moveit_msgs/msg/CollisionObject``.
        frames: The frames of now.
        field: Name of the message in errors.

    Raises:
        RequestError: There is no geometry, the numbers of shapes and poses differ, or a shape is malformed.
        BadMessage: A pose is malformed, or a list is too long.
    """
    name = name_of(msg, field)
    count = len(msg.primitives) + len(msg.meshes) + len(msg.planes)
    to.at_most(f"{field} {name!r}", count, SHAPES_PER_OBJECT, "shapes")
    if not count:
        text = f"{field} {name!r} has no geometry; send primitives, meshes or planes, each with a pose"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    pose = world_T_object(msg, frames, field)
    shapes, notes = _shapes(msg, name, field)
    if len(shapes) == 1 and _is_identity(to.pose_from_msg(msg.pose, f"{field}.pose")):
        pose = pose @ (own := _first_pose(msg, field))
        shapes = [_moved(shapes[0], own.inverse())]
    if len(msg.subframe_names) != len(msg.subframe_poses):
        text = (
            f"{field} {name!r} has {len(msg.subframe_names)} subframe_names and {len(msg.subframe_poses)} "
            "subframe_poses; send one pose for each name"
        )
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
    subframes = {
        str(key): to.pose_from_msg(value, f"{field}.subframe_poses[{i}]")
        for i, (key, value) in enumerate(zip(msg.subframe_names, msg.subframe_poses, strict=True))
    }
    body = WorldObject(name, tuple(shapes), is_static=True)
    return ReadObject(ClientObject(body, pose, subframes, msg), tuple(notes))


def _shapes(msg: Any, name: str, field: str) -> tuple[list[Shape], list[str]]:
    shapes, notes = list[Shape](), list[str]()
    for kind in ("primitive", "mesh", "plane"):
        parts, poses = (
            getattr(msg, f"{kind}es" if kind == "mesh" else f"{kind}s"),
            getattr(msg, f"{kind}_poses"),
        )
        # A single shape may come without a pose: it is at that of the object.
        if len(poses) not in (len(parts), 0 if len(parts) == 1 else len(parts)):
            text = f"{field} {name!r} has {len(parts)} {kind} shapes and {len(poses)} poses; send one pose for each"
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        for i, part in enumerate(parts):
            where = f"{field}.{kind}[{i}]"
            pose = to.pose_from_msg(poses[i], f"{where}.pose") if len(poses) else Pose.identity()
            shape, note = _shape(kind, part, pose, where)
            shapes.append(shape)
            notes += [note] if note else []
    return shapes, notes


def _shape(kind: str, part: Any, pose: Pose, field: str) -> tuple[Shape, str]:
    if kind == "plane":
        return plane_shape(list(part.coef), pose, field), ""
    if kind == "primitive":
        corners = [(p.x, p.y, p.z) for p in part.polygon.points]
        return solid(part.type, list(part.dimensions), pose, corners, field), ""
    to.at_most(field, len(part.triangles), MESH_TRIANGLES, "triangles")
    vertices = np.array([(p.x, p.y, p.z) for p in part.vertices])
    triangles = np.array([t.vertex_indices for t in part.triangles], dtype=np.int64)
    return mesh_shape(vertices, triangles, pose, field)


def _first_pose(msg: Any, field: str) -> Pose:
    poses = [*msg.primitive_poses, *msg.mesh_poses, *msg.plane_poses]
    return to.pose_from_msg(poses[0], f"{field}.pose") if poses else Pose.identity()


def _moved(shape: Shape, pose: Pose) -> Shape:
    return replace(shape, object_T_shape=pose @ shape.object_T_shape)


def _is_identity(pose: Pose) -> bool:
    return pose.almost_equal(Pose.identity(), within_m=1e-9, within_rad=1e-9)
