"""Joint positions near the present ones whose EE is at a pose: damped least squares, warm from step to step."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.model.geometry import Array

ROUNDS = 8
DAMPING = 0.02
EXACT = 1e-5
"""Error at which a solution is good enough, m and rad."""
LARGEST_TURN = 0.2
"""Greatest change of a joint in one round, rad or m."""


def turned(pose: Array, numbers: Array, *, is_delta: bool) -> Array:
    """Return the pose that an action asks for.

    Args:
        pose: base_T_ee before, (4, 4).
        numbers: x, y, z, m, and a rotation vector, rad, (6,), in the axes of the base.
        is_delta: True: they are a change of the pose before.
    """
    made, turn = np.eye(4), Rotation.from_rotvec(numbers[3:]).as_matrix()
    made[:3, 3] = numbers[:3] + (pose[:3, 3] if is_delta else 0.0)
    made[:3, :3] = turn @ pose[:3, :3] if is_delta else turn
    return made


def solve(kinematics: ArmKinematics, pose: Array, q: Array, low: Array, high: Array) -> Array:
    """Return the joint positions that come nearest to a pose from where the arm is.

    Args:
        kinematics: The arm.
        pose: base_T_ee, (4, 4).
        q: Joint positions now, (dof,), rad or m.
        low: Lower limits, (dof,), rad or m.
        high: Upper limits, (dof,), rad or m.
    """
    for _ in range(ROUNDS):
        here, jacobian = kinematics.pose_and_jacobian(q)
        turn = Rotation.from_matrix(pose[:3, :3] @ here[:3, :3].T).as_rotvec()
        error = np.concatenate([pose[:3, 3] - here[:3, 3], turn])
        if np.abs(error).max() < EXACT:
            break
        square = jacobian @ jacobian.T + DAMPING**2 * np.eye(6) * min(1.0, float(np.abs(error).max()) / 0.05)
        step = jacobian.T @ np.linalg.solve(square + 1e-9 * np.eye(6), error)
        step *= min(1.0, LARGEST_TURN / max(float(np.abs(step).max()), 1e-12))
        q = np.clip(q + step, low, high)
    return q
