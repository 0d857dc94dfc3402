"""A step toward a target within the limits of the joints. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec, Robot

FINE = 1e-9
ROUND_OFF = 1e-6
"""A command this much above a limit is not counted as clipped, in the limit's unit."""
LARGEST_MARGIN = 0.1
"""Greatest share of a joint's range that is kept free at each end."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Reference of an arm between two steps.

    Attributes:
        q: Positions, (dof,), rad or m.
        v: Velocities, (dof,), rad/s or m/s.
        a: Accelerations of the step before, (dof,), rad/s^2 or m/s^2.
    """

    q: Array
    v: Array
    a: Array

    @classmethod
    def at_rest(cls, q: Array) -> Motion:
        """Return the motion of an arm that does not move.

        Args:
            q: Positions, (dof,), rad or m.
        """
        still = np.zeros(len(q))
        return cls(np.array(q, dtype=np.float64), still, still)


@dataclass(frozen=True, eq=False)
class StepLimits:
    """Limits of an arm's joints, and the step of the loop.

    Attributes:
        low: Least positions that may be commanded, (dof,), rad or m.
        high: Greatest positions, (dof,), rad or m.
        velocity: Largest speeds, (dof,), rad/s or m/s.
        acceleration: Largest accelerations, (dof,), rad/s^2 or m/s^2.
        jerk: Largest jerks, (dof,), rad/s^3 or m/s^3.
        step_s: Time of a step, s.
        change: Largest change of the velocity in a step, (dof,).
    """

    low: Array
    high: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    step_s: float
    change: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "change", self.acceleration * self.step_s)

    @classmethod
    def of(
        cls,
        robot: Robot,
        arm: ArmSpec,
        step_s: float,
        velocity: float,
        acceleration: float,
        margin: float = 0.0,
    ) -> StepLimits:
        """Return the limits of an arm.

        Args:
            robot: The robot.
            arm: The arm.
            step_s: Time of a step, s.
            velocity: Share of the velocity limits.
            acceleration: Share of the acceleration limits.
            margin: Distance that is kept from the limits of position, rad or m; at most a tenth of their range.
        """
        joints = [robot.joints[name] for name in arm.joint_names]
        columns = (
            np.array([getattr(joint, key) for joint in joints], dtype=np.float64)
            for key in ("lower", "upper", "velocity", "acceleration", "jerk")
        )
        low, high, speed, rise, jerk = columns
        jerk = np.where(jerk > 0.0, jerk, np.inf)
        kept = np.minimum(margin, LARGEST_MARGIN * (high - low))
        return cls(low + kept, high - kept, velocity * speed, acceleration * rise, jerk, step_s)


def braked(motion: Motion, limits: StepLimits) -> Motion:
    """Return the motion one step later while the arm brakes as hard as it may.

    Args:
        motion: The motion.
        limits: The limits.
    """
    v = motion.v - np.clip(motion.v, -limits.change, limits.change)
    return moved(motion, v, limits.step_s)


def moved(motion: Motion, v: Array, step_s: float) -> Motion:
    """Return the motion one step later with new velocities.

    Args:
        motion: The motion.
        v: The velocities, (dof,), rad/s or m/s.
        step_s: Time of the step, s.
    """
    return Motion(motion.q + v * step_s, v, (v - motion.v) / step_s)


def braking_path(motion: Motion, limits: StepLimits) -> Array:
    """Return the positions of all steps until the arm rests, (n, dof), the present ones first.

    Args:
        motion: The motion.
        limits: The limits.
    """
    return braking_points(motion, limits)[0]


def braking_points(motion: Motion, limits: StepLimits) -> tuple[Array, Array]:
    """Return positions and velocities of all steps until the arm rests, (n, dof) each, the present ones first.

    Args:
        motion: The motion.
        limits: The limits.
    """
    steps = int(np.ceil(np.max(np.abs(motion.v) / limits.change) - FINE)) if len(motion.v) else 0
    left = np.abs(motion.v) - np.arange(1, max(steps, 1) + 1)[:, None] * limits.change
    speed = np.sign(motion.v) * np.maximum(left, 0.0)
    place = motion.q + limits.step_s * np.cumsum(speed, axis=0)
    return np.vstack([motion.q, place]), np.vstack([motion.v, speed])


def step_toward(motion: Motion, target: Array, limits: StepLimits) -> tuple[Array, dict[str, int]]:
    """Return the velocities that lead to a target as far as the limits allow, each joint alone.

    The arm can always come to rest within the limits of position afterwards.

    Args:
        motion: The motion.
        target: Positions one step later, (dof,), rad or m.
        limits: The limits.

    Returns:
        The velocities, (dof,), and for each kind of limit the index of the joint that was held most.
    """
    dt, held = limits.step_s, dict[str, int]()

    def note(kind: str, before: Array, after: Array) -> Array:
        excess = np.abs(after - before)
        worst = int(excess.argmax())
        if excess[worst] > ROUND_OFF:
            held.setdefault(kind, worst)
        return after

    inside = note("position", target, np.clip(target, limits.low, limits.high))
    v = note(
        "velocity",
        (inside - motion.q) / dt,
        np.clip((inside - motion.q) / dt, -limits.velocity, limits.velocity),
    )
    rate = (v - motion.v) / dt
    soft = np.minimum(limits.acceleration, np.abs(motion.a) + limits.jerk * dt)
    hard = note("acceleration", rate, np.clip(rate, -limits.acceleration, limits.acceleration))
    eased = note(
        "jerk",
        hard,
        np.clip(
            hard,
            np.maximum(-soft, motion.a - limits.jerk * dt),
            np.minimum(soft, motion.a + limits.jerk * dt),
        ),
    )
    v = motion.v + eased * dt
    v = np.clip(v, -limits.velocity, limits.velocity)
    # Room for the brake counts more than jerk.
    up, down = (_stoppable(room, limits) for room in (limits.high - motion.q, motion.q - limits.low))
    kept = np.clip(v, -down, up)
    kept = np.clip(kept, motion.v - limits.change, motion.v + limits.change)
    return note("position", v, kept), held


def _stoppable(room: Array, limits: StepLimits) -> Array:
    """Return the largest speed from which the arm still stops within a room, with the steps of ``braking_path``.

    With n further steps of braking it moves dt * (v + (v - c) + ...) <= v dt + v^2 / (2 a).
    """
    rise, dt = limits.acceleration, limits.step_s
    room = np.maximum(room, 0.0)
    return np.asarray(np.sqrt((rise * dt) ** 2 + 2.0 * rise * room) - rise * dt)
