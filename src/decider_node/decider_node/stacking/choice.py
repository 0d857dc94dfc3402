"""Which bins can be picked, why others cannot, and which one comes first."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Pose
from handiwork_core.world import ObjectState

from .bin import HEIGHT_M, is_level, open_side, overlap, stands_at, wall_up
from .cell import BELT_END_Y_M, DROPPED_Z_M, place_on_shelf, shelf_axis
from .context import StackContext

REACH_M = (0.3, 1.12)
PICK_Y_M = 0.78
"""Bins on the belt that are farther back are left to come."""
IN_THE_WAY_M = 0.2
"""A bin that leans nearer than this, by the level, to the next place would be hit by what is placed there."""
PATIENCE_S = 30.0
"""So long somebody may take their time to lay down, or take away, a bin that nothing can hold."""


def can_be_picked(state: ObjectState) -> bool:
    """Tells whether a bin is where the arm comes to, standing on its bottom or its rim, or lying on a side."""
    return is_near(state) and not refusal(state)


def refusal(state: ObjectState) -> str:
    """Why a bin within reach cannot be held; empty: it can, or it is not within reach."""
    pose = state.world_T_object
    if not is_near(state) or is_level(pose) or wall_up(pose) is not None or is_on_shelf(pose):
        return ""
    tilt = np.degrees(np.arccos(np.clip(abs(float(open_side(pose)[2])), 0.0, 1.0)))
    return f"leans by {tilt:.0f} degrees, so no side is level for the cup: lay it down, or take it away"


def is_near(state: ObjectState) -> bool:
    """Tells whether the arm comes there."""
    x, y, z = state.world_T_object.translation_m
    return bool(REACH_M[0] < np.hypot(x, y) < REACH_M[1] and z >= DROPPED_Z_M and y <= PICK_Y_M)


def is_on_shelf(pose: Pose) -> bool:
    """Tells whether a bin stands on its side on the shelf, its bottom away from the robot."""
    x, y, z = np.abs(pose.translation_m - place_on_shelf().translation_m)
    near = bool(np.hypot(x, y) < 0.06 and z < 0.08)  # on its short side it is 50 mm higher
    return near and float(open_side(pose) @ -shelf_axis()) > 0.95


def rank(context: StackContext, name: str) -> tuple[float, ...]:
    """First what is on the shelf, then what lies about, then the belt.

    Of what lies about, first what is where the next bin is to go; then from the top, what stands in a place last.
    """
    pose = context.bins[name].world_T_object
    if is_on_shelf(pose):
        return (0.0,)
    x, y, z = pose.translation_m
    if y > BELT_END_Y_M and abs(x) < 0.4:
        return (2.0, float(y))
    stands = any(stands_at(pose, context.layout.place(k)) for k in range(len(context.layout)))
    return (1.0, float(not _blocks(context, pose)), -round(float(z), 1), float(stands), float(y))


def _blocks(context: StackContext, pose: Pose) -> bool:
    """Tells whether a bin is in the next place or right above it."""
    if context.is_complete:
        return False
    place = context.layout.place(len(context.stacked))
    above = Pose.of(place.translation_m + (0.0, 0.0, HEIGHT_M), place.rotation)
    return overlap(pose, place) or overlap(pose, above)


def stands_in_the_way(context: StackContext) -> bool:
    """Tells whether a bin that cannot be held is where the next one is to go."""
    if context.is_complete:
        return False
    place = context.layout.place(len(context.stacked)).translation_m[:2]
    at = (context.bins[name].world_T_object.translation_m[:2] for name in context.refused)
    return any(float(np.linalg.norm(xy - place)) < IN_THE_WAY_M for xy in at)


class CannotGoOn(Exception):
    """Nothing is left that the arm could pick and place."""


class Refused:
    """Stops the network where only bins are left that cannot be held, and nobody has helped for ``PATIENCE_S``."""

    name = "refused bins"

    def __init__(self) -> None:
        self._since_s: float | None = None

    def update(self, context: StackContext, now_s: float) -> None:
        """Looks at what is refused.

        Raises:
            CannotGoOn: it stands in the way for too long.
        """
        stuck = bool(context.refused) and context.active is None and not context.is_complete
        self._since_s = (self._since_s if self._since_s is not None else now_s) if stuck else None
        if self._since_s is not None and now_s - self._since_s > PATIENCE_S:
            self._since_s = None  # after a reset there is as much time again
            what = "; ".join(f"{name} {why}" for name, why in context.refused.items())
            raise CannotGoOn(f"{what}. Nothing else can be done; then reset the network")
