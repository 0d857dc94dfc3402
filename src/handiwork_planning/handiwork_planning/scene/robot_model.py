"""Fold a Robot into the serial chain of one arm at one gripper opening."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import driven_by
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import ArmSpec, Joint, Robot, Spheres
from handiwork_planning.kernels.arrays import DRIVER, PARENT, SLIDES, Ints, RobotArrays

PARALLEL = 1e-12
"""Axes count as parallel if the cosine between them differs from 1 by no more."""


@dataclass(frozen=True, slots=True, eq=False)
class SphereGroup:
    """Spheres of one body under one name.

    Attributes:
        name: Name of the link with the robot's name, or of the object.
        link: The robot link, or the link that holds the attached object.
        body: Index of the body in the chain.
        spheres: Centres in the body frame and radii, (k, 4), m.
        attached: The group is a held object.
        other: The group belongs to another arm, whose places the query gives.
    """

    name: str
    link: str
    body: int
    spheres: Array
    attached: bool = False
    other: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Mount:
    """Pose of a link on a body of the chain.

    Attributes:
        body: Index of the body.
        body_T_link: Pose, (4, 4), m.
    """

    body: int
    body_T_link: Array


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The moving part of one arm; see ``RobotArrays`` for the order of its joints.

    Attributes:
        transforms: Zero frame of each joint in its parent body, (m, 12).
        joints: Type, parent body, and driver of each joint, (m, 3).
        ratio: Move of each joint for each unit of its driver, (m,).
        mounts: Mount of every link.
    """

    transforms: Array
    joints: Ints
    ratio: Array
    mounts: Mapping[str, Mount]


def joint_values(robot: Robot, gripper_m: tuple[tuple[str, float], ...]) -> dict[str, float]:
    """Return the positions of all joints: home values, then ``gripper_m``, then mimicry.

    Args:
        robot: The robot.
        gripper_m: Names and positions of joints, rad or m.

    Raises:
        KeyError: ``gripper_m`` names a joint that the robot does not have.
    """
    given = dict(gripper_m)
    for name in given:
        if name not in robot.joints:
            raise KeyError(f"joint {name!r} is not one of {sorted(robot.joints)}")
    return {name: joint_position(robot, name, given) for name in robot.joints}


def fold(robot: Robot, arm: ArmSpec, world_T_base: Pose, values: Mapping[str, float]) -> Chain:
    """Reduce the tree to the arm's joints and those that follow them, each about its local z.

    Args:
        robot: The robot.
        arm: The arm that moves.
        world_T_base: Pose of the robot's root link.
        values: Positions of all other joints, rad or m.

    Raises:
        ValueError: the arm's joints are not one chain in the given order.
    """
    order = _order(robot, arm)
    transforms, joints, ratio = (
        np.zeros((len(order), 12)),
        np.zeros((len(order), 3), np.int64),
        np.ones(len(order)),
    )
    mounts = {robot.root_link: Mount(0, world_T_base.matrix())}
    children = {joint.child: joint for joint in robot.joints.values()}
    for link in robot.links:
        if link == robot.root_link:
            continue
        joint = children[link]
        parent = mounts[joint.parent]
        body_T_zero = parent.body_T_link @ joint.parent_T_joint.matrix()
        if joint.name not in order:
            mounts[link] = Mount(parent.body, body_T_zero @ _motion(joint, values[joint.name]))
            continue
        index, law = order.index(joint.name), driven_by(joint, arm.joint_names)
        assert law is not None
        turn = _z_to(joint.axis)
        start = body_T_zero @ turn
        if law.offset != 0.0:
            start = body_T_zero @ _motion(joint, law.offset) @ turn
        transforms[index] = np.concatenate([start[:3, :3].ravel(), start[:3, 3]])
        joints[index] = joint.type is JointKind.PRISMATIC, parent.body, law.index
        ratio[index] = law.multiplier
        mounts[link] = Mount(index + 1, turn.T)
    return Chain(transforms, joints, ratio, mounts)


