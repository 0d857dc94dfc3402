"""The referee's check of other arms: how near a trajectory comes to them, anywhere on their ways or at one time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from handiwork_core.contracts.planning import OtherArm, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot

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

CLOSE_M = 0.005
"""Arms that come nearer to each other are refused."""
FINE_M, FINE_RAD = 0.005, 0.02
"""Step of the samples of a way; nothing moves farther between two of them."""


@dataclass(frozen=True, eq=False)
class Way:
    """A body of another arm at all places that it passes.

    Attributes:
        body: The body.
        frames: Poses of its link in the world, (k, 4, 4).
    """

    body: LinkBalls
    frames: Array

    @cached_property
    def around(self) -> tuple[cKDTree, float]:
        """The middles and the radius [m] of the balls around the body."""
        around = self.body.around
        return cKDTree(self.frames[:, :3, :3] @ around[:3] + self.frames[:, :3, 3]), float(around[3])

    @cached_property
    def centres(self) -> cKDTree:
        """The centres of all balls."""
        return cKDTree(placed(self.frames, self.body).reshape(-1, 3))

    @cached_property
    def by_radius(self) -> list[tuple[float, cKDTree]]:
        """The centres of all balls, by radius [m]."""
        places, radii = placed(self.frames, self.body), self.body.balls[:, 3]
        return [(float(r), cKDTree(places[:, radii == r].reshape(-1, 3))) for r in np.unique(radii)]


def placed_links(robot: Robot, query: SceneQuery) -> frozenset[str]:
    """Return the links whose places the query's other arms give.

    Args:
        robot: The robot.
        query: The scene with the other arms.
    """
    moved = (_links(robot, robot.arm(other.arm)) for other in query.others)
    return frozenset(link for links in moved for link in links)


def arm_gaps(
    robot: Robot,
    arm: ArmSpec,
    root: Pose,
    world: World,
    query: SceneQuery,
    tracks: list[BodyPath],
    t_s: Array,
) -> Iterator[tuple[BodyPair, Array, float]]:
    """Compute the distance of every pair of a body that the arm moves and one of another arm.

    Args:
        robot: The robot.
        arm: The arm that moves.
        root: world_T_root.
        world: Objects and their states.
        query: The scene with the other arms.
        tracks: Bodies over time.
        t_s: The times of the tracks on the trajectory, (m,), s.

    Yields:
        The names, the distance over time (m,) [m], and the distance below which it is refused [m].
    """
    rigid, allowed = rigid_parts(robot, arm), {frozenset(p) for p in query.allowed}
    mine = [track for track in tracks if rigid[track.body.link] != rigid[robot.root_link]]
    for other in query.others:
        theirs: Iterator[Way | BodyPath]
        if other.t_s is None:
            theirs = _ways(robot, root, world, query, other)
        else:
            theirs = _tracks(robot, root, world, query, other, t_s)
        for their in theirs:
            for track in mine:
                a, b = track.body, their.body
                known = not (a.held or b.held) and tuple(sorted((a.link, b.link))) in robot.ignored_pairs
                if not known and frozenset((a.name, b.name)) not in allowed:
                    gaps = gaps_to_way(track, their) if isinstance(their, Way) else between(track, their)
                    yield BodyPair(a.name, b.name), gaps, CLOSE_M


def _links(robot: Robot, arm: ArmSpec) -> list[str]:
    rigid = rigid_parts(robot, arm)
    return [link for link in robot.links if rigid[link] != robot.root_link]


def _bodies(robot: Robot, arm: ArmSpec, world: World, other: OtherArm) -> list[LinkBalls]:
    links = [body for link in _links(robot, arm) if (body := link_body(robot, link)) is not None]
    return links + [held_body(world, held) for held in other.attached]


def _tracks(
    robot: Robot, root: Pose, world: World, query: SceneQuery, other: OtherArm, t_s: Array
) -> Iterator[BodyPath]:
    """Yield the bodies of an arm that moves in the same motion, at the times (m,) [s] of the trajectory."""
    assert other.t_s is not None
    arm, joints = robot.arm(other.arm), {**dict(query.gripper_m), **dict(other.gripper_m)}
    columns = [np.interp(t_s, other.t_s, column) for column in other.q.T]
    frames = frames_of(robot, arm, root, joints, np.stack(columns, axis=1))
    for body in _bodies(robot, arm, world, other):
        yield track_of(frames[body.link], body)


def _ways(robot: Robot, root: Pose, world: World, query: SceneQuery, other: OtherArm) -> Iterator[Way]:
    if not len(other.q):
        return
    arm, joints = robot.arm(other.arm), {**dict(query.gripper_m), **dict(other.gripper_m)}
    bodies = _bodies(robot, arm, world, other)
    coarse = frames_of(robot, arm, root, joints, other.q)
    frames = frames_of(robot, arm, root, joints, _refined(other.q, [(coarse[b.link], b) for b in bodies]))
    for body in bodies:
        yield Way(body, frames[body.link])


def _refined(q: Array, placed_bodies: list[tuple[Array, LinkBalls]]) -> Array:
    """Return more rows (m, n) between those of ``q`` (k, n)."""
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


def gaps_to_way(track: BodyPath, way: Way) -> Array:
    """Return the smallest distance to a body anywhere on its way, (m,), m; beyond NEAR_M a lower bound.

    Args:
        track: A body over time.
        way: The body of another arm on its way.
    """
    middles, radius = way.around
    gaps = np.asarray(middles.query(track.middle)[0]) - track.radius - radius
    near = np.flatnonzero(gaps < NEAR_M)
    if len(near):
        gaps[near] = _ball_gaps(track.centres(near), track.body.balls[:, 3], way).min(axis=1)
    return gaps


def _ball_gaps(centres: Array, radii: Array, way: Way) -> Array:
    """Return the distances (r, k) of balls at ``centres`` (r, k, 3).

    Coarse bounds come first: most balls are far from most others.
    """
    points, own = centres.reshape(-1, 3), np.tile(radii, len(centres))
    middles, radius = way.around
    gaps = np.asarray(middles.query(points)[0]) - own - radius
    near = np.flatnonzero(gaps < NEAR_M)
    if len(near):
        gaps[near] = np.asarray(way.centres.query(points[near])[0]) - own[near] - way.body.balls[:, 3].max()
        near = near[gaps[near] < NEAR_M]
    if len(near):
        nearest = [np.asarray(tree.query(points[near])[0]) - radius for radius, tree in way.by_radius]
        gaps[near] = np.min(nearest, axis=0) - own[near]
    return gaps.reshape(len(centres), -1)
