"""The poses that stand for a curve in a request to the planner."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Pose

from .blends import Blend, Piece

STEP_M, STEP_RAD = 0.005, 0.05
BLEND_POSES = 16
"""Least number of poses of a blend, whose curve may be much shorter than a step."""
TURN_M_PER_RAD = 0.1
"""Weight of the angle in the distance between two poses, m/rad."""


def sampled(pieces: Sequence[Piece]) -> tuple[Pose, ...]:
    """Return poses along a curve, without its start.

    Args:
        pieces: Stretches and blends in order.

    Returns:
        Poses that are at most about ``STEP_M`` and ``STEP_RAD`` apart; the last one is the end of the curve.
    """
    poses: list[Pose] = []
    for piece in pieces:
        turn = piece.pose(0.0).rotation.angle_to(piece.pose(1.0).rotation)
        count = max(1, math.ceil(piece.length_m / STEP_M), math.ceil(turn / STEP_RAD))
        if isinstance(piece, Blend):
            count = max(count, BLEND_POSES)
        poses.extend(piece.pose(k / count) for k in range(1, count + 1))
    return tuple(poses)


def rest_of(path: Sequence[Pose], here: Pose) -> tuple[Pose, ...]:
    """Return the part of a curve that is left after a stop on it.

    Args:
        path: Poses of the whole curve.
        here: Pose of the tool at rest, in the same frame.

    Returns:
        The poses behind the nearest one; at least the last. Where the curve passes the tool several times, as one does
        that ends where it begins, those behind its first pass: a part may be done twice, but none is left out.
    """
    gaps = [
        float(np.linalg.norm(pose.translation_m - here.translation_m))
        + TURN_M_PER_RAD * pose.rotation.angle_to(here.rotation)
        for pose in path
    ]
    # A pass has a pose within a step, so no other pass can be nearer by more than that.
    within = min(gaps) + STEP_M
    nearest = next(i for i, gap in enumerate(gaps) if gap <= within)
    while nearest + 1 < len(gaps) and gaps[nearest + 1] <= gaps[nearest]:
        nearest += 1
    return tuple(path[min(nearest + 1, len(path) - 1) :])
