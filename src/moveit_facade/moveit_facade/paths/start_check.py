"""Whether a trajectory begins where the robot is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

START_TOLERANCE = 0.01
"""The largest distance of a joint from the start of a trajectory, rad or m; MoveIt's allowed_start_tolerance."""


def start_fault(names: Sequence[str], first: Sequence[float], measured: Mapping[str, float]) -> str:
    """Return why a trajectory does not begin where the robot is; empty if it does.

    Args:
        names: Names of the joints.
        first: Their positions at the first point, whatever its time, rad or m.
        measured: Measured positions by name, rad or m; a joint that is not known is not compared.
    """
    gaps = {name: q - measured[name] for name, q in zip(names, first, strict=True) if name in measured}
    worst = max(gaps, key=lambda name: abs(gaps[name]), default="")
    if not worst or abs(gaps[worst]) <= START_TOLERANCE:
        return ""
    return (
        f"the trajectory starts with joint {worst!r} at {measured[worst] + gaps[worst]:.4f}, which is measured at "
        f"{measured[worst]:.4f}; plan again from the present state (at most {START_TOLERANCE} apart)"
    )