def _order(robot: Robot, arm: ArmSpec) -> list[str]:
    """Return the names of the joints that the arm moves: those that carry its EE link from base to tip, then others."""
    above, link, carrying = {joint.child: joint for joint in robot.joints.values()}, arm.ee_link, list[str]()
    while link in above:
        if driven_by(above[link], arm.joint_names) is not None:
            carrying.append(above[link].name)
        link = above[link].parent
    carrying.reverse()
    own = [name for name in carrying if name in arm.joint_names]
    for name, expected in zip_longest(own, arm.joint_names):
        if name != expected:
            text = f"joint {expected or name!r} is not next in the chain"
            raise ValueError(f"arm {arm.name!r}: {text}; correct joint_names")
    moved = [joint.name for joint in robot.joints.values() if driven_by(joint, arm.joint_names) is not None]
    return carrying + [name for name in moved if name not in carrying]


def link_groups(robot: Robot, chain: Chain) -> list[SphereGroup]:
    """Return the collision spheres of every link, in its body's frame.

    Args:
        robot: The robot.
        chain: Its moving part.
    """
    return [
        SphereGroup(
            f"{robot.name}/{s.link}",
            s.link,
            chain.mounts[s.link].body,
            _moved(chain.mounts[s.link].body_T_link, s),
        )
        for s in robot.spheres
        if len(s.radii)
    ]


def assemble(robot: Robot, arm: ArmSpec, chain: Chain, groups: list[SphereGroup]) -> RobotArrays:
    """Pack chain and groups for the kernels.

    Args:
        robot: The robot.
        arm: The arm that moves.
        chain: Its moving part.
        groups: Spheres of links and held objects.
    """
    joints = [robot.joints[name] for name in arm.joint_names]
    tool, reach = chain.mounts[arm.ee_link].body_T_link, _reach(chain, groups, joints)
    sizes = [len(g.spheres) for g in groups]
    return RobotArrays(
        chain=chain.transforms,
        joints=chain.joints,
        ratio=chain.ratio,
        lower=np.array([j.lower for j in joints]),
        upper=np.array([j.upper for j in joints]),
        tool=np.concatenate([tool[:3, :3].ravel(), tool[:3, 3]]),
        tool_body=chain.mounts[arm.ee_link].body,
        group_body=np.array([g.body for g in groups], dtype=np.int64),
        group_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        spheres=np.ascontiguousarray(np.concatenate([g.spheres for g in groups])),
        bounds=np.array([bounding_sphere(g.spheres) for g in groups]),
        reach=reach,
        levers=_levers(chain, groups, joints, reach),
        pairs=_pairs(robot, groups),
    )


def bounding_sphere(spheres: Array) -> Array:
    """Return the sphere (4,) around ``spheres``, centred in the middle of their box.

    Args:
        spheres: Centres and radii, (k, 4), m.
    """
    low = (spheres[:, :3] - spheres[:, 3:]).min(axis=0)
    high = (spheres[:, :3] + spheres[:, 3:]).max(axis=0)
    centre = 0.5 * (low + high)
    radius = (np.linalg.norm(spheres[:, :3] - centre, axis=1) + spheres[:, 3]).max()
    return np.append(centre, radius)


def _moved(body_T_link: Array, s: Spheres) -> Array:
    return np.column_stack([s.centers @ body_T_link[:3, :3].T + body_T_link[:3, 3], s.radii])


def _motion(joint: Joint, value: float) -> Array:
    """Return the pose (4, 4) of the child link at ``value`` in its zero frame."""
    m = np.eye(4)
    if joint.type is JointKind.PRISMATIC:
        m[:3, 3] = joint.axis * value
    elif joint.type is JointKind.REVOLUTE:
        m[:3, :3] = _turn(joint.axis, value)
    return m


