"""Built-in predicates. Add one: a class in a file of this folder, its name in ``BUILTIN``, and a test."""

from .containment import ObjectInContainer, ObjectOutsideOf
from .grip import GripperOpen, ObjectGrabbed
from .motion import ObjectStationary
from .support import ObjectAbove, ObjectOnTop

BUILTIN = (
    GripperOpen,
    ObjectAbove,
    ObjectGrabbed,
    ObjectInContainer,
    ObjectOnTop,
    ObjectOutsideOf,
    ObjectStationary,
)

ENTRY_POINTS = "handiwork.predicates"

__all__ = ["BUILTIN", "ENTRY_POINTS"]
