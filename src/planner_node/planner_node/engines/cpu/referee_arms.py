"""The referee's look at other arms: how near a trajectory comes to them, wherever they are on their ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from handiwork_core.geometry import Array, Pose
from handiwork_core.outcome import BodyPair
from handiwork_core.planning import OtherArm, SceneQuery
from handiwork_core.robot import ArmSpec, Robot
from handiwork_core.world import World

from .referee_bodies import NEAR_M, Body, Track, frames_of, held_body, link_body, placed, rigid_parts

CLOSE_M = 0.005
"""Arms that come nearer to each other are refused."""
FINE_M, FINE_RAD = 0.005, 0.02
"""A way is looked at so finely that nothing on it moves farther from look to look."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A body of another arm wherever it comes along: poses of its link (k, 4, 4) in the world."""

    body: Body
    frames: Array


def told(robot: Robot, query: SceneQuery) -> frozenset[str]:
    """Links whose place the query's other arms say."""
    moved = (_links(robot, robot.arm(other.arm)) for other in query.others)
    return frozenset(link for links in moved for link in links)


def arm_gaps(
    robot: Robot, arm: ArmSpec, root: Pose, world: World, query: SceneQuery, tracks: list[Track]
) -> Iterator[tuple[BodyPair, Array, float]]:
    """Every pair of a body that the arm moves and one of another arm: names, distance (m,) over time, limit."""
    rigid, allowed = rigid_parts(robot, arm), {frozenset(p) for p in query.allowed}
    mine = [track for track in tracks if rigid[track.body.link] != rigid[robot.root_link]]
    for other in query.others:
        for way in _ways(robot, root, world, query, other):
            for track in mine:
                a, b = track.body, way.body
                known = not (a.held or b.held) and tuple(sorted((a.link, b.link))) in robot.ignored_pairs
                if not known and frozenset((a.name, b.name)) not in allowed:
                    yield BodyPair(a.name, b.name), _nearest(track, way), CLOSE_M


def _links(robot: Robot, arm: ArmSpec) -> list[str]:
    rigid = rigid_parts(robot, arm)
    return [link for link in robot.links if rigid[link] != robot.root_link]


def _ways(robot: Robot, root: Pose, world: World, query: SceneQuery, other: OtherArm) -> Iterator[Way]:
    if not len(other.q):
        return
    arm, joints = robot.arm(other.arm), {**dict(query.gripper_m), **dict(other.gripper_m)}
    bodies = [body for link in _links(robot, arm) if (body := link_body(robot, link)) is not None]
    bodies += [held_body(world, held) for held in other.attached]
    coarse = frames_of(robot, arm, root, joints, other.q)
    frames = frames_of(robot, arm, root, joints, _refined(other.q, [(coarse[b.link], b) for b in bodies]))
    for body in bodies:
        yield Way(body, frames[body.link])


def _refined(q: Array, placed_bodies: list[tuple[Array, Body]]) -> Array:
    """More rows (m, n) between those of ``q`` (k, n)."""
    if len(q) < 2:
        return q
    moved = np.zeros(len(q) - 1)
    for frames, body in placed_bodies:
        step = np.linalg.norm(np.diff(placed(frames, body), axis=0), axis=2).max(axis=1)
        moved = np.maximum(moved, step)
    turned = np.abs(np.diff(q, axis=0)).max(axis=1)
    counts = np.maximum(1, np.ceil(np.maximum(moved / FINE_M, turned / FINE_RAD))).astype(int)
    parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(q[:-1], q[1:], counts, strict=True)]
    return np.concatenate([*parts, q[-1:]])


def _nearest(track: Track, way: Way) -> Array:
    """(m,) smallest distance to the body anywhere on its way; beyond NEAR_M a lower bound by the balls around both."""
    around = way.body.around
    middles = way.frames[:, :3, :3] @ around[:3] + way.frames[:, :3, 3]
    gaps = np.asarray(cKDTree(middles).query(track.middle)[0]) - track.radius - around[3]
    near = np.flatnonzero(gaps < NEAR_M)
    if len(near):
        points, balls = track.centres(near).reshape(-1, 3), way.body.balls
        best = np.full(len(points), np.inf)
        for radius in np.unique(balls[:, 3]):
            same = Body(way.body.name, way.body.link, balls[balls[:, 3] == radius], way.body.held)
            tree = cKDTree(placed(way.frames, same).reshape(-1, 3))
            best = np.minimum(best, np.asarray(tree.query(points)[0]) - radius)
        gaps[near] = (best.reshape(len(near), -1) - track.body.balls[:, 3]).min(axis=1)
    return np.asarray(gaps)
