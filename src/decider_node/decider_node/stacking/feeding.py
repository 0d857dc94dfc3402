"""When a simulation brings the next bin, and where it puts it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ObjectState

from .bin import HEIGHT_M
from .cell import StackingCell

WAITING_M = 4.0
"""Distance from the arm's axis beyond which a bin waits to be brought, m."""
LIFTED_M, BELOW_M = 0.25, 0.05
"""Heights over and below the belt's surface between which a bin still occupies the belt, m."""
PARKED = Pose.of((-20.0, 20.0, 5.0))
"""Pose of the first bin that waits; the others are beside it."""


def waiting(bins: Mapping[str, ObjectState]) -> list[str]:
    """Return the bins that wait outside the cell, in the order of their numbers.

    Args:
        bins: All bins by name, ``<beginning><number>``.
    """
    far = [n for n, state in bins.items() if np.hypot(*state.world_T_object.translation_m[:2]) > WAITING_M]
    return sorted(far, key=lambda name: (len(name), name))


def is_belt_free(site: StackingCell, bins: Mapping[str, ObjectState]) -> bool:
    """Check whether no bin is on the belt; one that was lifted clear of it does not count.

    Args:
        site: The cell.
        bins: All bins by name.
    """
    belt = site.belt
    for state in bins.values():
        x, y, z = state.world_T_object.translation_m
        on_belt = y > belt.end_y and abs(x - belt.x) < 0.5 * belt.width + 0.1
        if on_belt and -BELOW_M < z - belt.top_z < LIFTED_M:
            return False
    return True


def drawn_pose(site: StackingCell, rng: np.random.Generator) -> Pose:
    """Return a pose on the belt: anywhere across, any heading, upright or upside down.

    Args:
        site: The cell.
        rng: Source of the choices.
    """
    belt, feeder = site.belt, site.feeder
    at = (belt.x + rng.uniform(-feeder.aside, feeder.aside), feeder.y, belt.top_z + 0.5 * HEIGHT_M + 0.005)
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), rng.uniform(-np.pi, np.pi))
    if rng.random() < feeder.upside_down:
        turn = turn @ Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi)
    return Pose.of(at, turn)
