"""Clears the caches of object geometry when a world brings other geometry.

Objects compare by identity, so the caches keep every object that they were asked about. In a process that runs for
days, with a reset of the world every few seconds, they would hold a thousand former objects with all their meshes.
"""

from __future__ import annotations

from conditionals_node.spaces.cavities import inside_of
from conditionals_node.spaces.footprints import inset, pieces, shortest
from conditionals_node.spaces.hulls import hull
from conditionals_node.spaces.samples import samples
from conditionals_node.views.bounding_boxes import outline
from conditionals_node.views.world_view import box_of

from .visuals import edges

BY_IDENTITY = (
    outline,
    hull,
    box_of,
    edges,
    inside_of,
    samples,
    pieces,
    shortest,
    inset,
)


def forget_geometry() -> None:
    """Clear the caches of objects; hulls of equal points are kept by their digest and need not be built again."""
    for kept in BY_IDENTITY:
        kept.cache_clear()
