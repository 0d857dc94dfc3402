"""Bodies of the robot over time for the referee: plain numpy, from the robot's own tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import World
from handiwork_core.robot.followers import driven_by
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import ArmSpec, Robot

from .shape_distances import surface

NEAR_M = 0.02
"""Pairs farther apart than this are measured by the balls around the bodies only, m."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkBalls:
    """Balls in a link's frame.

    Attributes:
        name: Name of the link with the robot's name, or of the object.
        link: The link that carries the balls.
        balls: Centres and radii, (k, 4), m.
        held: The body is a held object.
    """

    name: str
    link: str
    balls: Array
    held: bool

    @property
    def around(self) -> Array:
        """The centre and radius (4,) [m] of a ball around all balls."""
        middle = 0.5 * (self.balls[:, :3].min(axis=0) + self.balls[:, :3].max(axis=0))
        far = np.linalg.norm(self.balls[:, :3] - middle, axis=1) + self.balls[:, 3]
        return np.append(middle, far.max())


@dataclass(frozen=True, slots=True, eq=False)
class BodyPath:
    """A body over time.

    Attributes:
        body: The body.
        frames: World poses of its link, (m, 4, 4).
        middle: Centre of the ball around it in the world, (m, 3), m.
        radius: Radius of that ball, m.
    """

    body: LinkBalls
    frames: Array
    middle: Array
    radius: float

    def centres(self, rows: NDArray[np.int64]) -> Array:
        """Return the centres of all balls at some samples, (r, k, 3), m.

        Args:
            rows: Indices of the samples, (r,).
        """
        return placed(self.frames[rows], self.body)


def link_body(robot: Robot, link: str) -> LinkBalls | None:
    """Return the balls of a link; None if it has none.

    Args:
        robot: The robot.
        link: Name of the link.
    """
    for s in robot.spheres:
        if s.link == link and len(s.radii):
            return LinkBalls(f"{robot.name}/{link}", link, np.column_stack([s.centers, s.radii]), False)
    return None


def held_body(world: World, held: Attachment) -> LinkBalls:
    """Return points of a held object's surface in the frame of the link that holds it.

    Args:
        world: Objects and their states.
        held: The object and its link.
    """
    points = np.concatenate([surface(s) for s in world.objects[held.object].shapes])
    balls = np.column_stack([held.link_T_object.apply(points[:, :3]), points[:, 3]])
    return LinkBalls(held.object, held.link, balls, True)


def frames_of(
    robot: Robot, arm: ArmSpec, world_T_root: Pose, gripper: dict[str, float], q: Array
) -> dict[str, Array]:
    """Return world poses (m, 4, 4) of all links.

    Args:
        robot: The robot.
        arm: The arm that moves.
        world_T_root: Pose of the robot's root link.
        gripper: Positions of other joints, rad or m.
        q: Configurations of the arm, (m, n), rad or m.
    """
    frames = {robot.root_link: np.broadcast_to(world_T_root.matrix(), (len(q), 4, 4))}
    for joint in robot.joints.values():
        leader = joint.name if joint.mimic is None else joint.mimic.joint
        if leader in arm.joint_names:
            value = q[:, arm.joint_names.index(leader)]
            if joint.mimic is not None:
                value = joint.mimic.multiplier * value + joint.mimic.offset
        else:
            value = np.full(len(q), joint_position(robot, joint.name, gripper))
        move = np.zeros((len(q), 4, 4))
        move[:] = np.eye(4)
        if joint.type is JointKind.PRISMATIC:
            move[:, :3, 3] = value[:, None] * joint.axis
        elif joint.type is JointKind.REVOLUTE:
            x, y, z = joint.axis
            k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            s, c = np.sin(value)[:, None, None], np.cos(value)[:, None, None]
            move[:, :3, :3] += s * k + (1.0 - c) * (k @ k)
        frames[joint.child] = frames[joint.parent] @ joint.parent_T_joint.matrix() @ move
    return frames


def placed(frames: Array, body: LinkBalls) -> Array:
    """Return the centres of balls in the world, (m, k, 3), m.

    Args:
        frames: World poses of the link, (m, 4, 4).
        body: The body.
    """
    return np.asarray(body.balls[:, :3] @ frames[:, :3, :3].transpose(0, 2, 1) + frames[:, None, :3, 3])


def track_of(frames: Array, body: LinkBalls) -> BodyPath:
    """Return a body over time.

    Args:
        frames: World poses of the link, (m, 4, 4).
        body: The body.
    """
    around = body.around
    middle = frames[:, :3, :3] @ around[:3] + frames[:, :3, 3]
    return BodyPath(body, frames, middle, float(around[3]))


def rigid_parts(robot: Robot, arm: ArmSpec) -> dict[str, str]:
    """Return the first link of the rigid part of each link; the joints that the arm moves separate parts.

    Args:
        robot: The robot.
        arm: The arm that moves.
    """
    part = {robot.root_link: robot.root_link}
    for joint in robot.joints.values():
        is_moved = driven_by(joint, arm.joint_names) is not None
        part[joint.child] = joint.child if is_moved else part[joint.parent]
    return part


def between(a: BodyPath, b: BodyPath) -> Array:
    """Return the smallest distance between the balls of two bodies, (m,), m; beyond NEAR_M a lower bound.

    Args:
        a: One body over time.
        b: The other.
    """
    gaps = np.linalg.norm(a.middle - b.middle, axis=1) - a.radius - b.radius
    near = np.flatnonzero(gaps < NEAR_M)
    for start in range(0, len(near), 64):
        part = near[start : start + 64]
        (p, p_radii), (q, q_radii) = _facing(a, b, part), _facing(b, a, part)
        square = (p**2).sum(axis=2)[:, :, None] + (q**2).sum(axis=2)[:, None] - 2.0 * p @ q.transpose(0, 2, 1)
        apart = np.sqrt(np.maximum(square, 0.0)) - (p_radii[:, None] + q_radii)
        gaps[part] = apart.min(axis=(1, 2), initial=NEAR_M)
    return np.asarray(gaps)


def _facing(track: BodyPath, other: BodyPath, rows: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return centres (r, k, 3) and radii (k,) of the balls that come within NEAR_M of the ball around ``other``."""
    centres, radii = track.centres(rows), track.body.balls[:, 3]
    apart = np.linalg.norm(centres - other.middle[rows, None], axis=2) - radii - other.radius
    facing = (apart < NEAR_M).any(axis=0)
    return centres[:, facing], radii[facing]
