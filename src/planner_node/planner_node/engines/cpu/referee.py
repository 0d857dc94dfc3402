"""A second opinion on trajectories, written from the definitions in plain numpy and sharing nothing with the kernels.

It works on the robot's own tree, on exact distances and on points of a held object's surface instead of
covering spheres.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.geometry import Array, Pose
from handiwork_core.kinematics import joint_position, link_poses
from handiwork_core.outcome import BodyPair, Code
from handiwork_core.planning import SceneQuery, Verdict
from handiwork_core.robot import ArmSpec, JointType, Robot
from handiwork_core.trajectory import Trajectory
from handiwork_core.world import Shape, World

from .referee_shapes import distance, surface

FINE_M, FINE_RAD = 0.005, 0.01
LINK_DEPTH_M = 0.0005
"""Links this deep in an object are refused."""
OTHER_DEPTH_M = 0.002
"""The same for a held object, whose points lie on its true surface, and for links in links."""
MOST_ROWS = 200_000
"""Configurations looked at, at most: about a kilometre of motion, and a minute of work."""
NEAR_M = 0.02
"""Farther pairs are told apart by the balls around the bodies only."""
TOUCH_M, DEEPER_M = 0.005, 0.002
"""Pairs up to TOUCH_M deep at the start may stay so, and get deeper by no more than DEEPER_M."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """Balls (k, 4) in a link's frame."""

    name: str
    link: str
    balls: Array
    held: bool

    @property
    def around(self) -> Array:
        """(4,) centre and radius [m] of a ball around all balls."""
        middle = 0.5 * (self.balls[:, :3].min(axis=0) + self.balls[:, :3].max(axis=0))
        far = np.linalg.norm(self.balls[:, :3] - middle, axis=1) + self.balls[:, 3]
        return np.append(middle, far.max())


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A body over time: link poses (m, 4, 4) in the world, and centre (m, 3) and radius [m] of the ball around it."""

    body: Body
    frames: Array
    middle: Array
    radius: float

    def centres(self, rows: NDArray[np.int64]) -> Array:
        """(r, k, 3) of all balls at some samples."""
        return _placed(self.frames[rows], self.body)


def collisions(
    robot: Robot, arm: ArmSpec, world_T_base: Pose, world: World, query: SceneQuery, trajectory: Trajectory
) -> Verdict:
    """The first collision along ``trajectory``, sampled at FINE_M and FINE_RAD; ``at`` is the sample before it."""
    gripper = dict(query.gripper_m)
    root = world_T_base @ link_poses(robot, gripper)[arm.base_link].inverse()
    bodies = _bodies(robot, world, query)
    coarse = _centres(robot, arm, root, gripper, bodies, trajectory.q)
    counts = _counts(trajectory, coarse)
    if counts.sum() > MOST_ROWS:
        text = f"the trajectory needs {counts.sum()} looks to be judged, more than {MOST_ROWS}; judge it in parts"
        return Verdict(Code.TRAJECTORY_REFUSED, text, at=0)
    q, owner = _refine(trajectory, counts)
    frames = _frames(robot, arm, root, gripper, q)
    tracks = [_track(frames[b.link], b) for b in bodies]
    worst = Verdict(Code.OK, clearance_m=float("inf"))
    for pair, gaps, limit in _gaps(robot, arm, world, query, tracks):
        if -TOUCH_M <= gaps[0] < limit:
            limit = float(gaps[0]) - DEEPER_M
        bad = np.flatnonzero(gaps < limit)
        low = float(gaps.min())
        if len(bad) and (worst.code is Code.OK or owner[bad[0]] < worst.at):
            at = int(owner[bad[0]])
            text = f"{pair.a} goes {-1e3 * low:.1f} mm into {pair.b}, first near sample {at}; plan again"
            worst = Verdict(Code.TRAJECTORY_REFUSED, text, pair, low, at)
        elif worst.code is Code.OK and low < worst.clearance_m:
            worst = Verdict(Code.OK, f"nearest: {pair.a} and {pair.b}", pair, low)
    return worst


def _bodies(robot: Robot, world: World, query: SceneQuery) -> list[Body]:
    found = [
        Body(f"{robot.name}/{s.link}", s.link, np.column_stack([s.centers, s.radii]), False)
        for s in robot.spheres
        if len(s.radii)
    ]
    for held in query.attached:
        points = np.concatenate([surface(s) for s in world.objects[held.object].shapes])
        found.append(
            Body(
                held.object,
                held.link,
                np.column_stack([held.link_T_object.apply(points[:, :3]), points[:, 3]]),
                True,
            )
        )
    return found


def _frames(
    robot: Robot, arm: ArmSpec, world_T_root: Pose, gripper: dict[str, float], q: Array
) -> dict[str, Array]:
    """World poses (m, 4, 4) of all links for ``q`` (m, n)."""
    frames = {robot.root_link: np.broadcast_to(world_T_root.matrix(), (len(q), 4, 4))}
    for joint in robot.joints.values():
        if joint.name in arm.joint_names:
            value = q[:, arm.joint_names.index(joint.name)]
        else:
            value = np.full(len(q), joint_position(robot, joint.name, gripper))
        move = np.zeros((len(q), 4, 4))
        move[:] = np.eye(4)
        if joint.type is JointType.PRISMATIC:
            move[:, :3, 3] = value[:, None] * joint.axis
        elif joint.type is JointType.REVOLUTE:
            x, y, z = joint.axis
            k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            s, c = np.sin(value)[:, None, None], np.cos(value)[:, None, None]
            move[:, :3, :3] += s * k + (1.0 - c) * (k @ k)
        frames[joint.child] = frames[joint.parent] @ joint.parent_T_joint.matrix() @ move
    return frames


def _placed(frames: Array, body: Body) -> Array:
    """(m, k, 3) centres in the world."""
    return np.asarray(np.einsum("mij,kj->mki", frames[:, :3, :3], body.balls[:, :3]) + frames[:, None, :3, 3])


def _track(frames: Array, body: Body) -> Track:
    around = body.around
    middle = frames[:, :3, :3] @ around[:3] + frames[:, :3, 3]
    return Track(body, frames, middle, float(around[3]))


def _centres(
    robot: Robot, arm: ArmSpec, root: Pose, gripper: dict[str, float], bodies: list[Body], q: Array
) -> Array:
    frames = _frames(robot, arm, root, gripper, q)
    return np.concatenate([_placed(frames[b.link], b) for b in bodies], axis=1)


def _counts(trajectory: Trajectory, centres: Array) -> NDArray[np.int64]:
    """(k - 1,) into how many steps each step between samples is to be divided; ``centres`` (k, s, 3) of all balls."""
    h = np.diff(trajectory.t_s)[:, None]
    moved = np.linalg.norm(np.diff(centres, axis=0), axis=2).max(axis=1)
    turned = np.maximum(np.abs(np.diff(trajectory.q, axis=0)), np.abs(trajectory.qd[:-1]) * h).max(axis=1)
    return np.maximum(1, np.ceil(1.2 * np.maximum(moved / FINE_M, turned / FINE_RAD))).astype(np.int64)


def _refine(trajectory: Trajectory, counts: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Configurations (m, n), fine enough, by cubic Hermite interpolation, and the sample before each."""
    h = np.diff(trajectory.t_s)[:, None]
    i = np.repeat(np.arange(len(counts)), counts)
    u = ((np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[i])[:, None]
    q0, q1 = trajectory.q[i], trajectory.q[i + 1]
    v0, v1 = trajectory.qd[i] * h[i], trajectory.qd[i + 1] * h[i]
    q = (2 * u**3 - 3 * u**2 + 1) * q0 + (u**3 - 2 * u**2 + u) * v0
    q += (3 * u**2 - 2 * u**3) * q1 + (u**3 - u**2) * v1
    return np.concatenate([q, trajectory.q[-1:]]), np.append(i, len(counts))


def _gaps(
    robot: Robot,
    arm: ArmSpec,
    world: World,
    query: SceneQuery,
    tracks: list[Track],
) -> Iterator[tuple[BodyPair, Array, float]]:
    """Every pair that counts: its name, its distance (m,) over time, and the distance below which it is refused."""
    skipped = query.ignored | {a.object for a in query.attached}
    allowed = {frozenset(p) for p in query.allowed}
    rigid = _rigid_parts(robot, arm)
    base = rigid[robot.root_link]
    solids = [
        (name, shape, (world.states[name].world_T_object @ shape.object_T_shape).inverse())
        for name, solid in world.objects.items()
        if name not in skipped and name in world.states
        for shape in solid.shapes
    ]
    for track in tracks:
        body = track.body
        if rigid[body.link] == base:
            continue
        limit = -OTHER_DEPTH_M if body.held else -LINK_DEPTH_M
        for name, shape, shape_T_world in solids:
            if frozenset((body.name, name)) not in allowed:
                yield BodyPair(body.name, name), _to_shape(track, shape_T_world, shape), limit
    for i, one in enumerate(tracks):
        for other in tracks[i + 1 :]:
            a, b = one.body, other.body
            links = tuple(sorted((a.link, b.link)))
            known = not (a.held or b.held) and links in robot.ignored_pairs
            if known or rigid[a.link] == rigid[b.link] or frozenset((a.name, b.name)) in allowed:
                continue
            yield BodyPair(a.name, b.name), _between(one, other), -OTHER_DEPTH_M


def _rigid_parts(robot: Robot, arm: ArmSpec) -> dict[str, str]:
    """The first link of the rigid part that each link belongs to: parts are split by the arm's joints only."""
    part = {robot.root_link: robot.root_link}
    for joint in robot.joints.values():
        part[joint.child] = joint.child if joint.name in arm.joint_names else part[joint.parent]
    return part


def _to_shape(track: Track, shape_T_world: Pose, shape: Shape) -> Array:
    """(m,) smallest distance over the balls; exact below NEAR_M, beyond that a lower bound by the ball around them."""
    balls = track.body.balls
    gaps = distance(shape, shape_T_world.apply(track.middle)) - track.radius
    near = np.flatnonzero(gaps < NEAR_M)
    if len(near):
        local = shape_T_world.apply(track.centres(near).reshape(-1, 3))
        gaps[near] = (distance(shape, local).reshape(len(near), -1) - balls[:, 3]).min(axis=1)
    return np.asarray(gaps)


def _between(a: Track, b: Track) -> Array:
    """(m,) smallest distance between the balls; as above a lower bound beyond NEAR_M."""
    gaps = np.linalg.norm(a.middle - b.middle, axis=1) - a.radius - b.radius
    near = np.flatnonzero(gaps < NEAR_M)
    sums = a.body.balls[:, None, 3] + b.body.balls[None, :, 3]
    for start in range(0, len(near), 64):
        part = near[start : start + 64]
        p, q = a.centres(part), b.centres(part)
        square = (p**2).sum(axis=2)[:, :, None] + (q**2).sum(axis=2)[:, None] - 2.0 * p @ q.transpose(0, 2, 1)
        gaps[part] = (np.sqrt(np.maximum(square, 0.0)) - sums).min(axis=(1, 2))
    return np.asarray(gaps)
