"""Which goals keep what is to be held, and how far a motion is from keeping it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.kinematics import tool_poses
from handiwork_planning.scene.query import Query
from handiwork_planning.search.requests import Deadline, Failed
from handiwork_planning.timing.parameterization import Limits

from .pose_constraint import (
    HOLD_M,
    HOLD_RAD,
    Hold,
    held_gap,
    held_share,
)

COMPONENTS = ("the turn about x", "the turn about y", "the turn about z", "x", "y", "z")


@dataclass(frozen=True, slots=True, eq=False)
class HeldProblem:
    """One request: ``weights`` (6,), the kernels' ``hold``, and what every step needs."""

    query: Query
    weights: tuple[float, ...]
    hold: Hold
    limits: Limits
    names: tuple[str, ...]
    seed: int
    deadline: Deadline


def check_weights(weights: tuple[float, ...]) -> None:
    """Failed with BAD_NUMBER unless there are six finite numbers, none below zero."""
    if len(weights) != 6:
        raise Failed(Code.BAD_NUMBER, f"hold_vec_weight has {len(weights)} numbers; give 6")
    if not np.isfinite(weights).all() or min(weights) < 0.0:
        raise Failed(
            Code.BAD_NUMBER, f"hold_vec_weight is {list(weights)}; give finite numbers, none below 0"
        )


def refusal(problem: HeldProblem, pose: Array) -> tuple[float, str]:
    """How far the EE pose (12,) is from keeping what is held, as a share of what is allowed, and words for it."""
    shift, gap = np.empty(6), np.empty(len(problem.hold.turns))
    worst = held_gap(pose, problem.hold, shift, gap)
    shares = np.abs(gap) / np.where(problem.hold.turns == 1, HOLD_RAD, HOLD_M)
    i = int(shares.argmax())
    component = [c for c in range(6) if problem.weights[c] > 0.0][i]
    unit = "rad" if component < 3 else "m"
    most = HOLD_RAD if component < 3 else HOLD_M
    return worst, f"{COMPONENTS[component]} of the base by {gap[i]:+.4f} {unit} (allowed {most:g} {unit})"


def compatible(problem: HeldProblem, poses: Array) -> Ints:
    """Rows of EE poses (k, 12) that keep what is held.

    Raises:
        Failed: CONTRADICTION, with the component and difference of the nearest one, when none does.
    """
    found = [refusal(problem, pose) for pose in poses]
    keep = np.flatnonzero([share <= 1.0 for share, _ in found])
    if len(keep) == 0:
        text = min(found)[1]
        raise Failed(
            Code.CONTRADICTION,
            f"no goal keeps what hold_vec_weight holds: the nearest of {len(poses)} changes {text}; "
            "move the goal or set that weight to 0",
        )
    return keep


def compatible_goals(problem: HeldProblem, q: Array) -> Ints:
    """Rows of configurations (k, n) that keep what is held; Failed as ``compatible``."""
    poses = np.empty((len(q), 12))
    tool_poses(np.ascontiguousarray(q), problem.query.robot, poses)
    return compatible(problem, poses)


def worst_share(problem: HeldProblem, q: Array) -> float:
    """Largest held component along ``q`` (k, n), and half-way between rows, as a share of what is allowed."""
    frames, middle = problem.query.frames, 0.5 * (q[1:] + q[:-1])
    rows = np.ascontiguousarray(np.concatenate([q, middle]))
    return max(held_share(row, problem.hold, problem.query.robot, frames) for row in rows)
