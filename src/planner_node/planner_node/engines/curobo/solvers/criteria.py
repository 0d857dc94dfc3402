"""Held pose components in cuRobo's form."""

from __future__ import annotations

from collections.abc import Sequence

FREE_PATH = (0.0,) * 6


def path_weights(hold_vec_weight: Sequence[float] | None) -> tuple[float, ...]:
    """Return cuRobo's weights of the tool's pose on the path; held components weigh 1.

    Ours say which components are held, not how much: how far they may be off is fixed, and checked afterwards. On
    the path cuRobo draws a component to its value at the goal, which is that at the start where it is held.

    Args:
        hold_vec_weight: Weights of the request (angular x, y, z, linear x, y, z); None holds nothing.

    Returns:
        Weights in cuRobo's order: x, y, z, roll, pitch, yaw.
    """
    if hold_vec_weight is None:
        return FREE_PATH
    held = [1.0 if w > 0.0 else 0.0 for w in hold_vec_weight]
    return (*held[3:], *held[:3])
