"""From what is asked to goal configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import Code
from handiwork_core.robot import ArmSpec

from . import ik
from .arrays import OFF, Ints, flat
from .query import Query
from .requests import Deadline, Failed, clearance, within_limits
from .rng import State, new_state

PER_POSE = 4
"""Solutions kept of each pose."""
TRIES = 24
"""Starts of inverse kinematics per pose."""


@dataclass(frozen=True, slots=True, eq=False)
class IkFound:
    """``q`` (k, n) free solutions; ``errors`` smallest met [m, rad]; ``hit`` (2,) the last pair that removed one."""

    q: Array
    errors: tuple[float, float]
    hit: Ints


def solve_pose(
    query: Query, pose: Pose, seeds: Array, state: State, tries: int = TRIES, most: int = PER_POSE
) -> IkFound:
    """Free configurations for one EE pose; the seeds (s, n) come first."""
    found, best = np.empty((most, len(query.robot.lower))), np.full(2, np.inf)
    hit = np.empty(2, dtype=np.int64)
    count = ik.solve(
        flat(pose), seeds, tries, query.robot, query.scene, query.margins, state, found, best, hit
    )
    return IkFound(found[:count].copy(), (float(best[0]), float(best[1])), hit)


def pose_goals(
    query: Query, poses: tuple[Pose, ...], seeds: Array, seed: int, deadline: Deadline
) -> tuple[Array, Ints]:
    """Configurations (k, n) that reach any of ``poses``, and the pose index (k,) of each.

    Raises:
        Failed: GOAL_IN_COLLISION or NO_IK when there is none.
    """
    state, found = new_state(seed), []
    for pose in poses:
        deadline.poll(lambda: " for inverse kinematics")
        found.append(solve_pose(query, pose, seeds, state))
    if not any(len(f.q) for f in found):
        raise _none_found(query, poses, seeds, seed, found)
    owner = np.concatenate([np.full(len(f.q), i, dtype=np.int64) for i, f in enumerate(found)])
    return np.concatenate([f.q for f in found]), owner


def joint_goals(arm: ArmSpec, query: Query, goals: Array) -> tuple[Array, Ints]:
    """Those of ``goals`` (k, n) that are within limits and free, and their indices.

    Raises:
        Failed: of the first goal when none is good.
    """
    good, owner, first = [], [], None
    for i, q in enumerate(np.atleast_2d(goals)):
        try:
            good.append(checked_goal(arm, query, q, f"goal {i}"))
            owner.append(i)
        except Failed as failed:  # noqa: PERF203 - few goals, and each may be good
            first = first or failed
    if not good:
        raise first or Failed(Code.BAD_GOAL, "no goal was given; give at least one")
    return np.array(good), np.array(owner, dtype=np.int64)


def checked_goal(arm: ArmSpec, query: Query, q: Array, what: str) -> Array:
    """``q`` within limits and free, or Failed."""
    goal = within_limits(arm, query, q, what)
    depth, pair = query.deepest(goal, over_margin=False)
    if pair is not None:
        raise Failed(
            Code.GOAL_IN_COLLISION,
            f"{what}: {pair.a} and {pair.b} are {clearance(depth)}; choose another goal or allow the pair",
            blocking=pair,
            depth_m=-depth,
        )
    return goal


def _none_found(
    query: Query, poses: tuple[Pose, ...], seeds: Array, seed: int, found: list[IkFound]
) -> Failed:
    """The nearest miss: a solution that touches, with its depth, or else the smallest error."""
    for pose, one in zip(poses, found, strict=True):
        if one.hit[0] < 0:
            continue
        anything = Query(
            query.robot,
            query.scene,
            np.full_like(query.margins, OFF),
            query.bodies,
            query.columns,
            query.held,
        )
        for q in solve_pose(anything, pose, seeds, new_state(seed)).q:
            depth, pair = query.deepest(q, over_margin=False)
            if pair is not None:
                return Failed(
                    Code.GOAL_IN_COLLISION,
                    f"every configuration for the {len(poses)} goal poses touches something: "
                    f"{pair.a} and {pair.b} are {clearance(depth)}; choose another pose",
                    blocking=pair,
                    depth_m=-depth,
                )
    errors = min((f.errors for f in found), key=lambda e: e[0] + 0.1 * e[1])
    return Failed(
        Code.NO_IK,
        f"none of {len(poses)} goal poses can be reached: "
        f"the closest try stays {1e3 * errors[0]:.1f} mm and {errors[1]:.4f} rad off; move the goal closer to the arm",
        errors=errors,
    )
