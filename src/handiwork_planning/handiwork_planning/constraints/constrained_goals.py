"""Selection of goals that keep the held components, and a measure of how far a motion is from keeping them."""

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
    """One request with held components.

    Attributes:
        query: Robot, scene and margins.
        weights: Weight of each component, (6,); those above zero are held.
        hold: The same for the kernels.
        limits: Limits of velocity, acceleration and jerk.
        names: Joint names, (n,).
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.
    """

    query: Query
    weights: tuple[float, ...]
    hold: Hold
    limits: Limits
    names: tuple[str, ...]
    seed: int
    deadline: Deadline


def check_weights(weights: tuple[float, ...]) -> None:
    """Check that there are six finite numbers, none below zero.

    Args:
        weights: Weights of (ang x, y, z, lin x, y, z).

    Raises:
        Failed: BAD_NUMBER.
    """
    if len(weights) != 6:
        raise Failed(Code.BAD_NUMBER, f"hold_vec_weight has {len(weights)} numbers; give 6")
    if not np.isfinite(weights).all() or min(weights) < 0.0:
        raise Failed(
            Code.BAD_NUMBER, f"hold_vec_weight is {list(weights)}; give finite numbers, none below 0"
        )


def refusal(problem: HeldProblem, pose: Array) -> tuple[float, str]:
    """Measure how far an EE pose is from keeping the held components.

    Args:
        problem: The request.
        pose: world_T_ee, (12,).

    Returns:
        The largest difference as a share of the allowed one, and a description of it.
    """
    shift, gap = np.empty(6), np.empty(len(problem.hold.turns))
    worst = held_gap(pose, problem.hold, shift, gap)
    shares = np.abs(gap) / np.where(problem.hold.turns == 1, HOLD_RAD, HOLD_M)
    i = int(shares.argmax())
    component = [c for c in range(6) if problem.weights[c] > 0.0][i]
    unit = "rad" if component < 3 else "m"
    most = HOLD_RAD if component < 3 else HOLD_M
    return worst, f"{COMPONENTS[component]} of the base by {gap[i]:+.4f} {unit} (allowed {most:g} {unit})"


def compatible(problem: HeldProblem, poses: Array) -> Ints:
    """Return the rows of ``poses`` that keep the held components.

    Args:
        problem: The request.
        poses: world_T_ee, (k, 12).

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
    """Return the rows of configurations that keep the held components.

    Args:
        problem: The request.
        q: Configurations, (k, n), rad or m.

    Raises:
        Failed: as ``compatible``.
    """
    poses = np.empty((len(q), 12))
    tool_poses(np.ascontiguousarray(q), problem.query.robot, poses)
    return compatible(problem, poses)


def worst_share(problem: HeldProblem, q: Array) -> float:
    """Return the largest difference of a held component along a path, and half-way between its rows.

    Args:
        problem: The request.
        q: Path, (k, n), rad or m.

    Returns:
        The difference as a share of the allowed one.
    """
    frames, middle = problem.query.frames, 0.5 * (q[1:] + q[:-1])
    rows = np.ascontiguousarray(np.concatenate([q, middle]))
    return max(held_share(row, problem.hold, problem.query.robot, frames) for row in rows)
