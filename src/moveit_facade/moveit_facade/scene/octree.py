"""The occupied leaves of an octree from the two streams that OctoMap writes: of occupancy, and of values.

A tree has 16 levels below its root, whose cube has its centre at the tree's origin. Child i of a node lies on the
greater side along x, y and z where bit 0, 1 and 2 of i are set. Both streams go through the nodes depth first.

The stream of occupancy has two bytes for each node with children: two bits for each child, child 0 lowest, 0 for
unknown, 1 for free, 2 for occupied, 3 for one with children, which follows. The stream of values has five bytes for
each node: the logarithm of its odds as a float32, lowest byte first, and one bit for each child that there is.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.voxels.cuboids import map_of_cuboids
from handiwork_core.voxels.voxel_map import CELL_M, MOST_CELLS, VoxelMap

LEVELS = 16
"""Levels below the root."""
MOST_BYTES = 1_000_000
"""The longest stream: its nodes are read one by one."""
MOST_LEAVES = 500_000
"""The greatest number of occupied leaves, and of the cubes into which larger ones are split."""
OCCUPIED, INNER = 2, 3

Numbers = NDArray[np.int64]
Place = tuple[int, int, int, int]
"""Least corner of a node, x, y, z, and its edge, in cells."""
ROOT: Place = (*(-(1 << (LEVELS - 1)),) * 3, 1 << LEVELS)


class BadOctree(ValueError):
    """A stream that is no octree, or one that is too large; the text says what and where."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """The occupied leaves of an octree.

    Attributes:
        low: Least corners, (n, 3), in cells from the tree's origin.
        edge: Edges, (n,), in cells: powers of two.
    """

    low: Numbers
    edge: Numbers

    @classmethod
    def of(cls, places: list[Place]) -> Leaves:
        """Return the leaves at places.

        Args:
            places: The places.
        """
        rows = np.array(places, dtype=np.int64).reshape(-1, 4)
        return cls(rows[:, :3], rows[:, 3])


def read_occupancy(data: bytes) -> Leaves:
    """Read the stream of occupancy; a whole tree has no bytes if it has no nodes.

    Args:
        data: The stream.

    Raises:
        BadOctree: It is cut off, goes on after its end, is too deep or too large, or a node has no children.
    """
    _check_size(data)
    found, waiting, at = list[Place](), [ROOT] if data else [], 0
    while waiting:
        place = waiting.pop()
        _check_left(data, at, 2)
        bits = data[at] | data[at + 1] << 8
        if not bits:
            raise BadOctree(f"the node at byte {at} has no children; send a tree of known leaves, or no data")
        inner = []
        for child in range(8):
            kind = bits >> 2 * child & 3
            if kind == OCCUPIED:
                found.append(_child(place, child))
            elif kind == INNER:
                inner.append(_deeper(_child(place, child), at))
        waiting += reversed(inner)
        at += 2
        _check_count(found)
    _check_end(data, at)
    return Leaves.of(found)


def read_values(data: bytes) -> Leaves:
    """Read the stream of values; leaves with odds of one and more are occupied.

    Args:
        data: The stream.

    Raises:
        BadOctree: It is cut off, goes on after its end, is too deep or too large, or a value is not finite.
    """
    _check_size(data)
    found, waiting, at = list[Place](), [ROOT] if data else [], 0
    while waiting:
        place = waiting.pop()
        _check_left(data, at, 5)
        value, children = struct.unpack_from("<fB", data, at)
        if not -1.0e9 < value < 1.0e9:
            raise BadOctree(
                f"the node at byte {at} has the value {value}; logarithms of odds are finite numbers"
            )
        if children:
            _deeper(place, at)
            waiting += [_child(place, child) for child in range(7, -1, -1) if children >> child & 1]
        elif value >= 0.0:
            found.append(place)
            _check_count(found)
        at += 5
    _check_end(data, at)
    return Leaves.of(found)


def octree_map(leaves: Leaves, resolution_m: float, world_T_tree: Pose, stamp_s: float = 0.0) -> VoxelMap:
    """Return the map of occupied cells that covers the leaves of an octree.

    The cells are those of the tree where its axes are along those of ``world``; else each occupied cell of the tree is
    the cuboid along the axes of ``world`` around it. A tree with too many cells gets cells of twice the edge, as often
    as it takes, each with the box around what is occupied in it.

    Args:
        leaves: The occupied leaves.
        resolution_m: Edge of the tree's cells, m.
        world_T_tree: Pose of the tree.
        stamp_s: Time of the tree, s.

    Raises:
        BadOctree: The resolution is out of its range, or there are too many cells at any edge.
    """
    if not 1.0e-4 <= resolution_m <= CELL_M[1]:
        raise BadOctree(f"the resolution is {resolution_m} m; send cells of 0.0001 to {CELL_M[1]:g} m")
    turn = np.abs(world_T_tree.rotation.matrix())
    per = 1
    while resolution_m * per < CELL_M[0]:
        per *= 2
    while resolution_m * per <= CELL_M[1]:
        if _cubes_of(leaves, per) <= MOST_LEAVES and _cells_of(leaves, resolution_m, turn, per) <= MOST_CELLS:
            low, edge = _split(leaves, per)
            middle = world_T_tree.apply(resolution_m * (low + 0.5 * edge[:, None]))
            half = 0.5 * resolution_m * edge[:, None] * turn.sum(axis=1)
            return map_of_cuboids(middle - half, middle + half, resolution_m * per, stamp_s=stamp_s)
        per *= 2
    count = len(leaves.edge)
    raise BadOctree(
        f"{count} occupied leaves of {resolution_m:g} m are spread over more than {MOST_CELLS} cells of "
        f"{CELL_M[1]:g} m; crop the tree to where the robot can reach"
    )


def _split(leaves: Leaves, per: int) -> tuple[Numbers, Numbers]:
    """Return least corners and edges of the leaves, where those of more than ``per`` cells are split into such."""
    lows, edges = [], []
    for edge in np.unique(leaves.edge).tolist():
        low = leaves.low[leaves.edge == edge]
        if edge > per:
            step = np.arange(0, edge, per)
            inner = np.stack(np.meshgrid(step, step, step, indexing="ij"), axis=-1).reshape(-1, 3)
            low, edge = (low[:, None] + inner).reshape(-1, 3), per
        lows.append(low)
        edges.append(np.full(len(low), edge, dtype=np.int64))
    none = np.zeros((0, 4), dtype=np.int64)
    return np.concatenate([none[:, :3], *lows]), np.concatenate([none[:, 3], *edges])


def _cubes_of(leaves: Leaves, per: int) -> float:
    """Return the number of cubes of ``_split``."""
    return float((np.maximum(leaves.edge / per, 1.0) ** 3).sum())


def _cells_of(leaves: Leaves, resolution_m: float, turn: Array, per: int) -> float:
    """Return a bound of the number of cells around all leaves, where ``turn`` has the sizes of a rotation's entries."""
    if not len(leaves.edge):
        return 1.0
    size = (leaves.low + leaves.edge[:, None]).max(axis=0) - leaves.low.min(axis=0)
    return float(np.prod(np.ceil(turn @ size / per) + 1.0))


def _child(place: Place, child: int) -> Place:
    x, y, z, edge = place
    half = edge >> 1
    return x + half * (child & 1), y + half * (child >> 1 & 1), z + half * (child >> 2), half


def _deeper(place: Place, at: int) -> Place:
    if place[3] <= 1:
        raise BadOctree(
            f"the node at byte {at} has children below level {LEVELS}; a tree has {LEVELS} levels"
        )
    return place


def _check_size(data: bytes) -> None:
    if len(data) > MOST_BYTES:
        text = f"the stream has {len(data)} bytes; send {MOST_BYTES} at most, by a part of the tree or larger cells"
        raise BadOctree(text)


def _check_left(data: bytes, at: int, size: int) -> None:
    if at + size > len(data):
        raise BadOctree(f"the stream of {len(data)} bytes ends within a node at byte {at}")


def _check_count(found: list[Place]) -> None:
    if len(found) > MOST_LEAVES:
        raise BadOctree(f"more than {MOST_LEAVES} leaves are occupied; prune the tree, or send a part of it")


def _check_end(data: bytes, at: int) -> None:
    if at != len(data):
        raise BadOctree(f"the tree ends at byte {at} of {len(data)}; send one tree without a file's header")
