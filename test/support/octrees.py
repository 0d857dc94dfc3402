"""Octrees that are put together from sets of cells, and written bit by bit as OctoMap's format is published."""

from __future__ import annotations

import struct
from collections.abc import Iterable

Cell = tuple[int, int, int]
HALF = 1 << 15
"""Cells from the tree's corner to its origin."""


class Node:
    """A node of a tree that a test builds: occupied or free, or with children by their bits zyx."""

    def __init__(self) -> None:
        self.children: dict[int, Node] = {}
        self.value = 0.85


def tree(occupied: Iterable[Cell], free: Iterable[Cell] = ()) -> Node:
    """Return the pruned tree of cells, which are numbered from the tree's origin.

    Args:
        occupied: Occupied cells.
        free: Free cells.
    """
    root = Node()
    for cells, value in ((occupied, 0.85), (free, -0.4)):
        for cell in cells:
            node, key = root, [number + HALF for number in cell]
            for level in range(15, -1, -1):
                bits = [number >> level & 1 for number in key]
                node = node.children.setdefault(bits[0] + 2 * bits[1] + 4 * bits[2], Node())
            node.value = value
    return pruned(root)


def pruned(node: Node) -> Node:
    """Return a node whose eight equal leaves, at any level, are one.

    Args:
        node: The node, which is changed.
    """
    for child in node.children.values():
        pruned(child)
    children = list(node.children.values())
    if len(children) == 8 and not any(c.children for c in children) and len({c.value for c in children}) == 1:
        node.value, node.children = children[0].value, {}
    return node


def occupancy(node: Node) -> bytes:
    """Two bits a child, child 0 first: 00 unknown, 10 free, 01 occupied, 11 with children, as they are published.

    Args:
        node: A node with children.
    """
    text = ""
    for i in range(8):
        child = node.children.get(i)
        text += "00" if child is None else "11" if child.children else "01" if child.value >= 0 else "10"
    first, second = (int(part[::-1], 2) for part in (text[:8], text[8:]))
    inner = b"".join(occupancy(node.children[i]) for i in sorted(node.children) if node.children[i].children)
    return bytes([first, second]) + inner


def values(node: Node) -> bytes:
    """The value of each node, and one bit for each of its children.

    Args:
        node: The node.
    """
    mask = sum(1 << i for i in node.children)
    own = struct.pack("<f", node.value) + bytes([mask])
    return own + b"".join(values(node.children[i]) for i in sorted(node.children))
