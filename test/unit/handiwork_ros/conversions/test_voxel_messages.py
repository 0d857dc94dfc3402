"""Maps of occupied cells as messages: there and back, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from rclpy.serialization import deserialize_message, serialize_message

from handiwork_core.voxels.voxel_map import VoxelGrid, VoxelMap
from handiwork_ros.conversions import BadMessage, voxel_map_from_msg, voxel_map_to_msg


def a_map() -> VoxelMap:
    grid = VoxelGrid((-0.1, 0.2, 0.3), 0.05, (5, 3, 7))
    occupied = np.random.default_rng(1).random(grid.shape) < 0.4
    return VoxelMap(grid, occupied, version=9, stamp_s=12.5)


def test_a_map_comes_back_as_it_was() -> None:
    sent = a_map()
    data = serialize_message(voxel_map_to_msg(sent))
    got = voxel_map_from_msg(deserialize_message(data, VoxelMapMsg))
    assert got.grid == sent.grid
    assert np.array_equal(got.occupied, sent.occupied)
    assert (got.version, got.stamp_s) == (9, 12.5)


def boxed() -> VoxelMap:
    plain = a_map()
    ends = np.random.default_rng(2).integers(0, 256, (int(plain.occupied.sum()), 2, 3))
    return replace(plain, boxes=np.sort(ends, axis=1).reshape(-1, 6).astype(np.uint8))


def test_boxes_come_back_and_a_map_without_them_has_none() -> None:
    sent = boxed()
    got = voxel_map_from_msg(deserialize_message(serialize_message(voxel_map_to_msg(sent)), VoxelMapMsg))
    assert got.boxes is not None
    assert np.array_equal(got.boxes, sent.boxes)
    assert voxel_map_from_msg(voxel_map_to_msg(a_map())).boxes is None


def test_boxes_that_do_not_fit_the_cells_are_refused() -> None:
    for change, word in ((lambda m: m.boxes.append(1), "need"), (lambda m: m.boxes.reverse(), "ends before")):
        message = voxel_map_to_msg(boxed())
        change(message)
        with pytest.raises(BadMessage, match=word):
            voxel_map_from_msg(message)


def test_the_bits_are_as_the_message_says() -> None:
    occupied = np.zeros((2, 2, 3), dtype=np.bool_)
    occupied[0, 0, 2] = occupied[1, 0, 0] = True  # the third cell, and the seventh
    grid = VoxelGrid((0.0, 0.0, 0.0), 0.1, (2, 2, 3))
    assert bytes(voxel_map_to_msg(VoxelMap(grid, occupied)).occupied) == bytes([0b01000100, 0])


def spoilt(name: str, value: Any) -> VoxelMapMsg:
    message = voxel_map_to_msg(a_map())
    owner = message
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    setattr(owner, last, value)
    return message


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("header.frame_id", "camera", "camera"),
        ("version", 0, "version is 0"),
        ("cell_size", 0.0, "cell"),
        ("cell_size", float("nan"), "not finite"),
        ("origin.x", float("inf"), "not finite"),
        ("size_x", 0, "size"),
        ("size_y", 4_000_000_000, "smaller box"),
        ("occupied", [1, 2, 3], "3 bytes; 105 cells need 14"),
    ],
)
def test_a_map_that_cannot_be_is_refused_by_name(name: str, value: Any, word: str) -> None:
    with pytest.raises(BadMessage, match=word):
        voxel_map_from_msg(spoilt(name, value))
