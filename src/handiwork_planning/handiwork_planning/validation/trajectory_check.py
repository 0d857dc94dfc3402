"""A second judgement of trajectories, written from the definitions in plain numpy; it shares no code with the kernels.

It works on the robot's own tree, on exact distances and on points of a held object's surface instead of
covering spheres.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from handiwork_core.contracts.planning import SceneQuery, Verdict
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.voxels.voxel_map import UNMODELLED

from .other_arms import arm_gaps, placed_links
from .robot_bodies import (
    NEAR_M,
    BodyPath,
    LinkBalls,
    between,
    frames_of,
    held_body,
    link_body,
    placed,
    rigid_parts,
    track_of,
)
from .shape_distances import distance
from .voxel_distances import distances_of

FINE_M, FINE_RAD = 0.005, 0.01
LINK_DEPTH_M = 0.0005
"""Links this deep in an object are refused."""
OTHER_DEPTH_M = 0.002
"""The same for a held object, whose points lie on its true surface, and for links in links."""
MOST_ROWS = 200_000
"""Largest number of configurations that are judged: about a kilometre of motion, and a minute of work."""
TOUCH_M, DEEPER_M = 0.005, 0.002
"""Pairs up to TOUCH_M deep at the start may stay so, and get deeper by no more than DEEPER_M."""


def collisions(
    robot: Robot,
    arm: ArmSpec,
    world_T_base: Pose,
    world: World,
    query: SceneQuery,
    trajectory: Trajectory,
    *,
    with_robot: bool = True,
) -> Verdict:
    """Find the first collision along a trajectory, sampled at FINE_M and FINE_RAD.

    Args:
        robot: The robot.
        arm: The arm that moves.
        world_T_base: Pose of the robot's root link.
        world: Objects and their states.
        query: Attachments, openings, other arms, ignored and allowed bodies.
        trajectory: The trajectory.
        with_robot: Judge also the robot with itself and with its other arms.

    Returns:
        OK with the nearest pair, or TRAJECTORY_REFUSED with the pair and ``at``, the sample before the collision.
    """
    gripper, root = dict(query.gripper_m), world_T_base
    bodies = bodies_of(robot, world, query)
    coarse = _centres(robot, arm, root, gripper, bodies, trajectory.q)
    counts = _counts(trajectory, coarse)
    if counts.sum() > MOST_ROWS:
        text = f"the trajectory has {counts.sum()} configurations to judge, more than {MOST_ROWS}; judge it in parts"
        return Verdict(Code.TRAJECTORY_REFUSED, text, at=0)
    q, t_s, owner = _refine(trajectory, counts)
    frames = frames_of(robot, arm, root, gripper, q)
    tracks = [track_of(frames[b.link], b) for b in bodies]
    worst = Verdict(Code.OK, clearance_m=float("inf"))
    pairs = _object_gaps(robot, arm, world, query, tracks)
    if with_robot:
        own = _robot_gaps(robot, arm, query, tracks)
        pairs = chain(pairs, own, arm_gaps(robot, arm, root, world, query, tracks, t_s))
    for pair, gaps, limit in pairs:
        if -TOUCH_M <= gaps[0] < limit:
            limit = float(gaps[0]) - DEEPER_M
        bad = np.flatnonzero(gaps < limit)
        low = float(gaps.min())
        if len(bad) and (worst.code is Code.OK or owner[bad[0]] < worst.at):
            at = int(owner[bad[0]])
            how = f"goes {-1e3 * low:.1f} mm into" if low < 0.0 else f"comes within {1e3 * low:.1f} mm of"
            text = f"{pair.a} {how} {pair.b}, first near sample {at}; plan again"
            worst = Verdict(Code.TRAJECTORY_REFUSED, text, pair, low, at)
        elif worst.code is Code.OK and low < worst.clearance_m:
            worst = Verdict(Code.OK, f"nearest: {pair.a} and {pair.b}", pair, low)
    return worst


def bodies_of(robot: Robot, world: World, query: SceneQuery) -> list[LinkBalls]:
    """Return the links, without those of other arms that the query places, and the held objects.

    Args:
        robot: The robot.
        world: Objects and their states.
        query: Attachments and other arms.
    """
    elsewhere = placed_links(robot, query)
    links = (link_body(robot, link) for link in robot.links if link not in elsewhere)
    return [*(body for body in links if body is not None), *(held_body(world, h) for h in query.attached)]


def _centres(
    robot: Robot, arm: ArmSpec, root: Pose, gripper: dict[str, float], bodies: list[LinkBalls], q: Array
) -> Array:
    frames = frames_of(robot, arm, root, gripper, q)
    return np.concatenate([placed(frames[b.link], b) for b in bodies], axis=1)


def _counts(trajectory: Trajectory, centres: Array) -> NDArray[np.int64]:
    """Return the number of parts (k - 1,) of each step between samples; ``centres`` (k, s, 3) are of all balls."""
    h = np.diff(trajectory.t_s)[:, None]
    moved = np.linalg.norm(np.diff(centres, axis=0), axis=2).max(axis=1)
    turned = np.maximum(np.abs(np.diff(trajectory.q, axis=0)), np.abs(trajectory.qd[:-1]) * h).max(axis=1)
    return np.maximum(1, np.ceil(1.2 * np.maximum(moved / FINE_M, turned / FINE_RAD))).astype(np.int64)


def _refine(trajectory: Trajectory, counts: NDArray[np.int64]) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return configurations (m, n), fine enough, by cubic Hermite interpolation, their times, and the sample before."""
    h = np.diff(trajectory.t_s)[:, None]
    i = np.repeat(np.arange(len(counts)), counts)
    u = ((np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[i])[:, None]
    q0, q1 = trajectory.q[i], trajectory.q[i + 1]
    v0, v1 = trajectory.qd[i] * h[i], trajectory.qd[i + 1] * h[i]
    q = (2 * u**3 - 3 * u**2 + 1) * q0 + (u**3 - 2 * u**2 + u) * v0
    q += (3 * u**2 - 2 * u**3) * q1 + (u**3 - u**2) * v1
    t_s = trajectory.t_s[i] + u[:, 0] * h[i, 0]
    return (
        np.concatenate([q, trajectory.q[-1:]]),
        np.append(t_s, trajectory.t_s[-1]),
        np.append(i, len(counts)),
    )


def _object_gaps(
    robot: Robot,
    arm: ArmSpec,
    world: World,
    query: SceneQuery,
    tracks: list[BodyPath],
) -> Iterator[tuple[BodyPair, Array, float]]:
    """Yield every pair with an object or occupied cells: names, distance (m,) over time, and the least allowed one."""
    skipped = query.ignored | {a.object for a in query.attached}
    skipped |= {a.object for other in query.others for a in other.attached}
    allowed = {frozenset(p) for p in query.allowed}
    rigid = rigid_parts(robot, arm)
    base = rigid[robot.root_link]
    solids = [
        (name, shape, (world.states[name].world_T_object @ shape.object_T_shape).inverse())
        for name, solid in world.objects.items()
        if name not in skipped and name in world.states
        for shape in solid.shapes
    ]
    cells = None if world.voxels is None or UNMODELLED in skipped else distances_of(world.voxels)
    for track in tracks:
        body = track.body
        if rigid[body.link] == base:
            continue
        limit = -OTHER_DEPTH_M if body.held else -LINK_DEPTH_M
        for name, shape, shape_T_world in solids:
            if frozenset((body.name, name)) not in allowed:
                yield BodyPair(body.name, name), _to_shape(track, shape_T_world, shape), limit
        if cells is not None and frozenset((body.name, UNMODELLED)) not in allowed:
            yield BodyPair(body.name, UNMODELLED), cells.gaps(track), limit


def _robot_gaps(
    robot: Robot, arm: ArmSpec, query: SceneQuery, tracks: list[BodyPath]
) -> Iterator[tuple[BodyPair, Array, float]]:
    """Yield the same for every pair of bodies that the robot carries."""
    allowed, rigid = {frozenset(p) for p in query.allowed}, rigid_parts(robot, arm)
    for i, one in enumerate(tracks):
        for other in tracks[i + 1 :]:
            a, b = one.body, other.body
            links = tuple(sorted((a.link, b.link)))
            known = not (a.held or b.held) and links in robot.ignored_pairs
            if known or rigid[a.link] == rigid[b.link] or frozenset((a.name, b.name)) in allowed:
                continue
            yield BodyPair(a.name, b.name), between(one, other), -OTHER_DEPTH_M


def _to_shape(track: BodyPath, shape_T_world: Pose, shape: Shape) -> Array:
    """Return the smallest distance (m,) over the balls.

    It is exact below NEAR_M; beyond that it is a lower bound by the ball around them.
    """
    balls = track.body.balls
    gaps = distance(shape, shape_T_world.apply(track.middle)) - track.radius
    near = np.flatnonzero(gaps < NEAR_M)
    if len(near):
        local = shape_T_world.apply(track.centres(near).reshape(-1, 3))
        gaps[near] = (distance(shape, local).reshape(len(near), -1) - balls[:, 3]).min(axis=1)
    return np.asarray(gaps)
