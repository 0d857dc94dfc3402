"""Goal configurations from goal poses or joint goals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.ik.pose_ik import PoseSearch, Solutions, flat_poses
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.kinematics import tool_poses
from handiwork_planning.kernels.rng import new_state
from handiwork_planning.scene.query import Query

from .requests import Deadline, Failed, clearance, within_limits

PER_POSE = 8
"""Solutions kept of each pose."""
TRIES = 32
"""Starts of inverse kinematics per pose."""
MORE_TRIES, FEW = 768, 16
"""Starts if none of so few poses has a free configuration: narrow places leave one in hundreds."""
ENOUGH = 32
"""Largest number of goals of a search at first: more make it slower, and hardly a path shorter."""
ROUND = 512
"""Poses that one search works on."""
TURN_M = 0.3
"""The travel that counts as much as one radian of turning, m."""


def pose_goals(
    query: Query, poses: tuple[Pose, ...], seeds: Array, seed: int, deadline: Deadline
) -> tuple[Array, Ints]:
    """Return the first round of ``goal_rounds``.

    Args:
        query: Robot, scene and margins.
        poses: world_T_ee.
        seeds: First starts of inverse kinematics, (s, n), rad or m; row 0 is the configuration of the arm.
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.

    Returns:
        Configurations (k, n), rad or m, and the pose index (k,) of each.

    Raises:
        Failed: as ``goal_rounds``.
    """
    return next(goal_rounds(query, poses, seeds, seed, deadline))


def goal_rounds(
    query: Query, poses: tuple[Pose, ...], seeds: Array, seed: int, deadline: Deadline
) -> Iterator[tuple[Array, Ints]]:
    """Return goals for one search after the other.

    Rounds share no configuration; the later ones are for a search that finds no path to the earlier ones. Every pose is
    tried before the rounds end.

    Args:
        query: Robot, scene and margins.
        poses: world_T_ee.
        seeds: First starts of inverse kinematics, (s, n), rad or m; row 0 is the configuration of the arm.
        seed: Seed of all random numbers.
        deadline: Limit of time, and the client's request to stop.

    Yields:
        Configurations (k, n), rad or m, and the pose index (k,) of each.

    Raises:
        Failed: BAD_GOAL without a pose, GOAL_IN_COLLISION or NO_IK when there is no goal at all, and as
            ``Deadline.poll``.
    """
    if not poses:
        raise Failed(Code.BAD_GOAL, "no goal pose was given; give at least one")

    def poll() -> bool:
        deadline.poll(lambda: " for inverse kinematics")
        return False

    state, looked, some = new_state(seed), [], False
    for first in range(-(-len(poses) // ROUND)):
        chosen = np.arange(first, len(poses), -(-len(poses) // ROUND))
        goals = flat_poses([poses[i] for i in chosen])
        search = PoseSearch(query, goals, seeds, state, PER_POSE, _order(goals, query, seeds[0]))
        given: Solutions | None = None
        for enough in (ENOUGH, len(chosen) * PER_POSE):
            found = search.run(TRIES, enough, poll)
            new = _new(found, given)
            given = found
            if new.any():
                some = True
                yield found.q[new], chosen[found.owner[new]]
        if not some and len(poses) <= FEW:
            found = search.run(MORE_TRIES, 1, poll)
            if len(found.q):
                some = True
                yield found.q, chosen[found.owner]
        looked.append(found)
    if not some:
        raise _none_found(query, len(poses), looked)


def _new(found: Solutions, given: Solutions | None) -> NDArray[np.bool_]:
    """Return which solutions (k,) were not among ``given``; those of each pose come in the order of their finding."""
    if given is None:
        return np.ones(len(found.q), dtype=bool)
    poses = len(found.errors)
    before = np.bincount(given.owner, minlength=poses)
    counts = np.bincount(found.owner, minlength=poses)
    place = np.arange(len(found.owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(place >= before[found.owner])


def _order(goals: Array, query: Query, start: Array) -> Ints:
    """Return indices (p,) of ``goals`` (p, 12).

    They are by turns the nearest to the tool at ``start`` (n,), and one from anywhere.
    """
    here = np.empty((1, 12))
    tool_poses(np.ascontiguousarray(start[None]), query.robot, here)
    cosine = 0.5 * (goals[:, :9] @ here[0, :9] - 1.0)
    way = np.linalg.norm(goals[:, 9:] - here[0, 9:], axis=1) + TURN_M * np.arccos(np.clip(cosine, -1.0, 1.0))
    nearest = np.argsort(way, kind="stable")
    anywhere = np.argsort(np.arange(len(goals)) * 0.6180339887498949 % 1.0, kind="stable")
    both = np.stack([nearest, anywhere], axis=1).ravel()
    _, firsts = np.unique(both, return_index=True)
    return np.asarray(both[np.sort(firsts)])


def joint_goals(arm: ArmSpec, query: Query, goals: Array) -> tuple[Array, Ints]:
    """Return those goals that are within limits and free, and their indices.

    Args:
        arm: The arm that moves.
        query: Robot, scene and margins.
        goals: Configurations, (k, n) or (n,), rad or m.

    Returns:
        Configurations (l, n), rad or m, and the row of ``goals`` (l,) of each.

    Raises:
        Failed: the reason of the first goal when none is good.
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
    """Return a goal moved into limits, which is free.

    Args:
        arm: The arm that moves.
        query: Robot, scene and margins.
        q: Configuration, (n,), rad or m.
        what: Name of the goal in messages.

    Raises:
        Failed: as ``within_limits``, or GOAL_IN_COLLISION with pair and depth.
    """
    goal = within_limits(arm, query, q, what)
    if not query.touches(goal):
        return goal
    depth, pair = query.deepest(goal, over_margin=False)
    if pair is not None:
        raise Failed(
            Code.GOAL_IN_COLLISION,
            f"{what}: {pair.a} and {pair.b} are {clearance(depth)}; choose another goal or allow the pair",
            blocking=pair,
            depth_m=-depth,
        )
    return goal


def _none_found(query: Query, poses: int, looked: list[Solutions]) -> Failed:
    """Return the failure with the nearest miss: a solution that touches, with its depth, or else the smallest error."""
    hit = np.concatenate([found.hit for found in looked])
    reached = np.flatnonzero(hit[:, 0] >= 0)
    if len(reached):
        touching = np.concatenate([found.touching for found in looked])
        depth, pair = query.deepest(touching[reached[0]], over_margin=False)
        pair = pair or query.pair(hit[reached[0]])
        return Failed(
            Code.GOAL_IN_COLLISION,
            f"{len(reached)} of {poses} goal poses can be reached, and there every configuration found touches "
            f"something: {pair.a} and {pair.b} are {clearance(depth)}; choose another pose",
            blocking=pair,
            depth_m=-depth,
        )
    errors = np.concatenate([found.errors for found in looked])
    gap, turn = errors[int(np.argmin(errors[:, 0] + 0.1 * errors[:, 1]))]
    return Failed(
        Code.NO_IK,
        f"none of {poses} goal poses can be reached: "
        f"the closest try stays {1e3 * gap:.1f} mm and {turn:.4f} rad off; move the goal closer to the arm",
        errors=(float(gap), float(turn)),
    )
