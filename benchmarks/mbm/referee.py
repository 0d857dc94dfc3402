"""Judge paths and timed trajectories from the definitions: no code of any planner, no tables made ahead.

A motion is clean when it starts and ends in the right places, stays inside the joint limits, and no sphere of the robot
is deeper than ``DEPTH_M`` in the world or in another link at any of its samples, ``STEP_RAD`` apart or closer.
Whether a timed one keeps the limits of velocity, acceleration and jerk is reported separately.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

from .solids import rotation, world_distance

STEP_RAD, DEPTH_M, END_RAD, LIMIT_RAD = 0.01, 0.002, 1e-3, 1e-3
POSE_M, POSE_RAD = 1e-3, 1e-2
RATE_SLACK = 1.01
"""Velocity and acceleration may exceed their limit by this factor, jerk by its square: differences are not exact."""
REST_RAD_S = 1e-3
AT_ONCE = 256
"""Samples judged together; bounds the memory."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The result of a judgement; ``world_m`` and ``self_m`` are the smallest signed distances [m]."""

    ends: bool
    limits: bool
    world_m: float
    self_m: float
    length_rad: float
    rates: Mapping[str, float] = field(default_factory=dict)
    """Timed only: largest share of the limit by ``velocity``, ``acceleration``, ``jerk``; ``rest``: end speed."""

    @property
    def clean(self) -> bool:
        """The motion ends in the right places, is within joint limits, and touches nothing."""
        return self.ends and self.limits and self.depth_m <= DEPTH_M

    @property
    def in_rates(self) -> bool:
        """Timed only: the motion is at rest at both ends, and keeps the limits of velocity, acceleration and jerk."""
        rates = self.rates
        slow = max(rates.get("velocity", 0.0), rates.get("acceleration", 0.0)) <= RATE_SLACK
        return slow and rates.get("jerk", 0.0) <= RATE_SLACK**2 and rates.get("rest", 0.0) <= REST_RAD_S

    @property
    def depth_m(self) -> float:
        """Deepest penetration [m]; negative is clearance."""
        return -min(self.world_m, self.self_m)


class Referee:
    """Judges one arm of one robot, whose root is at ``world_T_root``.

    ``mounted``: links that no joint of the arm moves may touch the world, on which they are mounted.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, arm: str = "", *, mounted: bool = False) -> None:
        self._robot, self._arm = robot, robot.arm(arm)
        joints = [robot.joints[name] for name in self._arm.joint_names]
        self._low, self._high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
        self._rates = {
            "velocity": np.array([j.velocity for j in joints]),
            "acceleration": np.array([j.acceleration for j in joints]),
            "jerk": np.array([j.jerk for j in joints]),
        }
        self._world_T_root = _matrix(world_T_root)
        groups = [s for s in robot.spheres if len(s.radii)]
        owner = np.concatenate([np.full(len(s.radii), i) for i, s in enumerate(groups)])
        self._radii = np.concatenate([s.radii for s in groups])
        checked = [
            (i, j)
            for i, j in combinations(range(len(groups)), 2)
            if (min(groups[i].link, groups[j].link), max(groups[i].link, groups[j].link))
            not in robot.ignored_pairs
        ]
        ends = self._links(np.array([self._low, self._high]), np.eye(4))
        still = {s.link for s in groups if mounted and np.allclose(*ends[s.link])}
        self._carried = np.array([groups[i].link not in still for i in owner])
        self._pairs = [(np.flatnonzero(owner == i), np.flatnonzero(owner == j)) for i, j in checked]

    def spheres(self, q: Array) -> Array:
        """Return the centres of all spheres in the world, (m, s, 3), m.

        Args:
            q: Configurations, (m, dof), rad.
        """
        links = self._links(q, self._world_T_root)
        parts = [s.centers @ np.swapaxes(links[s.link][:, :3, :3], 1, 2) for s in self._robot.spheres]
        moved = [
            part + links[s.link][:, None, :3, 3]
            for part, s in zip(parts, self._robot.spheres, strict=True)
            if len(s.radii)
        ]
        return np.concatenate(moved, axis=1)

    def clearances(self, q: Array, world: World) -> Array:
        """Return the smallest signed distances to the world and between checked links, (m, 2), m.

        Args:
            q: Configurations, (m, dof), rad.
            world: The world.
        """
        found = np.full((len(q), 2), np.inf)
        for first in range(0, len(q), AT_ONCE):
            centres, out = self.spheres(q[first : first + AT_ONCE]), found[first : first + AT_ONCE]
            carried, radii = centres[:, self._carried], self._radii[self._carried]
            out[:, 0] = (world_distance(world, carried) - radii).min(axis=1)
            for i, j in self._pairs:
                apart = np.linalg.norm(centres[:, i, None] - centres[:, None, j], axis=-1)
                gaps = apart - self._radii[i][:, None] - self._radii[None, j]
                out[:, 1] = np.minimum(out[:, 1], gaps.min(axis=(1, 2)))
        return found

    def clearance(self, q: Array, world: World) -> tuple[float, float]:
        """Return the smallest of ``clearances`` over all configurations.

        Args:
            q: Configurations, (m, dof), rad.
            world: The world.
        """
        to_world, to_self = self.clearances(q, world).min(axis=0)
        return float(to_world), float(to_self)

    def reaches(self, q: Array, world_T_ee: Pose) -> bool:
        """Check whether the EE is within POSE_M and POSE_RAD of a pose.

        Args:
            q: Configuration, (dof,), rad.
            world_T_ee: The pose.
        """
        pose = self._links(q[None], self._world_T_root)[self._arm.ee_link][0]
        apart = float(np.linalg.norm(pose[:3, 3] - world_T_ee.translation_m))
        turn = rotation(world_T_ee.rotation.wxyz).T @ pose[:3, :3]
        # The length of the axis part is the sine of the angle; the trace alone is blunt near zero.
        sine = 0.5 * np.linalg.norm(
            [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        )
        return apart <= POSE_M and bool(np.arctan2(sine, 0.5 * (np.trace(turn) - 1.0)) <= POSE_RAD)

    def path(self, points: Array, start: Array, goals: Array, world: World) -> Ruling:
        """Judge straight joint motions through way points.

        Args:
            points: Way points, (k, dof), rad.
            start: The right start, (dof,), rad.
            goals: The right ends, (g, dof), rad.
            world: The world.
        """
        return self._judge(densified(points), points, start, goals, world, {})

    def timed(self, motion: Trajectory, start: Array, goals: Array, world: World) -> Ruling:
        """Judge a trajectory along its cubic Hermite curve, with the rates of its samples and of their differences.

        Args:
            motion: The trajectory.
            start: The right start, (dof,), rad.
            goals: The right ends, (g, dof), rad.
            world: The world.
        """
        return self._judge(hermite(motion), motion.q, start, goals, world, self._shares(motion))

    def _judge(
        self, dense: Array, points: Array, start: Array, goals: Array, world: World, rates: dict[str, float]
    ) -> Ruling:
        ends = np.abs(points[0] - start).max() < END_RAD
        ends = ends and np.abs(goals - points[-1]).max(axis=1).min() < END_RAD
        inside = (dense >= self._low - LIMIT_RAD).all() and (dense <= self._high + LIMIT_RAD).all()
        length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        return Ruling(bool(ends), bool(inside), *self.clearance(dense, world), length, rates)

    def _shares(self, motion: Trajectory) -> dict[str, float]:
        """Return the largest share of each limit, by the samples' own rates and by differences of the rate below."""
        steps = np.diff(motion.t_s)[:, None]
        slopes = [np.diff(values, axis=0) / steps for values in (motion.q, motion.qd, motion.qdd)]
        said = (motion.qd, motion.qdd, slopes[2])
        shares = {
            name: float(max((np.abs(a) / limit).max(), (np.abs(b) / limit).max()))
            for (name, limit), a, b in zip(self._rates.items(), said, slopes, strict=True)
        }
        shares["rest"] = float(np.abs(motion.qd[[0, -1]]).max())
        return shares

    def _links(self, q: Array, root: Array) -> dict[str, Array]:
        """Return the poses (m, 4, 4) of every link, parents first as the robot lists its joints."""
        poses = {self._robot.root_link: np.broadcast_to(root, (len(q), 4, 4))}
        column = {name: i for i, name in enumerate(self._arm.joint_names)}
        for joint in self._robot.joints.values():
            pose = poses[joint.parent] @ _matrix(joint.parent_T_joint)
            moves = joint.name in column
            if not moves and joint.type is not JointKind.FIXED:
                raise ValueError(f"joint {joint.name} moves but is not the arm's; fix it first")
            poses[joint.child] = pose @ _turns(joint.axis, q[:, column[joint.name]]) if moves else pose
        return poses


