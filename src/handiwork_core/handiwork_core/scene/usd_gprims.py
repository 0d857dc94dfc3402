"""Points of one mesh or gprim of an OpenUSD file, in its own frame and the file's units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from handiwork_core.model.geometry import Array

from .round_points import ball, ring

if TYPE_CHECKING:
    from pxr import Usd


class Attributes:
    """Attributes of a prim at its earliest time, by name.

    Args:
        item: The prim.
    """

    def __init__(self, item: Usd.Prim) -> None:
        self._item = item

    def number(self, name: str) -> float:
        """Return an attribute that is a number.

        Args:
            name: Name of the attribute.
        """
        return float(self.value(name))

    def value(self, name: str) -> Any:  # noqa: ANN401  # of the attribute's own type
        """Return an attribute, or None if the prim has none of this name.

        Args:
            name: Name of the attribute.
        """
        from pxr import Usd

        return self._item.GetAttribute(name).Get(Usd.TimeCode.EarliestTime())

    def along_axis(self, points: Array) -> Array:
        """Return points turned from z to the prim's axis.

        Args:
            points: Points of a shape along z, (n, 3).

        Returns:
            Points of the shape along the prim's ``axis``, (n, 3).
        """
        return (
            points
            if (axis := str(self.value("axis"))) == "Z"
            else np.roll(points, 1 if axis == "X" else 2, 1)
        )


def _mesh(read: Attributes) -> Array:
    points = np.array(read.value("points"), dtype=np.float64).reshape(-1, 3)
    used = np.unique(np.array(read.value("faceVertexIndices"), dtype=np.int64))
    if len(used) and (used[0] < 0 or used[-1] >= len(points)):
        raise ValueError(f"a face names vertex {used[-1]} of {len(points)}")
    return points[used]


def _cube(read: Attributes) -> Array:
    return read.number("size") * np.array(list(_signs()))


def _signs() -> Iterator[tuple[float, float, float]]:
    for i in range(8):
        yield (i & 1) - 0.5, (i >> 1 & 1) - 0.5, (i >> 2 & 1) - 0.5


def _sphere(read: Attributes) -> Array:
    return ball(read.number("radius"), 0.0)


def _capsule(read: Attributes) -> Array:
    return read.along_axis(ball(read.number("radius"), read.number("height") / 2.0))


def _cylinder(read: Attributes) -> Array:
    circle, half = ring(read.number("radius")), read.number("height") / 2.0
    return read.along_axis(np.vstack([circle - (0.0, 0.0, half), circle + (0.0, 0.0, half)]))


def _cone(read: Attributes) -> Array:
    half = read.number("height") / 2.0
    return read.along_axis(np.vstack([ring(read.number("radius")) - (0.0, 0.0, half), [[0.0, 0.0, half]]]))


READERS: dict[str, Callable[[Attributes], Array]] = {
    "Capsule": _capsule,
    "Cone": _cone,
    "Cube": _cube,
    "Cylinder": _cylinder,
    "Mesh": _mesh,
    "Sphere": _sphere,
}
