"""The referee's check of a trajectory as a signal: shape, start, limits, rest; no geometry."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import Verdict
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import PATH_END_REST
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import ArmSpec, Robot

START_RAD = 0.02
MOST_SAMPLES = 50_000
"""More are refused unread: nothing may keep the engine busy for minutes."""
SLACK = 1.01
"""Velocity and acceleration may be this much above the limit by round-off and sampling."""


def motion(robot: Robot, arm: ArmSpec, trajectory: Trajectory, start_q: Array) -> Verdict:
    """Judge shape, start, limits and rest of a trajectory.

    Args:
        robot: The robot.
        arm: The arm that moves.
        trajectory: The trajectory.
        start_q: Joint positions now, (n,), rad or m.

    Returns:
        OK, or TRAJECTORY_REFUSED with the first fault found.
    """
    fault = shape_fault(arm, trajectory)
    if fault:
        return _refused(fault, 0)
    away = np.abs(trajectory.q[0] - start_q)
    if away.max() > START_RAD:
        j = int(away.argmax())
        return _refused(
            f"starts {away[j]:.4f} from where joint {arm.joint_names[j]} is; plan again from there", 0
        )
    for end in (0, -1):
        speed = float(np.abs(trajectory.qd[end]).max())
        if speed > PATH_END_REST:
            at = 0 if end == 0 else len(trajectory.t_s) - 1
            return _refused(f"is not at rest at sample {at}: {speed:.4f} rad/s; make it stop", at)
    return _limits(robot, arm, trajectory)


def shape_fault(arm: ArmSpec, t: Trajectory) -> str:
    """Return a description of the fault that keeps a trajectory from being read, or an empty text.

    Args:
        arm: The arm that moves.
        t: The trajectory.
    """
    n = len(arm.joint_names)
    if t.joint_names != arm.joint_names:
        return f"moves joints {list(t.joint_names)}; it must be {list(arm.joint_names)}"
    if t.t_s.size > MOST_SAMPLES:
        return f"has {t.t_s.size} samples; send at most {MOST_SAMPLES} at a time"
    if t.t_s.ndim != 1 or len(t.t_s) < 2 or any(x.shape != (len(t.t_s), n) for x in (t.q, t.qd, t.qdd)):
        return f"needs two or more samples with {n} positions, velocities and accelerations each"
    if not all(np.isfinite(x).all() for x in (t.t_s, t.q, t.qd, t.qdd)):
        return "holds numbers that are not finite; make them finite"
    if t.t_s[0] != 0.0 or (np.diff(t.t_s) <= 0.0).any():
        return "has times that do not rise strictly from 0; sort them"
    return ""


def _limits(robot: Robot, arm: ArmSpec, t: Trajectory) -> Verdict:
    """Judge position, velocity and acceleration: the values given, and the differences between samples."""
    joints = [robot.joints[name] for name in arm.joint_names]
    low, high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
    fast, hard = np.array([j.velocity for j in joints]), np.array([j.acceleration for j in joints])
    h = np.diff(t.t_s)[:, None]
    steps, changes = np.abs(np.diff(t.q, axis=0)), np.abs(np.diff(t.qd, axis=0))
    drift = np.abs(np.diff(t.q, axis=0) - 0.5 * h * (t.qd[1:] + t.qd[:-1])) - h**2 * hard / 6.0
    for what, excess in (
        ("position beyond its limit", np.maximum(low - t.q, t.q - high) - 1e-6),
        ("velocity above its limit", np.abs(t.qd) - SLACK * fast),
        ("acceleration above its limit", np.abs(t.qdd) - SLACK * hard),
        ("jump of position", steps - SLACK * fast * h - 1e-6),
        ("jump of velocity", changes - SLACK * hard * h - 1e-5),
        ("position that its velocity does not lead to", drift - 1e-4),
    ):
        if excess.max() > 0.0:
            i, j = np.unravel_index(int(excess.argmax()), excess.shape)
            text = (
                f"has, at sample {i}, joint {arm.joint_names[j]}: {what}, by {excess[i, j]:.4g}; plan again"
            )
            return _refused(text, int(i))
    return Verdict(Code.OK)


def _refused(text: str, at: int) -> Verdict:
    return Verdict(Code.TRAJECTORY_REFUSED, f"the trajectory {text}", at=at)