def _turn(axis: Array, angle_rad: float) -> Array:
    """Return the rotation (3, 3) about a unit axis, by Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle_rad) * k + (1.0 - np.cos(angle_rad)) * (k @ k))


def _z_to(axis: Array) -> Array:
    """Return the rotation (4, 4) that brings z onto the unit vector ``axis``."""
    m = np.eye(4)
    sine = np.array([-axis[1], axis[0], 0.0])
    length = float(np.linalg.norm(sine))
    across = sine / length if length > 1e-12 else np.array([1.0, 0.0, 0.0])
    m[:3, :3] = _turn(across, float(np.arctan2(length, axis[2])))
    return m


def _reach(chain: Chain, groups: list[SphereGroup], joints: list[Joint]) -> Array:
    """Return the largest lever (g, n) of each group about each joint.

    A point's distance from joint j's axis is at most the sum of the link offsets between and its own.
    """
    slides, ratio = chain.joints[:, SLIDES] == 1, np.abs(chain.ratio)
    lengths, reach = _lengths(chain, joints), np.zeros((len(groups), len(ratio)))
    for g, group in enumerate(groups):
        path = _carrying(chain, group.body)
        for i, j in enumerate(path):
            between = sum(lengths[k] for k in path[i + 1 :])
            reach[g, j] = ratio[j] * (1.0 if slides[j] else between + _own(group))
    return reach


def _levers(chain: Chain, groups: list[SphereGroup], joints: list[Joint], reach: Array) -> Array:
    """Return the largest speed (g, n) of each group per unit speed of each joint of the arm.

    Joints with one driver and parallel axes turn against each other: on a plate that is kept level only the way between
    them counts, not the way from them to the group.
    """
    lengths = _lengths(chain, joints)
    levers = np.asarray(reach @ (chain.joints[:, DRIVER, None] == np.arange(len(joints))), dtype=np.float64)
    if len(chain.ratio) == len(joints):
        return levers
    for g, group in enumerate(groups):
        path = _carrying(chain, group.body)
        for d in range(len(joints)):
            turns = _turns(chain, path, d)
            if turns is not None:
                ways = [*(lengths[k] for k in path[1:]), _own(group)]
                levers[g, d] = float(np.abs(np.cumsum(turns)) @ ways)
    return levers


def _turns(chain: Chain, path: list[int], driver: int) -> Array | None:
    """Return how far each joint of a path turns about one axis per unit of a driver; None if the axes may differ."""
    driven = [i for i, j in enumerate(path) if chain.joints[j, DRIVER] == driver]
    if len(driven) < 2:
        return None
    turns, sign = np.zeros(len(path)), 1.0
    for i in range(driven[0], driven[-1] + 1):
        j = path[i]
        along = float(chain.transforms[j, 8]) if i > driven[0] else 1.0
        if chain.joints[j, SLIDES] or abs(along) < 1.0 - PARALLEL:
            return None
        sign *= np.sign(along)
        turns[i] = sign * chain.ratio[j] if i in driven else 0.0
    return turns


def _lengths(chain: Chain, joints: list[Joint]) -> Array:
    """Return the largest distance (m,) of each joint's moved frame from that of the joint before it, m."""
    ranges = np.array([max(abs(j.lower), abs(j.upper)) for j in joints])[chain.joints[:, DRIVER]]
    travel = np.where(chain.joints[:, SLIDES] == 1, np.abs(chain.ratio) * ranges, 0.0)
    return np.asarray(np.linalg.norm(chain.transforms[:, 9:], axis=1) + travel)


def _own(group: SphereGroup) -> float:
    """Return the largest distance of a sphere's centre from its body's origin, m."""
    return float(np.linalg.norm(group.spheres[:, :3], axis=1).max())


def _carrying(chain: Chain, body: int) -> list[int]:
    """Return the joints that carry a body, from the world on."""
    path = list[int]()
    while body > 0:
        path.append(body - 1)
        body = int(chain.joints[body - 1, PARENT])
    return path[::-1]


def _pairs(robot: Robot, groups: list[SphereGroup]) -> Ints:
    """Return group pairs (k, 2) on different bodies that are not ignored.

    An attached object is paired with links, and with attached objects, of other bodies: one that is attached to a link
    which does not move is an obstacle of what the hand holds.
    """
    found = []
    for i, a in enumerate(groups):
        for j in range(i + 1, len(groups)):
            b = groups[j]
            if a.body == b.body:
                continue
            if not (a.attached or b.attached) and _sorted(a.link, b.link) in robot.ignored_pairs:
                continue
            found.append((i, j) if a.body <= b.body else (j, i))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _sorted(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)
