"""Suction cups: their limits and their measured state."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .outcome import Code, Outcome

SEAL_S = 1.0
"""The longest wait for a seal, s of the world's time."""


@dataclass(frozen=True, slots=True)
class SuctionSpec:
    """A round cup whose rim lies in the plane of the arm's TCP link, across the approach axis.

    The cup seals when every part of its rim is within reach of one object and the surface is tilted little enough.

    Attributes:
        link: Name of the link of the cup.
        radius_m: Radius of the rim, m.
        reach_m: Largest distance between rim and object, m, as far as the soft lip bends.
        max_angle_rad: Largest tilt of the surface, rad.
        max_pull_n: Load along the axis at which the seal breaks, N.
        max_shear_n: Load across the axis at which the seal breaks, N.
        max_moment_nm: Moment about the cup's middle at which the seal breaks, Nm.
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
    """One cup at one instant; numbers are nan if they are not measured.

    Attributes:
        stamp_s: Time of the state, s.
        on: True if the cup is commanded to hold.
        sealed: True if it has a seal.
        object: The held object; empty without a seal, and if the object is unknown.
        force_n: Load that pulls at the seal along the axis, N.
        moment_nm: Moment about the cup, Nm.
        gap_m: Distance from the rim to the surface in front of it at its farthest point, m.
        angle_rad: Tilt of that surface, rad.
        why: The reason in words why there is no seal.
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
    """Return the failure of a cup that does not hold an object.

    Args:
        state: State of the cup; None if none was received.
        name: The expected object; empty for any.

    Returns:
        An outcome with the measured gap and tilt.
    """
    if state is None:
        return Outcome(
            Code.GRIPPER_FAILED, "no state of the suction cup was received; is its driver running?"
        )
    if state.sealed:
        text = f"the cup holds {state.object!r}, not {name!r}"
        return Outcome(Code.NOTHING_GRASPED, text)
    why = state.why or ("the cup is off" if not state.on else "the reason is unknown")
    text = f"no seal on {name!r}: {why}" if name else f"no seal: {why}"
    return Outcome(Code.NOTHING_GRASPED, text, position_error_m=state.gap_m, angle_error_rad=state.angle_rad)


def force_refused(gripper: str, force_n: float) -> Outcome:
    """Return the refusal of a force of the fingers by a cup, which has none.

    Args:
        gripper: Name of the gripper.
        force_n: The force that was asked for, N.
    """
    text = f"grip_force is {force_n:g} N, and {gripper!r} is a suction cup without fingers; leave it at 0"
    return Outcome(Code.BAD_NUMBER, text, field_name="grip_force")
