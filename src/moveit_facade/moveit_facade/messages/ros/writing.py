"""Values of Handiwork as messages of MoveIt."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from sensor_msgs.msg import JointState
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.voxels.voxel_map import VoxelMap
from handiwork_ros import conversions as to
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.acm import AllowedCollisions
from moveit_facade.scene.client_scene import AttachedBody, ClientObject
from moveit_facade.scene.frames import PLANNING_FRAME
from moveit_facade.scene.octree_writing import write_occupancy
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    MoveItErrorCodes,
    RobotState,
    RobotTrajectory,
)
from octomap_msgs.msg import OctomapWithPose

WORLD_TYPE = "handiwork/world"
"""``type.db`` of an object of the world; those of clients keep their own type."""


def success(message: str = "", source: str = "move_group") -> MoveItErrorCodes:
    """Return the message of a success.

    Args:
        message: A sentence; may be empty.
        source: The component.
    """
    return MoveItErrorCodes(val=int(ErrorCode.SUCCESS), message=message, source=source)


def error_code(error: RequestError) -> MoveItErrorCodes:
    """Return the message of an error.

    Args:
        error: The error.
    """
    return MoveItErrorCodes(val=int(error.value), message=error.outcome.message, source=error.source)


def robot_state(
    positions: Mapping[str, float], attached: Sequence[AttachedCollisionObject] = (), stamp: Any = None
) -> RobotState:
    """Return a whole state of the robot.

    Args:
        positions: Joint positions by name, rad or m.
        attached: Objects attached to it.
        stamp: Time of the state; None: zero.
    """
    header = Header(frame_id=PLANNING_FRAME)
    if stamp is not None:
        header.stamp = stamp
    names = list(positions)
    joints = JointState(header=header, name=names, position=[float(positions[name]) for name in names])
    state = RobotState(joint_state=joints, attached_collision_objects=list(attached))
    state.multi_dof_joint_state.header.frame_id = PLANNING_FRAME
    return state


def robot_trajectory(trajectory: JointTrajectory) -> RobotTrajectory:
    """Return a trajectory in the planning frame.

    Args:
        trajectory: The path of the joints; its header is changed.
    """
    trajectory.header.frame_id = PLANNING_FRAME
    return RobotTrajectory(joint_trajectory=trajectory)


def joint_trajectory(names: Sequence[str], columns: tuple[Array, Array, Array, Array]) -> JointTrajectory:
    """Return a timed path.

    Args:
        names: Names of the joints.
        columns: Times, (n,), s; positions, velocities and accelerations, each (n, dof).
    """
    message = JointTrajectory(joint_names=list(names))
    for t, q, qd, qdd in zip(*(column.tolist() for column in columns), strict=True):
        point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd)
        point.time_from_start.sec, rest = divmod(round(t * 1e9), 1_000_000_000)
        point.time_from_start.nanosec = rest
        message.points.append(point)
    return message


def client_object_message(item: ClientObject, *, with_geometry: bool) -> CollisionObject:
    """Return an object of a client as it was sent, at its present pose.

    Args:
        item: The object.
        with_geometry: False leaves out the shapes.
    """
    source: Any = item.source
    message = _object_message(item.body, item.world_T_object, with_geometry=with_geometry)
    if source is not None:
        message.type = source.type
    message.subframe_names = list(item.subframes)
    message.subframe_poses = [to.pose_to_msg(pose) for pose in item.subframes.values()]
    return message


def world_object_message(item: WorldObject, pose: Pose, *, with_geometry: bool) -> CollisionObject:
    """Return an object of the world; its type says that it is one.

    Args:
        item: The object.
        pose: ``world_T_object``.
        with_geometry: False leaves out the shapes.
    """
    message = _object_message(item, pose, with_geometry=with_geometry)
    message.type.db = WORLD_TYPE
    return message


def attached_message(
    name: str, attachment: AttachedBody, item: WorldObject | None, subframes: Mapping[str, Pose]
) -> AttachedCollisionObject:
    """Return an attached object; its pose is that in the frame of the link.

    Args:
        name: Its name.
        attachment: Its attachment.
        item: Its shapes; None if they are not known.
        subframes: Poses in the object by name.
    """
    body = item or WorldObject(name, ())
    inner = _object_message(body, attachment.link_T_object, with_geometry=True)
    inner.header.frame_id = attachment.link
    inner.subframe_names = list(subframes)
    inner.subframe_poses = [to.pose_to_msg(pose) for pose in subframes.values()]
    return AttachedCollisionObject(
        link_name=attachment.link,
        object=inner,
        touch_links=list(attachment.touch_links),
        weight=float(attachment.weight),
    )


def acm_message(matrix: AllowedCollisions) -> AllowedCollisionMatrix:
    """Return the allowed collision matrix.

    Args:
        matrix: The matrix.
    """
    return AllowedCollisionMatrix(
        entry_names=list(matrix.names),
        entry_values=[AllowedCollisionEntry(enabled=row) for row in matrix.rows()],
        default_entry_names=list(matrix.defaults),
        default_entry_values=list(matrix.defaults.values()),
    )


def octomap_message(voxels: VoxelMap) -> OctomapWithPose:
    """Return a map of occupied cells as an octree of type OcTree, whose origin is the corner of the cells.

    Args:
        voxels: The map. The boxes in its cells are left out: an octree has whole cells.
    """
    stamp = to.time_to_msg(voxels.stamp_s)
    message = OctomapWithPose(header=Header(frame_id=PLANNING_FRAME, stamp=stamp))
    message.origin = to.pose_to_msg(Pose.of(voxels.grid.corner_m))
    octomap = message.octomap
    octomap.header, octomap.binary, octomap.id = message.header, True, "OcTree"
    octomap.resolution = voxels.grid.cell_m
    stream = write_occupancy(np.argwhere(voxels.occupied).astype(np.int64))
    octomap.data = array("b", stream)
    return message


def _object_message(item: WorldObject, pose: Pose, *, with_geometry: bool) -> CollisionObject:
    message = CollisionObject(id=item.name, pose=to.pose_to_msg(pose), operation=CollisionObject.ADD)
    message.header.frame_id = PLANNING_FRAME
    for shape in item.shapes if with_geometry else ():
        own = to.pose_to_msg(shape.object_T_shape)
        if shape.kind in (ShapeKind.CONVEX, ShapeKind.MESH):
            message.meshes.append(_mesh(shape))
            message.mesh_poses.append(own)
        else:
            message.primitives.append(_primitive(shape))
            message.primitive_poses.append(own)
    return message


def _primitive(shape: Shape) -> SolidPrimitive:
    sizes = [float(size) for size in shape.size]
    if shape.kind is ShapeKind.BOX:
        return SolidPrimitive(type=SolidPrimitive.BOX, dimensions=sizes)
    if shape.kind is ShapeKind.SPHERE:
        return SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=sizes)
    radius, length = sizes
    if shape.kind is ShapeKind.CAPSULE:  # MoveIt has none: the cylinder around it
        length += 2.0 * radius
    return SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[length, radius])


def _mesh(shape: Shape) -> Mesh:
    points = shape.vertices if shape.vertices is not None else ()
    message = Mesh(vertices=[Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points])
    if shape.triangles is not None:
        message.triangles = [MeshTriangle(vertex_indices=row.tolist()) for row in shape.triangles]
    return message
