"""Octrees of OctoMap, against streams that are put together here bit by bit from sets of cells."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.voxels.voxel_map import MOST_CELLS
from moveit_facade.scene.octree import (
    MOST_BYTES,
    MOST_LEAVES,
    BadOctree,
    Leaves,
    octree_map,
    read_occupancy,
    read_values,
)
from moveit_facade.scene.octree_writing import write_occupancy
from support.octrees import HALF, Cell, Node, occupancy, tree, values


def cells_of(leaves: Leaves) -> set[Cell]:
    found = set()
    for low, edge in zip(leaves.low.tolist(), leaves.edge.tolist(), strict=True):
        for step in np.ndindex(edge, edge, edge):
            cell = (low[0] + step[0], low[1] + step[1], low[2] + step[2])
            assert cell not in found
            found.add(cell)
    return found


def drawn(seed: int) -> tuple[set[Cell], set[Cell]]:
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.integers(-40, 40, (300, 3)).tolist()]
    block = {(x, y, z) for x in range(-8, 8) for y in range(4) for z in range(-4, 0)}
    occupied = {*rows[:150], *block}
    return occupied, set(rows[150:]) - occupied


@pytest.mark.parametrize("seed", range(3))
def test_both_streams_have_the_cells_from_which_they_were_made(seed: int) -> None:
    occupied, free = drawn(seed)
    root = tree(occupied, free)
    assert cells_of(read_occupancy(occupancy(root))) == occupied
    found = read_values(values(root))
    assert cells_of(found) == occupied
    assert found.edge.max() == 4, "the block is of pruned leaves"


@pytest.mark.parametrize("seed", range(3))
def test_cells_are_written_as_the_format_has_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.unique(rng.integers(-(1 << 15), 1 << 15, (200, 3)) // (1, 40, 900), axis=0)
    cells = {tuple(row) for row in rows.tolist()}
    assert write_occupancy(rng.permutation(rows)) == occupancy(tree(cells)), "no eight of them are joined"
    block = np.argwhere(np.ones((5, 4, 3), dtype=bool)) - 2
    assert cells_of(read_occupancy(write_occupancy(block))) == {tuple(row) for row in block.tolist()}
    assert write_occupancy(block[:0]) == b""


def test_the_bytes_of_one_cell_at_the_origin_are_those_of_the_format() -> None:
    # Cell 0 0 0: child 7 of the root, and child 0 at the fifteen levels below, of which the last is a leaf.
    stream = bytes([0, 0b11000000, *[0b11, 0] * 14, 0b10, 0])
    assert occupancy(tree({(0, 0, 0)})) == stream
    assert cells_of(read_occupancy(stream)) == {(0, 0, 0)}


def test_a_leaf_with_even_odds_is_occupied_and_one_with_less_is_not() -> None:
    for value, count in ((0.0, 1), (-0.0001, 0)):
        root = tree({(3, 2, 1)})
        node = root
        while node.children:
            (node,) = node.children.values()
        node.value = value
        assert len(read_values(values(root)).edge) == count


def test_no_data_is_an_empty_map() -> None:
    for read in (read_occupancy, read_values):
        assert not octree_map(read(b""), 0.05, Pose.identity()).occupied.any()


GOOD = tree({(1, 2, 3), (-5, 0, 0)}, {(9, 9, 9)})
DEEP = bytes([0, 0b11000000, *[0b11, 0] * 16])
BAD = {
    "cut off": (read_occupancy, occupancy(GOOD)[:-1], "ends within a node at byte"),
    "cut between nodes": (read_occupancy, occupancy(GOOD)[:-2], "ends within a node at byte"),
    "bytes behind": (read_occupancy, occupancy(GOOD) + b"\x01", "ends at byte"),
    "no children": (read_occupancy, bytes(2), "byte 0 has no children"),
    "too deep": (read_occupancy, DEEP, "below level 16"),
    "too long": (read_occupancy, bytes(MOST_BYTES + 1), f"send {MOST_BYTES} at most"),
    "values cut off": (read_values, values(GOOD)[:-3], "ends within a node at byte"),
    "values behind": (read_values, values(GOOD) + b"\x01", "ends at byte"),
    "values too deep": (read_values, b"\0\0\0\0\x01" * 17, "below level 16"),
    "value of NaN": (read_values, struct.pack("<fB", np.nan, 0), "has the value nan"),
    "value of inf": (read_values, struct.pack("<fB", np.inf, 1), "has the value inf"),
    "a file": (read_occupancy, b"# Octomap OcTree binary file\n", "byte"),
}


@pytest.mark.parametrize(("read", "data", "words"), BAD.values(), ids=BAD.keys())
def test_a_stream_that_is_no_octree_is_refused_with_the_place(read, data: bytes, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadOctree, match=words):
        read(data)


def test_random_bytes_end_in_a_tree_or_a_sentence() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        data = rng.bytes(int(rng.integers(1, 400)))
        for read in (read_occupancy, read_values):
            try:
                found = read(data)
            except BadOctree:
                continue
            assert len(found.low) == len(found.edge)


def test_the_number_of_leaves_is_bounded() -> None:
    def full(levels: int) -> bytes:
        return b"\xaa\xaa" if levels == 1 else b"\xff\xff" + 8 * full(levels - 1)

    with pytest.raises(BadOctree, match=str(MOST_LEAVES)):
        read_occupancy(full(7))


def test_cells_of_a_tree_along_the_axes_are_those_of_the_map() -> None:
    occupied, free = drawn(1)
    leaves = read_occupancy(occupancy(tree(occupied, free)))
    quarter = Pose.of((0.313, -0.2, 0.4), Rotation.from_matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    for pose in (Pose.of((0.313, -0.2, 0.4)), quarter):
        voxels = octree_map(leaves, 0.05, pose, 7.5)
        assert voxels.boxes is None
        assert voxels.stamp_s == 7.5
        wanted = pose.apply(0.05 * (np.array(sorted(occupied)) + 0.5))
        cells, inside = voxels.grid.cells_of(wanted)
        assert inside.all()
        assert voxels.occupied.sum() == len(occupied) == voxels.occupied[tuple(cells.T)].sum()
        np.testing.assert_allclose(voxels.grid.first_m + 0.05 * cells, wanted, atol=1e-9)


def covers(voxels, points: np.ndarray) -> np.ndarray:  # type: ignore[no-untyped-def, type-arg]
    low, high = voxels.corners()
    return np.array([bool(((low <= p + 1e-9) & (high >= p - 1e-9)).all(axis=1).any()) for p in points])


def test_a_turned_tree_is_covered_and_not_by_much() -> None:
    leaves = read_occupancy(occupancy(tree({(0, 0, 0), (7, -3, 2), *np.ndindex(4, 4, 4)})))
    pose = Pose.of((0.5, 0.1, 0.2), Rotation.from_rpy(0.3, -0.5, 0.9))
    voxels = octree_map(leaves, 0.05, pose)
    rng = np.random.default_rng(2)
    inner = np.concatenate(
        [
            low + edge * rng.random((30, 3))
            for low, edge in zip(leaves.low.tolist(), leaves.edge.tolist(), strict=True)
        ]
    )
    assert covers(voxels, pose.apply(0.05 * inner)).all()
    reach = np.sqrt(3.0) * 0.05
    corners = pose.inverse().apply(np.concatenate(voxels.corners())) / 0.05
    gaps = [
        np.linalg.norm(
            np.maximum(np.maximum(leaves.low - c, c - leaves.low - leaves.edge[:, None]), 0.0), axis=1
        )
        for c in corners
    ]
    assert max(gap.min() for gap in gaps) * 0.05 <= reach


def test_a_tree_with_too_many_cells_gets_larger_ones_with_boxes_around_what_is_occupied() -> None:
    occupied = {(-300, -300, -300), (300, 300, 300), (0, 0, 0)}
    leaves = read_occupancy(occupancy(tree(occupied)))
    assert MOST_CELLS < 601**3
    voxels = octree_map(leaves, 0.02, Pose.identity())
    assert voxels.grid.cell_m == pytest.approx(0.08)
    low, high = voxels.corners()
    wanted = 0.02 * np.array(sorted(occupied))
    assert (low <= wanted + 1e-9).all()
    assert (high >= wanted + 0.02 - 1e-9).all()
    assert np.abs(high - low).max() < 0.02 + 2.5 * 0.08 / 255, "a box is that of one cell of the tree"


def test_a_large_leaf_is_split() -> None:
    root = Node()
    root.children[0] = Node()
    leaves = read_values(values(root))
    assert leaves.edge.tolist() == [HALF]
    with pytest.raises(BadOctree, match="crop the tree"):
        octree_map(leaves, 0.05, Pose.identity())
    voxels = octree_map(Leaves(leaves.low * 0, np.array([16])), 0.05, Pose.identity())
    assert voxels.occupied.all()
    assert voxels.occupied.size == 16**3


@pytest.mark.parametrize("resolution", [0.0, -0.1, 0.6, float("nan")])
def test_a_resolution_that_cannot_be_is_named(resolution: float) -> None:
    with pytest.raises(BadOctree, match="resolution"):
        octree_map(Leaves.of([]), resolution, Pose.identity())


def test_cells_finer_than_those_of_maps_are_joined() -> None:
    leaves = read_occupancy(occupancy(tree({(0, 0, 0), (1, 0, 0), (40, 0, 0)})))
    voxels = octree_map(leaves, 0.0005, Pose.identity())
    assert voxels.grid.cell_m == pytest.approx(0.002)
    low, high = voxels.corners()
    np.testing.assert_allclose(low[:, 0], [0.0, 0.02], atol=1e-5)
    np.testing.assert_allclose(high[:, 0], [0.001, 0.0205], atol=2e-5)
