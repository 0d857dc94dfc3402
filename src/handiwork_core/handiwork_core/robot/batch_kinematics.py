"""Forward kinematics of one chain of joints in many configurations at once, in plain numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind

from .followers import Driven, driven_by
from .robot import Joint, Robot


class BatchChain:
    """The joints that carry one link of a robot, from another one on.

    Attributes:
        joints: The joints in order.
        drivers: Names of the joints whose positions the poses need; a joint that mimics another one needs that one.

    Args:
        robot: The robot.
        tip: The last link.
        base: The first link, which carries the last one; empty: the robot's root link.
    """

    def __init__(self, robot: Robot, tip: str, base: str = "") -> None:
        self.joints = _between(robot, base or robot.root_link, tip)
        moving = [joint for joint in self.joints if joint.type is not JointKind.FIXED]
        self.drivers = tuple(dict.fromkeys(_driver(joint) for joint in moving))
        self._at_zero = [joint.parent_T_joint.matrix() for joint in self.joints]
        self._cross = [_cross(joint.axis) for joint in self.joints]

    def driven(self, names: Sequence[str]) -> list[tuple[int, Joint, Driven]]:
        """Return the joints of the chain that an arm moves: its own, and those that follow them.

        Args:
            names: Joints of the arm in the order of its configuration.

        Returns:
            Index of the joint in ``joints``, the joint, and the law by which it moves; from base to tip.
        """
        laws = [(i, joint, driven_by(joint, names)) for i, joint in enumerate(self.joints)]
        return [(i, joint, law) for i, joint, law in laws if law is not None]

    def poses(self, positions: Mapping[str, Array], base: Array) -> Array:
        """Return the poses of the last link.

        Args:
            positions: Position of each of ``drivers``, (k,), rad or m.
            base: Poses of the first link, (k, 4, 4), or (4, 4) for the same one in all configurations.

        Returns:
            The poses in the frame of ``base``, (k, 4, 4), or (4, 4) where no joint moves and the base is a single one.

        Raises:
            KeyError: A position is missing.
        """
        return self.frames(positions, base)[-1]

    def frames(self, positions: Mapping[str, Array], base: Array) -> list[Array]:
        """Return the frame of each joint before its motion, and the poses of the last link.

        Args:
            positions: As in ``poses``.
            base: As in ``poses``.

        Returns:
            One array (k, 4, 4) for each joint in order, and one for the last link, in the frame of ``base``.

        Raises:
            KeyError: A position is missing.
        """
        found, pose = list[Array](), base
        for joint, at_zero, cross in zip(self.joints, self._at_zero, self._cross, strict=True):
            pose = pose @ at_zero
            found.append(pose)
            if joint.type is not JointKind.FIXED:
                position = positions[_driver(joint)]
                if joint.mimic is not None:
                    position = joint.mimic.multiplier * position + joint.mimic.offset
                pose = pose @ _motions(joint, cross, position)
        return [*found, pose]


def _between(robot: Robot, base: str, tip: str) -> tuple[Joint, ...]:
    """Return the joints from one link to another, in order; from the root where the first does not carry the second."""
    above = {joint.child: joint for joint in robot.joints.values()}
    found, link = list[Joint](), tip
    while link != base and link in above:
        found.append(above[link])
        link = found[-1].parent
    return tuple(found[::-1])


def _driver(joint: Joint) -> str:
    return joint.name if joint.mimic is None else joint.mimic.joint


def _cross(axis: Array) -> Array:
    """Return the matrix (3, 3) of the cross product with a vector."""
    x, y, z = axis
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _motions(joint: Joint, cross: Array, position: Array) -> Array:
    """Return the motions (k, 4, 4) of a joint at positions (k,), rad or m; rotations by Rodrigues' formula."""
    made = np.tile(np.eye(4), (len(position), 1, 1))
    if joint.type is JointKind.PRISMATIC:
        made[:, :3, 3] = position[:, None] * joint.axis
        return made
    sin, cos = np.sin(position)[:, None, None], np.cos(position)[:, None, None]
    made[:, :3, :3] += sin * cross + (1.0 - cos) * (cross @ cross)
    return made
