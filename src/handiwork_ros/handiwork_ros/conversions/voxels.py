"""Conversions of maps of occupied cells."""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import Point
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from std_msgs.msg import Header

from handiwork_core.model.outcome import Code
from handiwork_core.voxels.voxel_map import VoxelGrid, VoxelMap

from .pose import BadMessage, time_from_msg, time_to_msg

WORLD = "world"


def voxel_map_from_msg(msg: VoxelMapMsg, field: str = "voxel_map") -> VoxelMap:
    """Read a map of occupied cells.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: The frame is not ``world``, the version is 0, a number is not finite or out of its range, or the
            number of bytes does not fit that of the cells; or a box ends before it begins.
    """
    if msg.header.frame_id != WORLD:
        what = f"is {msg.header.frame_id[:80]!r}; send cells along the axes of {WORLD!r}"
        raise BadMessage(f"{field}.header.frame_id", what, Code.UNKNOWN_FRAME)
    if msg.version == 0:
        raise BadMessage(f"{field}.version", "is 0; count from 1")
    shape = (int(msg.size_x), int(msg.size_y), int(msg.size_z))
    try:
        grid = VoxelGrid((msg.origin.x, msg.origin.y, msg.origin.z), float(msg.cell_size), shape)
    except ValueError as error:
        raise BadMessage(field, f"has a bad grid: {error}") from error
    cells = math.prod(shape)
    if len(msg.occupied) != (cells + 7) // 8:
        what = f"has {len(msg.occupied)} bytes; {cells} cells need {(cells + 7) // 8}"
        raise BadMessage(f"{field}.occupied", what)
    bits = np.unpackbits(np.asarray(msg.occupied, dtype=np.uint8), count=cells, bitorder="little")
    boxes = np.asarray(msg.boxes, dtype=np.uint8)
    count = int(np.count_nonzero(bits))
    if len(boxes) not in (0, 6 * count):
        what = f"has {len(boxes)} numbers; {count} occupied cells need {6 * count}, or none"
        raise BadMessage(f"{field}.boxes", what)
    stamp_s, occupied = time_from_msg(msg.header.stamp), bits.astype(np.bool_).reshape(shape)
    try:
        return VoxelMap(
            grid, occupied, int(msg.version), stamp_s, boxes.reshape(-1, 6) if len(boxes) else None
        )
    except ValueError as error:
        raise BadMessage(field, f"has bad boxes: {error}") from error


def voxel_map_to_msg(voxels: VoxelMap) -> VoxelMapMsg:
    """Write a map of occupied cells.

    Args:
        voxels: The map.
    """
    grid = voxels.grid
    (x, y, z), (nx, ny, nz) = grid.corner_m, grid.shape
    message = VoxelMapMsg(version=voxels.version, cell_size=grid.cell_m, origin=Point(x=x, y=y, z=z))
    message.header = Header(frame_id=WORLD, stamp=time_to_msg(voxels.stamp_s))
    message.size_x, message.size_y, message.size_z = nx, ny, nz
    message.occupied.frombytes(np.packbits(voxels.occupied.ravel(), bitorder="little").tobytes())
    if voxels.boxes is not None:
        message.boxes.frombytes(voxels.boxes.astype(np.uint8).tobytes())
    return message
