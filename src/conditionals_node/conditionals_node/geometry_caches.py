"""What is kept of the geometry of objects, given up when a world brings other geometry.

Objects compare by identity, so the caches keep every object that they were asked about. In a process that lives for
days, with a reset of the world every few seconds, they would hold a thousand former objects with all their meshes.
"""

from __future__ import annotations

from .drawings import edges
from .extents import outline
from .geometry import hull, shape_points
from .world_view import box_of

BY_IDENTITY = (outline, hull, shape_points, box_of, edges)


def forget_geometry() -> None:
    """Give up what is kept of objects; hulls of equal points are kept by their digest and need not be built again."""
    for kept in BY_IDENTITY:
        kept.cache_clear()
