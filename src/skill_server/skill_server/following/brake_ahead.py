"""Where a braking arm will rest, and a motion from there that begins at the place where it then rests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.ports import WorldSource
from handiwork_core.control.trajectory_controller import SLOWEST_BRAKE_S, fastest_slowing
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.supervision.path_supervision import PathProgress

DELAY_S = 0.02
"""Time from the measurement of the arm until its controller begins to brake, s: a message, a poll and a cancel."""
STEP_S = 0.004
"""Step of the computed brake, s."""
NEAR_RAD = 0.06
"""A motion that was planned from the computed place is bent to an arm that rests this near to it, rad or m: the path of
0.03 s at 2 rad/s."""


def place_of_rest(trajectory: Trajectory, q: Array, acceleration: Array) -> Array:
    """Return where an arm will rest that begins to brake now, as ``TrajectoryController`` brakes.

    Args:
        trajectory: The motion that it follows at full rate.
        q: Measured configuration, (dof,), rad or m.
        acceleration: Limits of the joints, (dof,), rad/s^2 or m/s^2.

    Returns:
        The configuration, (dof,), rad or m.
    """
    path_s = PathProgress(trajectory).update(q, trajectory.duration_s) + DELAY_S
    rate = 1.0
    while rate > 0.0 and path_s < trajectory.duration_s:
        slope = trajectory.sample(path_s)[1]
        row = min(int(np.searchsorted(trajectory.t_s, path_s)), len(trajectory.t_s) - 1)
        slowing = fastest_slowing(slope, trajectory.qdd[row] * rate**2, acceleration)
        rate = max(0.0, rate - max(slowing, 1.0 / SLOWEST_BRAKE_S) * STEP_S)
        path_s += rate * STEP_S
    return trajectory.sample(path_s)[0]


def begun_at(trajectory: Trajectory, q: Array, velocity: Array, acceleration: Array) -> Trajectory | None:
    """Return a motion bent so that it begins at a configuration near its own beginning; its end stays.

    The distance fades out over the whole motion, as a quintic of the time. Where that needs more than the limits, the
    motion is slowed down.

    Args:
        trajectory: The motion, from rest to rest.
        q: Where it is to begin, (dof,), rad or m.
        velocity: Limits of the joints, (dof,), rad/s or m/s.
        acceleration: Limits of the joints, (dof,), rad/s^2 or m/s^2.

    Returns:
        The motion; None where ``q`` is farther away than ``NEAR_RAD``.
    """
    gap = q - trajectory.q[0]
    if not np.abs(gap).max() <= NEAR_RAD:
        return None
    lasts_s = trajectory.duration_s
    u = (trajectory.t_s / lasts_s)[:, None]
    bent = trajectory.q + gap * (1.0 - (10 * u**3 - 15 * u**4 + 6 * u**5))
    qd = trajectory.qd - gap * (30 * u**2 - 60 * u**3 + 30 * u**4) / lasts_s
    qdd = trajectory.qdd - gap * (60 * u - 180 * u**2 + 120 * u**3) / lasts_s**2
    faster, harder = (np.abs(qd) / velocity).max(), (np.abs(qdd) / acceleration).max()
    slower = max(1.0, float(faster), float(np.sqrt(harder)))
    return replace(trajectory, t_s=trajectory.t_s * slower, q=bent, qd=qd / slower, qdd=qdd / slower**2)


@dataclass(frozen=True)
class RestingWorld:
    """A world source in which an arm already is where it will rest, with what it holds; all else is as measured.

    Attributes:
        source: Newest snapshots.
        robot: The robot.
        arm: The arm.
        q: Where it will rest, (dof,), rad or m.
        held: What it holds, by name.
    """

    source: WorldSource
    robot: Robot
    arm: ArmSpec
    q: Array
    held: Mapping[str, Attachment]

    def snapshot(self) -> World:
        """See ``WorldSource``."""
        world, names = self.source.snapshot(), self.arm.joint_names
        joints = replace(
            world.joints,
            position={**world.joints.position, **dict(zip(names, self.q.tolist(), strict=True))},
            velocity={**world.joints.velocity, **dict.fromkeys(names, 0.0)},
        )
        world_T_ee = self.world_T_base() @ forward(self.robot, self.arm.name, self.q)
        states = dict(world.states)
        for name, item in self.held.items():
            if name in states and item.link == self.arm.ee_link:
                states[name] = replace(states[name], world_T_object=world_T_ee @ item.link_T_object)
        return replace(world, joints=joints, states=states)

    def world_T_base(self) -> Pose:
        """See ``WorldSource``."""
        return self.source.world_T_base()
