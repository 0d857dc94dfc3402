"""Results about shapes, kept as long as the shape itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from handiwork_core.model.world import Shape

T = TypeVar("T")


def kept_with_shape(compute: Callable[[Shape], T]) -> Callable[[Shape], T]:
    """Keep what a function returns for a shape until the shape is deleted.

    A cache of a fixed size would hold shapes, with all their vertices, that no world has any more: shapes compare by
    identity, and each reset of a world brings new ones.

    Args:
        compute: A function of a shape; its result must not refer to the shape, and must not be None.

    Returns:
        The same function, which computes each shape once.
    """
    kept: WeakKeyDictionary[Shape, T] = WeakKeyDictionary()

    @functools.wraps(compute)
    def look_up(shape: Shape) -> T:
        found = kept.get(shape)
        if found is None:
            found = kept[shape] = compute(shape)
        return found

    return look_up
