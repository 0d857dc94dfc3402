"""The bins that can be picked, the reasons why others cannot, and the choice of the next one."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import ObjectState

from .bin import LENGTH_M, is_level, open_side, wall_up
from .cell import Shelf, StackingCell, place_on_shelf, shelf_axis
from .context import StackContext
from .occupancy import blockers, open_places

REST_MPS, REST_RADPS = 0.05, 0.5
"""Speeds from which a bin moves, m/s and rad/s; it is judged when it has come to rest."""
PATIENCE_S = 30.0
"""Time that a person has to lay down, or take away, a bin that cannot be held, s."""


def can_be_picked(site: StackingCell, state: ObjectState) -> bool:
    """Check whether a bin is within reach, standing on its bottom or its rim, or lying on a side.

    Args:
        site: The cell.
        state: State of the bin.
    """
    return is_near(site, state) and _has_level_side(site, state.world_T_object)


def refusal(site: StackingCell, state: ObjectState) -> str:
    """Return why a bin at rest within reach cannot be held.

    Args:
        site: The cell.
        state: State of the bin.

    Returns:
        The reason; empty when it can be held, still moves, or is not within reach.
    """
    if not is_near(site, state) or _has_level_side(site, state.world_T_object) or not is_at_rest(state):
        return ""
    up = np.abs(state.world_T_object.rotation.matrix()[2])
    tilt = np.degrees(np.arccos(np.clip(float(up.max()), 0.0, 1.0)))
    return f"leans by {tilt:.0f} degrees, so no side is level for the cup: lay it down, or take it away"


def _has_level_side(site: StackingCell, pose: Pose) -> bool:
    return is_level(pose) or wall_up(pose) is not None or is_on_shelf(site.shelf, pose)


def is_at_rest(state: ObjectState) -> bool:
    """Check whether a bin neither moves nor turns.

    Args:
        state: State of the bin.
    """
    speed, spin = np.linalg.norm(state.world_v_object), np.linalg.norm(state.world_w_object)
    return bool(speed < REST_MPS and spin < REST_RADPS)


def is_near(site: StackingCell, state: ObjectState) -> bool:
    """Check whether a bin is within reach of the arm.

    Args:
        site: The cell.
        state: State of the bin.
    """
    x, y, z = state.world_T_object.translation_m
    near_m, far_m = site.reach
    within = near_m < np.hypot(x, y) < far_m and z >= site.dropped_z and y <= site.belt.pick_y
    window = site.window
    return bool(
        within and (window is None or window.holds(x, y) or is_on_shelf(site.shelf, state.world_T_object))
    )


def is_on_shelf(shelf: Shelf, pose: Pose) -> bool:
    """Check whether a bin stands on its side on the shelf, its bottom away from the robot.

    Args:
        shelf: The shelf.
        pose: Pose of the bin.
    """
    x, y, z = np.abs(pose.translation_m - place_on_shelf(shelf).translation_m)
    near = bool(np.hypot(x, y) < 0.06 and z < 0.08)  # on its short side it is 50 mm higher
    return near and float(open_side(pose) @ -shelf_axis(shelf)) > 0.95


def is_shelf_free(context: StackContext) -> bool:
    """Check whether no bin but the held one is on the shelf or close to it.

    Args:
        context: The logical state.
    """
    shelf = place_on_shelf(context.site.shelf).translation_m
    others = (name for name in context.bins if name != context.suction.object)
    return all(
        float(np.linalg.norm(context.bins[name].world_T_object.translation_m - shelf)) > LENGTH_M
        for name in others
    )


def best_bin(context: StackContext, free: list[str]) -> str | None:
    """Return the loose bin to pick next.

    A bin is picked only when a place would be open for it, so that it is not held for nothing. When loose bins lie
    in all places, one of them is picked to be set aside.

    Args:
        context: The logical state.
        free: Bins that are not in the stack.

    Returns:
        Its name; None when nothing can be picked, or nothing could be placed.
    """
    able = [name for name in free if can_be_picked(context.site, context.bins[name])]
    able.sort(key=lambda name: rank(context, name))
    for name in able:
        if next(open_places(context, without=name), None) is not None:
            return name
    if not is_shelf_free(context):
        return None
    return next((name for name in able if _blocks(context, name)), None)


def rank(context: StackContext, name: str) -> tuple[float, ...]:
    """Return the rank of a bin: first those on the shelf, then those that lie about, then those on the belt.

    Of those that lie about, the highest come first, and at one height those in a place that is to be filled.

    Args:
        context: The logical state.
        name: The bin.

    Returns:
        A key for sorting; the smallest comes first.
    """
    pose = context.bins[name].world_T_object
    if is_on_shelf(context.site.shelf, pose):
        return (0.0,)
    x, y, z = pose.translation_m
    if y > context.site.belt.end_y and abs(x - context.site.belt.x) < 0.5 * context.site.belt.width + 0.1:
        return (2.0, float(y))
    return (1.0, -round(float(z), 1), float(not _blocks(context, name)), float(y))


def _blocks(context: StackContext, name: str) -> bool:
    """Return True when a bin is in a place that could be filled next, or right above it."""
    for index in range(len(context.layout)):
        below = context.layout.below(index)
        is_next = index not in context.places and (below is None or below in context.places)
        if is_next and name in blockers(context, index):
            return True
    return False


class CannotGoOn(Exception):
    """The arm can pick and place nothing that is left."""


class Refused:
    """Stops the network when nothing can be picked or placed any more, and that lasts for ``PATIENCE_S``."""

    name = "refused bins"

    def __init__(self) -> None:
        self._since_s: float | None = None

    def update(self, context: StackContext, now_s: float) -> None:
        """Check the obstruction, and how long it lasts.

        Args:
            context: The logical state.
            now_s: Time of the tick, s.

        Raises:
            CannotGoOn: It lasts for too long.
        """
        why = obstruction(context)
        self._since_s = (self._since_s if self._since_s is not None else now_s) if why else None
        if self._since_s is not None and now_s - self._since_s > PATIENCE_S:
            self._since_s = None  # a reset gives the full time again
            raise CannotGoOn(f"{why}. Nothing else can be done; then reset the network")


def obstruction(context: StackContext) -> str:
    """Return the reason that keeps the arm from all work.

    Args:
        context: The logical state.

    Returns:
        The reason; empty when the arm works, is done, or waits for a bin.
    """
    is_held_for_nothing = context.is_attached and not context.needs_flip and context.place is None
    if context.is_complete or (context.active is not None and not is_held_for_nothing):
        return ""
    leaning = "; ".join(f"{name} {why}" for name, why in context.refused.items())
    return leaning or _no_open_place(context)


def _no_open_place(context: StackContext) -> str:
    """Return which bins are in the places that are to be filled; empty when one is open."""
    if next(open_places(context), None) is not None:
        return ""
    empty = [index for index in range(len(context.layout)) if index not in context.places]
    found = {index: blockers(context, index) for index in empty}
    text = ", ".join(f"{' and '.join(names)} in place {index}" for index, names in found.items() if names)
    return f"no place of the stack is open, there is {text}: remove these bins" if text else ""
