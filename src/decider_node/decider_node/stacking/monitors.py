"""Monitors of the application, in the order in which they run."""

from __future__ import annotations

import numpy as np

from decider_node.motion.approach import are_close
from decider_node.network.network import FunctionMonitor, Monitor

from .bin import grasp_of
from .cell import OVER_SHELF, place_on_shelf
from .choice import Refused, best_bin, can_be_picked, is_on_shelf, refusal
from .context import StackContext
from .occupancy import StackMonitor, choose_place

CLEAR_M = 0.2
"""Height over the belt from which a held bin is clear of it, m."""
DRIFT_SHARE, DRIFT_MPS = 0.1, 0.05
STATUS_S = 1.0


def monitors() -> tuple[Monitor[StackContext], ...]:
    """Return all monitors, in the order in which they run."""
    return (
        FunctionMonitor("cell", look),
        StackMonitor(),
        FunctionMonitor("belt", switch_belt),
        FunctionMonitor("dropped bins", forget_dropped),
        FunctionMonitor("active bin", choose_bin),
        FunctionMonitor("place", choose_place),
        Refused(),
        FunctionMonitor("drift", measure_drift),
        FunctionMonitor("grasp", choose_grasp),
        FunctionMonitor("regions", switch_regions),
        Status(),
    )


def look(context: StackContext, now_s: float) -> None:
    """Read the bins, the tip and the cup.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    context.bins = context.cell.bins()
    context.tip = context.cell.tip()
    context.suction = context.cell.suction()
    context.is_lifted = context.is_lifted and context.is_attached


def switch_belt(context: StackContext, now_s: float) -> None:
    """Stop the belt while a bin is at its end, as behind a light barrier: a bin that is picked must not be dragged.

    Nor must a bin that is held already and still stands on the belt: the friction would tear it off the cup.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    stacked = set(context.places.values())
    waiting = context.site.belt.stops and any(
        name not in stacked and _waits(context, name) for name in context.bins
    )
    context.cell.run_belt(on=not waiting)


def _waits(context: StackContext, name: str) -> bool:
    x, y, z = context.bins[name].world_T_object.translation_m
    belt = context.site.belt
    most_z = belt.top_z + CLEAR_M if name == context.suction.object else np.inf
    is_across = abs(x - belt.x) < 0.5 * belt.width
    return bool(belt.end_y < y < belt.barrier_y and is_across and belt.top_z < z < most_z)


def forget_dropped(context: StackContext, now_s: float) -> None:
    """Forget the active bin when it lies on the floor; a stacked one that fell leaves its place free.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    if context.active is not None and _height(context, context.active) < context.site.dropped_z:
        context.active, context.dropped = None, context.dropped + 1


def choose_bin(context: StackContext, now_s: float) -> None:
    """Choose the active bin: one on the shelf, else one that lies about, else the farthest down the belt.

    A bin that the cup holds already, for example after a reset, is active.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    stacked = set(context.places.values())
    site = context.site
    still = {name: refusal(site, context.bins[name]) for name in context.refused if name in context.bins}
    context.refused = {name: why for name, why in still.items() if why}
    if context.active is not None:
        is_loose = context.active not in stacked and can_be_picked(site, context.bins[context.active])
        if context.is_attached or is_loose:
            return
        context.active = None
    free = [name for name in context.bins if name not in stacked]
    context.refused = {name: why for name in free if (why := refusal(site, context.bins[name]))}
    held = context.suction.object if context.suction.sealed and context.suction.object in free else None
    context.active = held or best_bin(context, free)
    if context.active is not None:
        context.posture = None


def measure_drift(context: StackContext, now_s: float) -> None:
    """Compute the mean velocity of the active bin over some ticks: one that rests on a running belt trembles.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    if context.active is None or context.is_attached:
        context.mean_velocity[:] = 0.0
    else:
        speed = context.bins[context.active].world_v_object
        context.mean_velocity += DRIFT_SHARE * (speed - context.mean_velocity)
    moves = float(np.linalg.norm(context.mean_velocity)) > DRIFT_MPS
    context.drift = context.mean_velocity if moves else np.zeros(3)


def choose_grasp(context: StackContext, now_s: float) -> None:
    """Choose the grasp of the active bin, with the heading that the arm reaches more easily.

    Also write whether the tip is there.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    if context.active is None:
        context.grasp, context.grasp_reached = None, False
        return
    pose = context.bins[context.active].world_T_object
    lies_well = is_on_shelf(context.site.shelf, pose)
    if context.posture is None:
        q = context.cell.joints()
        found = []
        for half_turned in (False, True):
            grasp = grasp_of(pose, half_turned=half_turned, on_shelf=lies_well)
            near = context.cell.configuration(grasp.world_T_tip, q)
            if near is not None:
                found.append((float(np.abs(near - q).sum()), half_turned, near))
        if found:
            _, context.half_turned, context.posture = min(found, key=lambda item: item[0])
    context.grasp = grasp_of(pose, half_turned=context.half_turned, on_shelf=lies_well)
    context.grasp_reached = are_close(context.tip, context.grasp.world_T_tip, 0.005, 0.02)


def switch_regions(context: StackContext, now_s: float) -> None:
    """Switch the regions.

    ``over_shelf`` counts unless the tip goes there; the others count while the tip goes from one side to the other.

    Args:
        context: The logical state.
        now_s: Time of the tick, s.
    """
    off: set[str] = set()
    if context.target is not None:
        place = place_on_shelf(context.site.shelf).translation_m
        if min(np.linalg.norm(p.translation_m - place) for p in (context.target, context.tip)) < 0.35:
            off |= {OVER_SHELF, *context.site.crossing}
        sides = [
            np.sign(p.translation_m[0] * context.site.divide - p.translation_m[1])
            for p in (context.target, context.tip)
        ]
        if sides[0] == sides[1]:
            off |= context.site.crossing
    context.cell.set_off(frozenset(off))


class Status:
    """Writes a summary of the logical state once a second."""

    name = "status"

    def __init__(self) -> None:
        self._next_s = float("-inf")

    def update(self, context: StackContext, now_s: float) -> None:
        """Write ``context.status``.

        Args:
            context: The logical state.
            now_s: Time of the tick, s.
        """
        if now_s < self._next_s:
            return
        self._next_s = now_s + STATUS_S
        bin_ = context.active or "none"
        holds = "held" if context.is_attached else "not held"
        context.status = (
            f"stacked {len(context.stacked)} of {len(context.layout)}, active {bin_} ({holds}"
            f"{', to be turned' if context.needs_flip else ''}), dropped {context.dropped}"
            + "".join(f"; {name} {why}" for name, why in context.refused.items())
        )


def _height(context: StackContext, name: str) -> float:
    return float(context.bins[name].world_T_object.translation_m[2])
