"""The words of scene files for the kinds of shapes and joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from handiwork_core.config.dataclass_loader import Reader, nearest, shown
from handiwork_core.model.joint_kind import MOVING, JointKind
from handiwork_core.model.world import ShapeKind

K = TypeVar("K")

SHAPES = {
    "box": ShapeKind.BOX,
    "sphere": ShapeKind.SPHERE,
    "cylinder": ShapeKind.CYLINDER,
    "capsule": ShapeKind.CAPSULE,
    "mesh": ShapeKind.MESH,
}
"""A ``mesh`` becomes its convex hull, of kind CONVEX, unless it is ``concave: true``."""

JOINTS = {kind.word: kind for kind in MOVING}


def _reader(kinds: Mapping[str, K]) -> Reader:
    """Return a reader of words for kinds; capitals make no difference."""

    def read(data: object) -> K:
        word = str(data).lower()
        if word not in kinds:
            raise ValueError(f"is {shown(data)}; {nearest(str(data), list(kinds))}")
        return kinds[word]

    return read


READERS = {ShapeKind: _reader(SHAPES), JointKind: _reader(JOINTS)}
"""Readers for ``dataclass_loader.load`` and ``parse``, by type."""