def densified(points: Array) -> Array:
    """Return configurations (m, dof) along straight motions; no joint moves more than STEP_RAD between two.

    Args:
        points: Way points, (k, dof), rad.
    """
    parts = [points[:1]]
    for a, b in pairwise(points):
        count = max(1, int(np.ceil(np.abs(b - a).max() / STEP_RAD)))
        parts.append(a + np.linspace(0.0, 1.0, count + 1)[1:, None] * (b - a))
    return np.concatenate(parts)


def hermite(motion: Trajectory) -> Array:
    """Return configurations (m, dof) on the cubic curve through the samples, STEP_RAD apart or closer.

    Args:
        motion: The samples, with positions and velocities.
    """
    parts = [motion.q[:1]]
    for i in range(len(motion.t_s) - 1):
        h = motion.t_s[i + 1] - motion.t_s[i]
        a, b, va, vb = motion.q[i], motion.q[i + 1], h * motion.qd[i], h * motion.qd[i + 1]
        fastest = float(np.abs([va, vb, 1.5 * (b - a) - 0.25 * (va + vb)]).max())  # at the ends or the middle
        u = np.linspace(0.0, 1.0, max(1, int(np.ceil(fastest / STEP_RAD))) + 1)[1:, None]
        # The curve with ends a, b and slopes va, vb: a straight line and two bulges that vanish at both ends.
        line, left, right = a + u * (b - a), va - (b - a), (b - a) - vb
        parts.append(line + u * (1.0 - u) * ((1.0 - u) * left + u * right))
    return np.concatenate(parts)


def _matrix(pose: Pose) -> Array:
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = rotation(pose.rotation.wxyz), pose.translation_m
    return m


def _turns(axis: Array, angles: Array) -> Array:
    """Return turns (m, 4, 4) about the unit vector ``axis`` by ``angles`` (m,) [rad].

    Rodrigues' formula: cos I + (1 - cos) a a' + sin [a].
    """
    cross = np.cross(np.eye(3), axis)
    cosine, sine = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    m = np.zeros((len(angles), 4, 4))
    m[:, :3, :3] = cosine * np.eye(3) + (1.0 - cosine) * np.outer(axis, axis) + sine * cross
    m[:, 3, 3] = 1.0
    return m
