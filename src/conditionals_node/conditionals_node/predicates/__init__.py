"""Built-in predicates. Add one: a class in a file of this folder, its name in ``BUILTIN``, and a test."""

from .containment import (
    ObjectEnclosed,
    ObjectGroupsInContainers,
    ObjectInContainer,
    ObjectInHull,
    ObjectInside,
    ObjectOutsideOf,
    ObjectOutsideOfAndOnSurface,
)
from .direction import ObjectBehind, ObjectInFrontOf, ObjectLeftOf, ObjectRightOf
from .grip import GripperDetached, ObjectDropped, ObjectGrabbed, ObjectPickedUp
from .joints import JointClosed, JointInRange, JointOpen
from .motion import ObjectAt, ObjectsStationary, ObjectStationary, ObjectUpright
from .nearby import ObjectBetween, ObjectNextTo, ObjectsInLine
from .order import ObjectsPlacedInContainerInOrder
from .pile import Stacked
from .support import ObjectOnTop
from .touch import GripperHitTable, ObjectInContact, WrongObjectGrabbed
from .vertical import (
    ObjectAbove,
    ObjectAboveBottom,
    ObjectBelow,
    ObjectBelowTop,
    ObjectCenterOf,
    ObjectOnBottom,
    ObjectOnCenter,
)
from .widths import GripperFullyClosed, GripperOpen, GripperSlightlyClosed

BUILTIN = (
    GripperDetached,
    GripperFullyClosed,
    GripperHitTable,
    GripperOpen,
    GripperSlightlyClosed,
    JointClosed,
    JointInRange,
    JointOpen,
    ObjectAbove,
    ObjectAboveBottom,
    ObjectAt,
    ObjectBehind,
    ObjectBelow,
    ObjectBelowTop,
    ObjectBetween,
    ObjectCenterOf,
    ObjectDropped,
    ObjectEnclosed,
    ObjectGrabbed,
    ObjectGroupsInContainers,
    ObjectInContact,
    ObjectInContainer,
    ObjectInFrontOf,
    ObjectInHull,
    ObjectInside,
    ObjectLeftOf,
    ObjectNextTo,
    ObjectOnBottom,
    ObjectOnCenter,
    ObjectOnTop,
    ObjectOutsideOf,
    ObjectOutsideOfAndOnSurface,
    ObjectPickedUp,
    ObjectRightOf,
    ObjectStationary,
    ObjectUpright,
    ObjectsInLine,
    ObjectsPlacedInContainerInOrder,
    ObjectsStationary,
    Stacked,
    WrongObjectGrabbed,
)

ENTRY_POINTS = "handiwork.predicates"

__all__ = ["BUILTIN", "ENTRY_POINTS"]
