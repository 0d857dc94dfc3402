"""Tool motions along straight lines, and along curves that are given by many poses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import ArmSpec

from .collision.motion_check import first_blocked
from .kernels.arrays import flat
from .kernels.kinematics import pose_error, tool_poses
from .scene.query import Query
from .search.cartesian_line import (
    DEVIATED,
    FOLLOWED,
    JUMPED,
    follow,
)
from .search.requests import Deadline, Failed

STEP_M, STEP_RAD = 0.005, 0.03


def track(query: Query, arm: ArmSpec, q: Array, goal: Pose, deviation_m: float, deadline: Deadline) -> Array:
    """Return the joint path along the straight tool line to ``goal``.

    Args:
        query: Robot, scene and margins.
        arm: The arm that moves.
        q: Start configuration, (n,), rad or m.
        goal: world_T_ee at the end of the line.
        deviation_m: Largest distance of the tool from the line, m.
        deadline: Limit of time, and the client's request to stop.

    Returns:
        Joint positions (k, n), rad or m; row 0 is ``q``.

    Raises:
        Failed: CANCELED, PLAN_BUDGET, NO_IK, JOINT_LIMIT, PATH_BLOCKED or PLAN_FAILED, with place and reason.
    """
    target, here, shift = flat(goal), np.empty((1, 12)), np.empty(6)
    tool_poses(q[None], query.robot, here)
    pose_error(target, here[0], shift)
    length, angle = float(np.linalg.norm(shift[:3])), float(np.linalg.norm(shift[3:]))
    steps = max(1, int(np.ceil(max(length / STEP_M, angle / STEP_RAD))))
    hit, error = np.zeros(2, dtype=np.int64), np.zeros(6)
    for _ in range(4):
        deadline.poll()
        path = np.empty((steps + 1, len(q)))
        state, rows = follow(q, target, 0.5 * deviation_m, query.robot, path, error)
        if state not in (DEVIATED, JUMPED):
            break
        steps *= 2
    deadline.poll()
    bad = first_blocked(query.checker, path[:rows], hit)
    if bad < 0 and state == FOLLOWED:
        return path
    at = bad if bad >= 0 else rows
    gone = f"the line stops after {1e3 * length * (at - 1) / steps:.0f} of {1e3 * length:.0f} mm"
    if bad >= 0:
        pair = query.pair(hit)
        text = f"{gone}, where {pair.a} would hit {pair.b}; clear the way or start from another posture"
        raise Failed(Code.PATH_BLOCKED, text, blocking=pair)
    raise _failure(query, arm, path[rows], state, gone, error)


def track_along(
    query: Query, arm: ArmSpec, q: Array, poses: Sequence[Pose], deviation_m: float, deadline: Deadline
) -> Array:
    """Return the joint path along the straight tool lines from pose to pose.

    Args:
        query: Robot, scene and margins.
        arm: The arm that moves.
        q: Start configuration, (n,), rad or m.
        poses: world_T_ee at the end of each line.
        deviation_m: Largest distance of the tool from a line, m.
        deadline: Limit of time, and the client's request to stop.

    Returns:
        Joint positions (k, n), rad or m; row 0 is ``q``.

    Raises:
        Failed: See ``track``; names the pose before which the path stops.
    """
    rows = [np.asarray(q)[None]]
    for i, pose in enumerate(poses, 1):
        try:
            rows.append(track(query, arm, rows[-1][-1], pose, deviation_m, deadline)[1:])
        except Failed as failed:  # noqa: PERF203 - the loop ends with it
            found = failed.outcome
            raise Failed(
                found.code,
                f"before pose {i} of {len(poses)} of the path: {found.message}",
                blocking=found.blocking,
                errors=(found.position_error_m, found.angle_error_rad),
            ) from failed
    return np.concatenate(rows)


def _failure(query: Query, arm: ArmSpec, q: Array, state: int, gone: str, error: Array) -> Failed:
    """Return the failure that explains why the line stops at configuration ``q`` (n,)."""
    errors = (float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:])))
    margin = np.minimum(q - query.robot.lower, query.robot.upper - q)
    tight = int(margin.argmin())
    if margin[tight] < 1e-6:
        return Failed(
            Code.JOINT_LIMIT,
            f"{gone}, where joint {arm.joint_names[tight]} reaches its limit at {q[tight]:.4f}; "
            "start from another posture",
            errors=errors,
        )
    if state in (DEVIATED, JUMPED):
        text = f"{gone}, where the joints would have to jump; start from another posture"
        return Failed(Code.PLAN_FAILED, text)
    text = f"{gone}, where the arm reaches no farther: {1e3 * errors[0]:.1f} mm and {errors[1]:.4f} rad are missing"
    return Failed(Code.NO_IK, f"{text}; choose a line closer to the arm", errors=errors)
