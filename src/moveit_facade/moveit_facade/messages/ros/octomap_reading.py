"""Octomaps of messages as maps of occupied cells."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from std_msgs.msg import Header

from handiwork_ros import conversions as to
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.client_scene import ClientOctomap
from moveit_facade.scene.frames import PLANNING_FRAME, Frames
from moveit_facade.scene.octree import BadOctree, octree_map, read_occupancy, read_values

OCTREE = "OcTree"


def is_given(msg: Any) -> bool:
    """Check whether a change of the scene says something of the octomap; as in MoveIt, its id says so.

    Args:
        msg: ``octomap_msgs/msg/OctomapWithPose``.
    """
    return bool(msg.octomap.id or len(msg.octomap.data))


def client_octomap(msg: Any, frames: Frames, field: str) -> ClientOctomap | None:
    """Read an octomap.

    Args:
        msg: ``octomap_msgs/msg/OctomapWithPose``.
        frames: The frames of now.
        field: Name of the message in errors.

    Returns:
        The octomap; None if the message has no data, which removes it.

    Raises:
        RequestError: The type is not OcTree, the frame is unknown, or the stream is no octree.
        BadMessage: A number is not finite.
    """
    data = np.asarray(msg.octomap.data, dtype=np.int8).tobytes()
    if not data:
        return None
    if msg.octomap.id != OCTREE:
        text = (
            f"{field}.octomap.id is {msg.octomap.id[:80]!r}; send the type {OCTREE!r}, with data of its nodes"
        )
        raise RequestError(ErrorCode.UNRECOGNIZED_GOAL_TYPE, text)
    frame = frames.world_T(msg.header.frame_id, f"{field}.header.frame_id")
    pose = frame @ to.pose_from_msg(msg.origin, f"{field}.origin")
    resolution_m = float(msg.octomap.resolution)
    try:
        if not math.isfinite(resolution_m):
            raise BadOctree(f"the resolution is {resolution_m}; send the edge of the tree's cells in metres")
        leaves = (read_occupancy if msg.octomap.binary else read_values)(data)
        voxels = octree_map(leaves, resolution_m, pose, to.time_from_msg(msg.header.stamp))
    except ValueError as error:
        kind = "occupancy (binary)" if msg.octomap.binary else "values (not binary)"
        text = f"{field}.octomap.data is no octree of {kind}: {error}"
        raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text) from error
    shown = copy.copy(msg)
    shown.header = Header(frame_id=PLANNING_FRAME, stamp=msg.header.stamp)
    shown.origin = to.pose_to_msg(pose)
    return ClientOctomap(voxels, shown)
