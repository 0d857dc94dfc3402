"""Forward kinematics and the geometric Jacobian of one link, for the solution of general constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import Joint, Robot


@dataclass(frozen=True, slots=True, eq=False)
class LinkState:
    """The pose of a link, and how the joints of a group move it.

    Attributes:
        world_T_link: Its pose.
        jacobian: Linear velocity of the link's origin above its angular velocity, both in ``world``, per unit of
            joint velocity, (6, dof).
    """

    world_T_link: Pose
    jacobian: Array


class LinkChain:
    """The joints from the robot's root to one link.

    Args:
        robot: The robot.
        link: The link.
        joint_names: Joints of the group, the columns of the Jacobian.
        world_T_root: Pose of the robot's root link.
        others: Positions of joints outside of the group by name, rad or m.

    Raises:
        KeyError: The robot has no such link.
    """

    def __init__(
        self,
        robot: Robot,
        link: str,
        joint_names: tuple[str, ...],
        world_T_root: Pose,
        others: Mapping[str, float],
    ) -> None:
        if link not in robot.links:
            raise KeyError(link)
        self._robot, self._names, self._others = robot, joint_names, dict(others)
        self._root = world_T_root.matrix()
        parents = {joint.child: joint for joint in robot.joints.values()}
        chain: list[Joint] = []
        while link in parents:
            chain.append(parents[link])
            link = parents[link].parent
        self._chain = tuple((joint, joint.parent_T_joint.matrix()) for joint in reversed(chain))
        moved = {name: i for i, name in enumerate(joint_names)}
        self._columns = {
            joint.name: (moved[joint.mimic.joint], joint.mimic.multiplier)
            if joint.mimic is not None and joint.mimic.joint in moved
            else (moved[joint.name], 1.0)
            for joint, _ in self._chain
            if joint.name in moved or (joint.mimic is not None and joint.mimic.joint in moved)
        }

    @property
    def moves(self) -> bool:
        """True if a joint of the group moves the link."""
        return bool(self._columns)

    def state(self, q: Array) -> LinkState:
        """Return the link's pose and Jacobian.

        Args:
            q: Positions of the group's joints, (dof,), rad or m.
        """
        positions = {**self._others, **dict(zip(self._names, q.tolist(), strict=True))}
        pose, motions = self._root, []
        for joint, parent_T_joint in self._chain:
            pose = pose @ parent_T_joint
            if joint.type is JointKind.FIXED:
                continue
            if joint.name in self._columns:
                motions.append((joint, pose))
            pose = pose @ _motion(joint, joint_position(self._robot, joint.name, positions))
        jacobian = np.zeros((6, len(self._names)))
        for joint, before in motions:
            axis = before[:3, :3] @ joint.axis
            column, factor = self._columns[joint.name]
            if joint.type is JointKind.PRISMATIC:
                jacobian[:3, column] += factor * axis
            else:
                jacobian[:3, column] += factor * np.cross(axis, pose[:3, 3] - before[:3, 3])
                jacobian[3:, column] += factor * axis
        return LinkState(Pose.from_matrix(pose), jacobian)


def _motion(joint: Joint, position: float) -> Array:
    """Return the homogeneous matrix of a joint at a position; rotations by Rodrigues' formula."""
    matrix = np.eye(4)
    if joint.type is JointKind.PRISMATIC:
        matrix[:3, 3] = position * joint.axis
        return matrix
    x, y, z = joint.axis.tolist()
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix[:3, :3] += np.sin(position) * k + (1.0 - np.cos(position)) * (k @ k)
    return matrix
