"""Configurations from which the UR10 finds the poses of this cell: elbow up, the cup down, outward or inward."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array, Pose

PAN_OFFSET_RAD = np.radians(166.7)
"""Angle from the pan joint to the direction of the tip at home, rad."""
LIFTS_RAD = (-1.57, -1.2, -2.0)


def seeds(world_T_tip: Pose, near: Array | None) -> list[Array]:
    """Return postures towards a pose, the last joint as in ``near``.

    Args:
        world_T_tip: Pose of the tip.
        near: Joint positions, (6,), rad, which come last; None: none.

    Returns:
        Joint positions, (6,) each, rad.
    """
    x, y, _ = world_T_tip.translation_m
    pan = float(np.arctan2(y, x) - PAN_OFFSET_RAD)
    outward = float(world_T_tip.rotation.matrix()[:2, 2] @ np.array([x, y]) / np.hypot(x, y))
    last = 0.0 if near is None else float(near[5])
    wrist = -0.5 * np.pi * (1.0 - outward)
    made = [np.array([pan, lift, -1.8, wrist, 0.5 * np.pi, last]) for lift in LIFTS_RAD]
    return made if near is None else [*made, near]
