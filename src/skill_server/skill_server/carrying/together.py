"""The motion of two arms in one trajectory: timed as one, divided for the controllers, checked as a closed chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from handiwork_core.model.geometry import Array
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, Robot

from .arm_chain import ArmChain

PERIOD_S = 0.02
CHAIN_M, CHAIN_RAD = 5e-4, 2e-3
"""Largest change of the pose of one hand in the other from the beginning, at any time of a trajectory."""
FINE, SPARE = 1000, 1.01
"""Steps of the time law at which the limits are looked at, and the share by which it is slower than they ask for."""


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """How fast two arms may move together.

    Attributes:
        velocity: Share of the velocity limits of the joints, (0, 1].
        acceleration: Share of the acceleration limits of the joints, (0, 1].
        tool_speed: Greatest speed of either hand, m/s.
    """

    velocity: float
    acceleration: float
    tool_speed: float


def timed(robot: Robot, arms: Sequence[ArmSpec], q: Array, hands: Sequence[Array], pace: Pace) -> Trajectory:
    """Return the motion of several arms along one path, from rest to rest.

    The path is passed by a quintic time law, as slow as the limits of any joint and of any hand ask for.

    Args:
        robot: Robot with the limits.
        arms: The arms.
        q: Configurations of all arms side by side, (n, sum of dof), rad or m, at even steps of the path.
        hands: Positions of each hand at these, (n, 3), m.
        pace: How fast they may move.

    Returns:
        One trajectory with the joints of all arms in order.
    """
    names = tuple(name for arm in arms for name in arm.joint_names)
    joints = [robot.joints[name] for name in names]
    share = np.linspace(0.0, 1.0, len(q))
    curve = CubicSpline(share, q)
    u: Array = np.linspace(0.0, 1.0, FINE, dtype=np.float64)
    s, s1, s2 = _quintic(u)
    first, second = curve(s, 1), curve(s, 2)
    speed = np.abs(first * s1[:, None]).max(axis=0)
    bend = np.abs(second * s1[:, None] ** 2 + first * s2[:, None]).max(axis=0)
    duration = 2.0 * PERIOD_S
    for j, joint in enumerate(joints):
        duration = max(duration, speed[j] / (joint.velocity * pace.velocity))
        duration = max(duration, float(np.sqrt(bend[j] / (joint.acceleration * pace.acceleration))))
        # The peak of the time law's own jerk, with the path taken as straight.
        duration = max(duration, float(np.cbrt(60.0 * np.abs(first[:, j]).max() / joint.jerk)))
    for places in hands:
        fast = np.linalg.norm(CubicSpline(share, places)(s, 1), axis=1) * s1
        duration = max(duration, float(fast.max()) / pace.tool_speed)
    duration *= SPARE
    t: Array = np.linspace(0.0, duration, int(np.ceil(duration / PERIOD_S)) + 1, dtype=np.float64)
    s, s1, s2 = (part[:, None] for part in _quintic(t / duration))
    at, rate, change = curve(s[:, 0]), curve(s[:, 0], 1), curve(s[:, 0], 2)
    qd, qdd = rate * s1 / duration, (change * s1**2 + rate * s2) / duration**2
    return Trajectory(names, t, at, qd, qdd)


def joined(parts: Sequence[Trajectory]) -> Trajectory:
    """Return one trajectory of parts that follow each other, each from rest to rest.

    Args:
        parts: At least one, each beginning where the one before ends.
    """
    columns: list[list[Array]] = [[], [], [], []]
    begin_s = 0.0
    for k, part in enumerate(parts):
        skip = 1 if k else 0
        for column, values in zip(columns, (part.t_s + begin_s, part.q, part.qd, part.qdd), strict=True):
            column.append(values[skip:])
        begin_s += part.duration_s
    t, q, qd, qdd = (np.concatenate(column) for column in columns)
    return Trajectory(parts[0].joint_names, t, q, qd, qdd)


def divided(together: Trajectory, arms: Sequence[ArmSpec]) -> tuple[Trajectory, ...]:
    """Return the part of each arm, all at the same times.

    Args:
        together: Trajectory of all arms.
        arms: The arms, in the order of its joints.
    """
    made, begin = [], 0
    for arm in arms:
        own = slice(begin, begin + len(arm.joint_names))
        begin = own.stop
        q, qd, qdd = (values[:, own] for values in (together.q, together.qd, together.qdd))
        made.append(Trajectory(arm.joint_names, together.t_s, q, qd, qdd))
    return tuple(made)


def chain_error(chains: Sequence[ArmChain], parts: Sequence[Trajectory]) -> tuple[float, float]:
    """Return how much the pose of one hand in the other changes, at the samples and halfway between them.

    Args:
        chains: Both arms.
        parts: Their trajectories, with the same times.

    Returns:
        The largest change of position [m] and of angle [rad].
    """
    first, second = (chain.hands(_with_middles(part)) for chain, part in zip(chains, parts, strict=True))
    apart = np.linalg.inv(first) @ second
    moved = np.linalg.norm(apart[:, :3, 3] - apart[0, :3, 3], axis=1).max()
    turned = apart[:, :3, :3] @ apart[0, :3, :3].T
    # By the chord, which keeps its precision at small angles.
    angle = 2.0 * np.arcsin(np.clip(np.linalg.norm(turned - np.eye(3), axis=(1, 2)) / np.sqrt(8.0), 0.0, 1.0))
    return float(moved), float(angle.max())


def _with_middles(part: Trajectory) -> Array:
    """Return configurations of a trajectory and those between them, as a controller interpolates."""
    h = np.diff(part.t_s)[:, None]
    middles = 0.5 * (part.q[1:] + part.q[:-1]) + h * (part.qd[:-1] - part.qd[1:]) / 8.0
    return np.concatenate([part.q, middles])


def _quintic(u: Array) -> tuple[Array, Array, Array]:
    """Return a fifth-order polynomial from 0 to 1 at shares of its time, with both derivatives."""
    return (
        10 * u**3 - 15 * u**4 + 6 * u**5,
        30 * u**2 - 60 * u**3 + 30 * u**4,
        60 * u - 180 * u**2 + 120 * u**3,
    )
