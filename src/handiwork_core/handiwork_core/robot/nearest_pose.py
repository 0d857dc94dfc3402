"""The orientations of a hand that an arm with fewer than six joints can have at a place, nearest to wanted ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Rotation
from handiwork_core.model.joint_kind import JointKind

from .batch_kinematics import BatchChain
from .robot import ArmSpec, Robot

FULL = 6
"""An arm with so many joints can have every orientation within its reach."""
STARTS = 12
PHASES = ((45, 0.02), (15, 0.002))
"""Rounds, and the distance that weighs as much as a turn of 1 rad in them, m: the place is met almost exactly so."""
DAMPING, LARGEST_STEP = 2e-4, 0.3
"""Damping of the least squares, m, and largest step of a joint in one round, rad or m."""
MARGIN = 0.01
"""Usual distance of the joints from their limits, rad or m: motions to the pose have room for their own search."""
FREEZES = 2
"""Number of times that joints at limits are looked for in one round."""
ROLL = 0.1
"""Weight of the turn about a free axis beside the others in the first rounds: among equals the least turned one."""
SAME_RAD = 1e-3
"""Orientations that differ by no more count as the same, rad."""
MET_M = 5e-4
"""A place is met within this distance, m."""


@dataclass(frozen=True, slots=True, eq=False)
class NearestPoses:
    """Poses that an arm can have.

    Attributes:
        base_T_ee: The poses, (k, 4, 4).
        q: Their joints, (k, dof), rad or m.
        position_error_m: Distance of the TCP from the wanted one, (k,), m.
        turn: Turn from the wanted to the nearest orientation in the frame of the base, (k, 3), rad; with a free axis
            the turn of this axis alone.
    """

    base_T_ee: Array
    q: Array
    position_error_m: Array
    turn: Array

    @property
    def angle_rad(self) -> Array:
        """Angle of each turn, (k,), rad."""
        return np.asarray(np.linalg.norm(self.turn, axis=1))

    @property
    def is_met(self) -> NDArray[np.bool_]:
        """True where the TCP is at the wanted place, (k,)."""
        met: NDArray[np.bool_] = self.position_error_m < MET_M
        return met


def nearest_poses(
    robot: Robot,
    arm: ArmSpec,
    base_T_ee: Array,
    tcp_m: Array,
    margin: float = MARGIN,
    seed: int = 0,
    free_axis: Array | None = None,
) -> NearestPoses:
    """Find poses with the TCP at the wanted places, and with orientations as near to the wanted ones as the arm can.

    Collisions are not considered.

    Args:
        robot: The robot.
        arm: The arm.
        base_T_ee: Wanted poses of the EE in the frame of ``arm.base_link``, (k, 4, 4).
        tcp_m: The TCP in the EE frame, (3,), m.
        margin: Distance of the joints from their limits, rad or m.
        seed: Seed of the starts.
        free_axis: Unit vector of the EE frame, (3,), about which the hand may turn as it can; None: no turn is free.

    Returns:
        One pose for each wanted one; ``is_met`` says where the place can be reached.
    """
    search = _Search(robot, arm, np.asarray(tcp_m, dtype=np.float64), margin, free_axis)
    wanted = np.repeat(base_T_ee, STARTS, axis=0)
    q = np.random.default_rng(seed).uniform(search.low, search.high, (len(wanted), len(search.low)))
    for roll, (rounds, turn_m) in zip((ROLL, 0.0), PHASES, strict=True):
        for _ in range(rounds):
            q = search.stepped(q, wanted, turn_m, roll)
    poses, rolled = search.error(q, wanted, ROLL)
    cost = np.linalg.norm(rolled * _weights(PHASES[0][1]), axis=1).reshape(-1, STARTS)
    error = search.error(q, wanted, 0.0)[1]
    best = np.arange(len(base_T_ee)) * STARTS + cost.argmin(axis=1)
    away = np.asarray(np.linalg.norm(error[best, :3], axis=1))
    return NearestPoses(poses[best], q[best], away, -error[best, 3:])


def missing_turn(robot: Robot, arm: ArmSpec, base_T_ee: Array, seed: int = 0) -> str:
    """Return which turn an arm with few joints lacks for poses that it cannot have, for a message.

    Args:
        robot: The robot.
        arm: The arm.
        base_T_ee: The poses in the frame of ``arm.base_link``, (k, 4, 4).
        seed: Seed of the search.

    Returns:
        A clause; empty for an arm with six joints or more, where the arm reaches the place of none, and where it can
        have one of the orientations.
    """
    if len(arm.joint_names) >= FULL or not len(base_T_ee):
        return ""
    tcp_m = np.zeros(3)
    if arm.gripper is not None:
        tcp_m[arm.gripper.ee_axis] = arm.gripper.tcp_offset_m
    found = nearest_poses(robot, arm, base_T_ee, tcp_m, seed=seed)
    angles = np.where(found.is_met, found.angle_rad, np.inf)
    best = int(angles.argmin())
    if not SAME_RAD < angles[best] < np.inf:
        return ""
    pose = found.base_T_ee[best]
    axis = "xyz"[int(np.abs(pose[:3, :3].T @ found.turn[best]).argmax())]
    numbers = ", ".join(f"{value:.4f}" for value in Rotation.from_matrix(pose[:3, :3]).wxyz)
    return (
        f"with {len(arm.joint_names)} joints the hand cannot turn freely about its {axis} axis there: the nearest "
        f"orientation is {np.rad2deg(angles[best]):.1f} degrees off, ({numbers}) as w, x, y, z in {arm.base_link}"
    )


class _Search:
    """Damped least squares of many rows at once."""

    def __init__(
        self, robot: Robot, arm: ArmSpec, tcp_m: Array, margin: float, free_axis: Array | None
    ) -> None:
        self.chain = BatchChain(robot, arm.ee_link, arm.base_link)
        self.names, self.tcp_m, self.free_axis = arm.joint_names, tcp_m, free_axis
        joints = [robot.joints[name] for name in arm.joint_names]
        low, high = (np.array([getattr(j, key) for j in joints]) for key in ("lower", "upper"))
        room = np.minimum(margin, 0.25 * (high - low))
        self.low, self.high = low + room, high - room
        self.moving = self.chain.driven(arm.joint_names)
        self.still = {name: 0.0 for name in self.chain.drivers if name not in arm.joint_names}

    def frames(self, q: Array) -> list[Array]:
        """Return the frame (k, 4, 4) of each joint before its motion, and that of the EE."""
        positions = {name: q[:, i] for i, name in enumerate(self.names)}
        positions |= {name: np.full(len(q), value) for name, value in self.still.items()}
        return self.chain.frames(positions, np.tile(np.eye(4), (len(q), 1, 1)))

    def error(self, q: Array, wanted: Array, roll: float) -> tuple[Array, Array]:
        """Return the poses (k, 4, 4) and what is missing to the wanted ones, (k, 6), m and rad."""
        pose = self.frames(q)[-1]
        return pose, self._missing(pose, wanted, roll)

    def _missing(self, pose: Array, wanted: Array, roll: float) -> Array:
        away = (wanted[:, :3, :3] - pose[:, :3, :3]) @ self.tcp_m + wanted[:, :3, 3] - pose[:, :3, 3]
        turn = wanted[:, :3, :3] @ pose[:, :3, :3].transpose(0, 2, 1)
        vectors = _rotation_vectors(turn)
        if self.free_axis is not None:
            here, there = pose[:, :3, :3] @ self.free_axis, wanted[:, :3, :3] @ self.free_axis
            vectors = _swings(here, there) + roll * _along(vectors, here)
        return np.concatenate([away, vectors], axis=1)

    def stepped(self, q: Array, wanted: Array, turn_m: float, roll: float) -> Array:
        """Return configurations after one step, within the limits."""
        frames, weights = self.frames(q), _weights(turn_m)
        tcp = frames[-1][:, :3, :3] @ self.tcp_m + frames[-1][:, :3, 3]
        jacobian = np.zeros((len(q), 6, q.shape[1]))
        for place, joint, law in self.moving:
            along = turn = frames[place][:, :3, :3] @ joint.axis
            if self.free_axis is not None:
                turn = turn - (1.0 - roll) * _along(turn, frames[-1][:, :3, :3] @ self.free_axis)
            if joint.type is JointKind.PRISMATIC:
                jacobian[:, :3, law.index] += law.multiplier * along
            else:
                lever = tcp - frames[place][:, :3, 3]
                jacobian[:, :3, law.index] += law.multiplier * np.cross(along, lever)
                jacobian[:, 3:, law.index] += law.multiplier * turn
        jacobian *= weights[:, None]
        error = self._missing(frames[-1], wanted, roll) * weights
        square = jacobian.transpose(0, 2, 1) @ jacobian + DAMPING**2 * np.eye(q.shape[1])
        pull = np.einsum("kij,ki->kj", jacobian, error)
        step = np.linalg.solve(square, pull[:, :, None])[:, :, 0]
        for _ in range(
            FREEZES
        ):  # joints at a limit that the step would pass stay, and the others make up for them
            stuck = ((q <= self.low) & (step <= 0.0)) | ((q >= self.high) & (step >= 0.0))
            square[stuck[:, :, None] | stuck[:, None, :]] = 0.0
            square[stuck[:, :, None] & np.eye(q.shape[1], dtype=bool)] = 1.0
            step = np.linalg.solve(square, np.where(stuck, 0.0, pull)[:, :, None])[:, :, 0]
        step *= np.minimum(1.0, LARGEST_STEP / np.maximum(np.abs(step).max(axis=1), 1e-12))[:, None]
        return np.clip(q + step, self.low, self.high)


def _weights(turn_m: float) -> Array:
    return np.array([1.0] * 3 + [turn_m] * 3)


def _rotation_vectors(turns: Array) -> Array:
    """Return the rotation vectors (k, 3) of rotations (k, 3, 3), rad."""
    axes = np.stack(
        [turns[:, 2, 1] - turns[:, 1, 2], turns[:, 0, 2] - turns[:, 2, 0], turns[:, 1, 0] - turns[:, 0, 1]],
        axis=1,
    )
    sine = np.linalg.norm(axes, axis=1)
    angles = np.arctan2(sine, np.trace(turns, axis1=1, axis2=2) - 1.0)
    return np.asarray(axes * (angles / np.maximum(sine, 1e-12))[:, None])


def _along(vectors: Array, axes: Array) -> Array:
    """Return the parts of vectors (k, 3) along unit axes (k, 3)."""
    return np.asarray(np.sum(vectors * axes, axis=1)[:, None] * axes)


def _swings(here: Array, there: Array) -> Array:
    """Return the shortest turns (k, 3) that bring unit vectors (k, 3) to others, rad."""
    axes = np.cross(here, there)
    sine = np.linalg.norm(axes, axis=1)
    angles = np.arctan2(sine, np.sum(here * there, axis=1))
    return np.asarray(axes * (angles / np.maximum(sine, 1e-12))[:, None])
