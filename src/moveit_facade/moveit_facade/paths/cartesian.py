"""Straight paths of the EE: their interpolation, and the test for jumps of the joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

LARGEST_TURN_RAD = 0.1
"""Largest turn between two poses of a path, rad."""
MOST_POSES = 5000
LEAST_STEPS = 10
"""Steps below which MoveIt's relative test for jumps has no mean to compare with."""


def interpolated(start: Pose, waypoints: Sequence[Pose], max_step_m: float) -> tuple[Pose, ...]:
    """Return the poses of straight lines from a start through waypoints, without the start.

    Orientations are interpolated at constant speed about one axis (Shoemake 1985).

    Args:
        start: The first pose.
        waypoints: The poses to pass, at least one.
        max_step_m: Largest distance of two poses, m; above 0.

    Returns:
        The poses, at most ``MOST_POSES``; the steps grow where there would be more.
    """
    legs = list(zip((start, *waypoints[:-1]), waypoints, strict=True))
    counts = [_steps(a, b, max_step_m) for a, b in legs]
    shrink = max(1.0, sum(counts) / MOST_POSES)
    found = list[Pose]()
    for (a, b), count in zip(legs, counts, strict=True):
        n = max(1, int(count / shrink))
        found += [between(a, b, (k + 1) / n) for k in range(n - 1)]
        found.append(b)
    return tuple(found)


def _steps(a: Pose, b: Pose, max_step_m: float) -> int:
    gap_m, turn_rad = a.distance_to(b)
    return max(1, int(np.ceil(gap_m / max_step_m - 1e-9)), int(np.ceil(turn_rad / LARGEST_TURN_RAD - 1e-9)))


def between(a: Pose, b: Pose, share: float) -> Pose:
    """Return the pose at a share of the way between two poses.

    Args:
        a: The first pose.
        b: The last pose.
        share: 0 for the first, 1 for the last.
    """
    place = (1.0 - share) * a.translation_m + share * b.translation_m
    turn = a.rotation.inverse() @ b.rotation
    sine = float(np.linalg.norm(turn.wxyz[1:]))
    if sine < 1e-9:
        return Pose.of(place, a.rotation)
    angle = 2.0 * float(np.arctan2(sine, turn.wxyz[0]))
    return Pose.of(place, a.rotation @ Rotation.from_axis_angle(turn.wxyz[1:], share * angle))


def jump_index(
    q: Array,
    relative: float,
    revolute_rad: float,
    prismatic_m: float,
    is_prismatic: Sequence[bool],
) -> int:
    """Return the first row of a path that is a jump from the row before; the number of rows if there is none.

    As in MoveIt: the relative threshold is a factor of the mean distance between rows, the others are absolute limits
    for a single joint. A threshold of 0 switches its test off.

    Args:
        q: Configurations at the poses of the path, (n, dof), rad or m.
        relative: Factor of the mean distance.
        revolute_rad: Limit of a revolute joint, rad.
        prismatic_m: Limit of a prismatic joint, m.
        is_prismatic: True for each prismatic joint, (dof,).
    """
    moves = np.abs(np.diff(q, axis=0))
    if not len(moves):
        return len(q)
    is_jump = np.zeros(len(moves), dtype=bool)
    linear = np.asarray(is_prismatic, dtype=bool)
    if revolute_rad > 0.0 and not linear.all():
        is_jump |= moves[:, ~linear].max(axis=1) > revolute_rad
    if prismatic_m > 0.0 and linear.any():
        is_jump |= moves[:, linear].max(axis=1) > prismatic_m
    lengths = np.linalg.norm(moves, axis=1)
    if relative > 0.0 and len(lengths) >= LEAST_STEPS:
        is_jump |= lengths > relative * float(lengths.mean())
    return int(np.argmax(is_jump)) + 1 if is_jump.any() else len(q)
