"""Suction cups: what one can hold, and what it says about itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .outcome import Code, Outcome


@dataclass(frozen=True, slots=True)
class SuctionSpec:
    """A round cup whose rim lies in the plane of the arm's TCP link, across the approach axis.

    The cup seals when every part of its rim of ``radius_m`` is within ``reach_m`` of one object, as far as its soft lip
    bends, and the surface is tilted by ``max_angle_rad`` at most. The seal breaks when the load along the axis passes
    ``max_pull_n``, across it ``max_shear_n``, or about the cup's middle ``max_moment_nm``.
    """

    link: str
    radius_m: float
    reach_m: float
    max_angle_rad: float
    max_pull_n: float
    max_shear_n: float
    max_moment_nm: float


@dataclass(frozen=True, slots=True)
class SuctionState:
    """One cup at one instant; numbers are nan where nothing measures them.

    ``object``: what is held, empty without a seal and where nothing tells which object it is. ``force_n`` is the load
    that pulls at the seal along the axis, ``moment_nm`` about the cup. ``gap_m`` and ``angle_rad``: from the rim to the
    surface before it at its farthest point, and the tilt of that surface. ``why`` there is no seal, in words.
    """

    stamp_s: float
    on: bool
    sealed: bool
    object: str = ""
    force_n: float = math.nan
    moment_nm: float = math.nan
    gap_m: float = math.nan
    angle_rad: float = math.nan
    why: str = ""


def no_seal(state: SuctionState | None, name: str = "") -> Outcome:
    """The failure of a cup that does not hold ``name``, or anything, with what it measured."""
    if state is None:
        return Outcome(Code.GRIPPER_FAILED, "nothing is heard of the suction cup; is its driver running?")
    if state.sealed:
        text = f"the cup holds {state.object!r}, not {name!r}"
        return Outcome(Code.NOTHING_GRASPED, text)
    why = state.why or ("the cup is off" if not state.on else "nothing tells why")
    text = f"no seal on {name!r}: {why}" if name else f"no seal: {why}"
    return Outcome(Code.NOTHING_GRASPED, text, position_error_m=state.gap_m, angle_error_rad=state.angle_rad)
