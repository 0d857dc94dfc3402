"""Pose and Jacobian of one arm's EE link, fast enough for a control period. Independent of the planner's kinematics."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import Driven, driven_by
from handiwork_core.robot.robot import ArmSpec, Joint, Robot

BLOCK = 4096
"""Configurations whose intermediate arrays stay in the processor's cache; more at once take twice the time."""


class ArmKinematics:
    """The chain from an arm's base link to its EE link.

    Joints of the chain that neither are the arm's nor follow one stay at zero.

    Args:
        robot: The robot.
        arm: The arm.
    """

    def __init__(self, robot: Robot, arm: ArmSpec) -> None:
        self._dof = len(arm.joint_names)
        self._fixed: list[Array] = []
        self._cross: list[tuple[Array, Array]] = []
        self._law: list[Driven] = []
        self._row: list[int] = []
        self._is_prismatic: list[bool] = []
        self._axis: list[Array] = []
        carried, followers = np.eye(4), 0
        for joint in _chain(robot, arm):
            carried = carried @ joint.parent_T_joint.matrix()
            law = driven_by(joint, arm.joint_names)
            if law is None:
                continue
            axis = np.asarray(joint.axis, dtype=np.float64)
            self._fixed.append(carried)
            self._axis.append(axis)
            cross = _cross(axis)
            self._cross.append((cross, cross @ cross))
            self._law.append(law)
            self._row.append(law.index if joint.mimic is None else self._dof + followers)
            followers += joint.mimic is not None
            self._is_prismatic.append(joint.type is JointKind.PRISMATIC)
            carried = np.eye(4)
        self._end = carried
        self._rows = self._dof + followers

    def pose_and_jacobian(self, q: Array) -> tuple[Array, Array]:
        """Return the pose of the EE link and the Jacobian at its origin, both in the axes of the arm's base.

        Args:
            q: Joint positions, (dof,), rad or m.

        Returns:
            base_T_ee as a matrix, (4, 4), and the Jacobian, (6, dof): linear rows first, m and rad for each joint unit.
        """
        T = np.eye(4)
        origins, axes = np.zeros((self._rows, 3)), np.zeros((self._rows, 3))
        for fixed, axis, cross, law, row, slides in zip(
            self._fixed, self._axis, self._cross, self._law, self._row, self._is_prismatic, strict=True
        ):
            T = T @ fixed
            axes[row], origins[row] = T[:3, :3] @ axis, T[:3, 3]
            at = law.multiplier * q[law.index] + law.offset
            if slides:
                T[:3, 3] += axes[row] * at
            else:
                turn = _I3 + math.sin(at) * cross[0] + (1.0 - math.cos(at)) * cross[1]
                T[:3, :3] = T[:3, :3] @ turn
        T = T @ self._end
        jacobian = np.zeros((6, self._rows))
        jacobian[:3] = _crossed(axes.T, (T[:3, 3] - origins).T)
        jacobian[3:] = axes.T
        for row, slides in zip(self._row, self._is_prismatic, strict=True):
            if slides:
                jacobian[:3, row], jacobian[3:, row] = axes[row], 0.0
        return T, self._of_arm(jacobian)

    def _of_arm(self, columns: Array) -> Array:
        """Return Jacobians (..., 6, dof) from those (..., 6, k) of all joints that the arm moves."""
        found = columns[..., : self._dof]
        for law, row in zip(self._law, self._row, strict=True):
            if row >= self._dof:
                found[..., law.index] += law.multiplier * columns[..., row]
        return found

    def manipulability(self, q: Array) -> Array:
        """Return Yoshikawa's sqrt(det(J J^T)) of many configurations at once.

        Args:
            q: Joint positions, (m, dof), rad or m.

        Returns:
            The manipulabilities, (m,), m and rad for each joint unit.
        """
        blocks = [self._manipulability(q[first : first + BLOCK]) for first in range(0, len(q), BLOCK)]
        return np.concatenate([np.zeros(0), *blocks])

    def _manipulability(self, q: Array) -> Array:
        R: Array = np.broadcast_to(_I3, (len(q), 3, 3))
        p: Array = np.zeros((len(q), 3))
        origins, axes = np.zeros((len(q), self._rows, 3)), np.zeros((len(q), self._rows, 3))
        slides = np.zeros(self._rows, dtype=bool)
        for fixed, axis, cross, law, row, is_prismatic in zip(
            self._fixed, self._axis, self._cross, self._law, self._row, self._is_prismatic, strict=True
        ):
            p = p + R @ fixed[:3, 3]
            R = R @ fixed[:3, :3]
            axes[:, row], origins[:, row], slides[row] = R @ axis, p, is_prismatic
            at = law.multiplier * q[:, law.index, None] + law.offset
            if is_prismatic:
                p = p + at * axes[:, row]
            else:
                turn = at[:, :, None]
                R = R @ (_I3 + np.sin(turn) * cross[0] + (1.0 - np.cos(turn)) * cross[1])
        p = p + R @ self._end[:3, 3]
        linear = np.where(slides[:, None], axes, np.cross(axes, p[:, None] - origins))
        rows = np.concatenate([linear, np.where(slides[:, None], 0.0, axes)], axis=2)
        rows = self._of_arm(rows.transpose(0, 2, 1)).transpose(0, 2, 1)
        squares = np.linalg.det(rows.transpose(0, 2, 1) @ rows)
        return np.asarray(np.sqrt(np.maximum(0.0, squares)))


_I3 = np.eye(3)


def _chain(robot: Robot, arm: ArmSpec) -> list[Joint]:
    """Return the joints between the arm's base link and its EE link, in order."""
    carrying = {joint.child: joint for joint in robot.joints.values()}
    link, found = arm.ee_link, list[Joint]()
    while link != arm.base_link:
        found.append(carrying[link])
        link = carrying[link].parent
    return found[::-1]


def _crossed(a: Array, b: Array) -> Array:
    """Return the vector products of columns; ``np.cross`` takes longer for so few."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _cross(axis: Array) -> Array:
    x, y, z = axis
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
