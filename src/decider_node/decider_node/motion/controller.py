"""A controller that follows a target which may move at any time, cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.collision.exact_check import pairs_on
from handiwork_planning.ik.single import descend
from handiwork_planning.kernels.arrays import OFF, flat
from handiwork_planning.kernels.kinematics import tool_poses
from handiwork_planning.scene.query import Query, Reader
from handiwork_planning.scene.scene import Scene

from .command import MotionCommand
from .cycle import Gains, Motion, follow


@dataclass(frozen=True, slots=True)
class Settings:
    """How the controller moves.

    Attributes:
        pull: speed per distance near the target [1/s].
        linear_speed, angular_speed: of the tool, at most [m/s, rad/s].
        linear_acceleration, angular_acceleration: with which the tool stops at the target [m/s^2, rad/s^2].
        joint_speed, joint_acceleration: shares of the robot's limits.
        clearance_m: between bodies, beyond which nothing comes nearer.
        reach_m: nearer than this beyond the clearance, bodies are watched.
        nearing: speed at which they may come nearer per distance beyond the clearance [1/s].
        leash: largest distance of a commanded joint from the measured one [rad or m].
    """

    pull: float = 6.0
    linear_speed: float = 1.0
    angular_speed: float = 2.0
    linear_acceleration: float = 2.0
    angular_acceleration: float = 6.0
    joint_speed: float = 0.9
    joint_acceleration: float = 0.5
    clearance_m: float = 0.005
    reach_m: float = 0.15
    nearing: float = 5.0
    leash: float = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What the servos get: ``q`` (n,) and ``rate`` (n,) [rad, rad/s], and what the controller saw.

    ``distance_m`` and ``angle_rad``: from the tool to what is aimed at now. ``clearance_m``: smallest distance between
    watched bodies beyond their clearance, 1e9 where none is near. ``is_reachable``: a configuration for it was found.
    """

    q: Array
    rate: Array
    distance_m: float
    angle_rad: float
    clearance_m: float
    is_reachable: bool


class ReactiveController:
    """One arm among objects. Call ``step`` at a steady rate of 100 Hz or more.

    Args:
        robot: its description.
        arm: which of its arms.
        world_T_base: where the arm's base link is.
        settings: how it moves.
    """

    def __init__(
        self, robot: Robot, arm: ArmSpec, world_T_base: Pose, settings: Settings | None = None
    ) -> None:
        self.arm, self.settings = arm, settings or Settings()
        self._reader, self._scene = Reader(robot, world_T_base), Scene()
        self._held: tuple[Attachment, ...] = ()
        self._gripper: tuple[tuple[str, float], ...] = ()
        self._off: frozenset[str] = frozenset()
        joints = [robot.joints[name] for name in arm.joint_names]
        s = self.settings
        self._velocity = s.joint_speed * np.array([joint.velocity for joint in joints])
        self._acceleration = s.joint_acceleration * np.array([joint.acceleration for joint in joints])
        self._q: Array | None = None
        self._posture: Array | None = None
        self._rate, self._goal = np.zeros(len(joints)), arm.home_q.copy()
        self._read()

    def set_world(self, world: World) -> None:
        """Takes the obstacles: objects with states. Regions that nobody can see are objects as well."""
        before = self._scene.arrays
        self._scene.update(world)
        if self._scene.arrays is not before:
            self._read()

    @property
    def off(self) -> frozenset[str]:
        """Obstacles that do not count now."""
        return self._off

    def set_off(self, names: Iterable[str]) -> None:
        """Says which obstacles do not count now."""
        off = frozenset(names)
        if off != self._off:
            self._off = off
            self._read()

    def set_held(self, held: tuple[Attachment, ...], gripper_m: tuple[tuple[str, float], ...] = ()) -> None:
        """Says what moves with the arm, and where its other joints are."""
        if held != self._held or gripper_m != self._gripper:
            self._held, self._gripper = held, gripper_m
            self._read()

    def begin(self, q: Array, rate: Array | None = None) -> None:
        """Forgets the motion so far: the arm is at ``q`` (n,), at rest or with ``rate`` (n,)."""
        self._q, self._goal, self._posture = q.copy(), q.copy(), None
        self._rate[:] = 0.0 if rate is None else np.clip(rate, -self._velocity, self._velocity)

    def go_on(self, duration_s: float) -> None:
        """The last command was for so much earlier [s] than the next cycle: the arm went on with its velocity."""
        if self._q is not None:
            self._q = self._q + self._rate * duration_s

    def tool_pose(self, q: Array) -> Pose:
        """World pose of the EE link at ``q`` (n,)."""
        out = np.empty((1, 12))
        tool_poses(np.ascontiguousarray(q)[None], self._query.robot, out)
        return Pose.from_matrix(
            np.vstack([np.column_stack([out[0, :9].reshape(3, 3), out[0, 9:]]), [0, 0, 0, 1]])
        )

    def configuration(self, world_T_ee: Pose, seeds: Iterable[Array]) -> Array | None:
        """Returns a configuration (n,) for a pose, found from the first of ``seeds`` that leads to one."""
        for seed in seeds:
            q, left = np.array(seed, dtype=np.float64), np.empty(6)
            if descend(q, flat(world_T_ee), self._query.robot, 100, left):
                return q
        return None

    def step(self, command: MotionCommand, q: Array, dt: float) -> Reference:
        """One cycle.

        Args:
            command: where to go.
            q: (n,) measured joints [rad or m].
            dt: time until the next cycle [s].

        Raises:
            ValueError: a measured joint or the time is not a number that makes sense.
        """
        start = self._start(q, dt)
        aim = command.world_T_target if command.approach is None else command.aim(self.tool_pose(start))
        seed = start if command.posture is None else command.posture
        if command.posture is not None and command.posture is not self._posture:
            self._goal = command.posture.copy()  # a new wish: what was found near the old one does not count
        self._posture = command.posture
        report, gains = np.empty(4), self._gains
        gains = gains._replace(
            linear_speed=command.speed * gains.linear_speed, angular_speed=command.speed * gains.angular_speed
        )
        motion = Motion(start, self._velocity * command.speed, self._acceleration, self._goal, self._rate)
        follow(
            motion, flat(aim), command.world_v_target, seed, dt, gains,
            self._query.robot, self._query.scene, self._query.margins, self._pairs, report,
        )  # fmt: skip
        return self._moved(start, dt, report)

    def stop(self, q: Array, dt: float) -> Reference:
        """One cycle of coming to rest, at the limit of the acceleration."""
        start = self._start(q, dt)
        most = self._acceleration * dt
        self._rate -= np.clip(self._rate, -most, most)
        return self._moved(start, dt, np.array([0.0, 0.0, 1.0e9, 1.0]))

    def _start(self, q: Array, dt: float) -> Array:
        """Where the law starts from: the command so far, not farther than the leash from what is measured."""
        if q.shape != self._rate.shape or not np.isfinite(q).all():
            raise ValueError(f"measured joints {q.tolist()}: give {len(self._rate)} finite numbers")
        if not 0.0 < dt <= 0.1:
            raise ValueError(f"cycle of {dt} s: give a time above 0 and at most 0.1 s")
        if self._q is None:
            self.begin(q)
        leash = self.settings.leash
        return np.asarray(np.clip(self._q, q - leash, q + leash))

    def _moved(self, start: Array, dt: float, report: Array) -> Reference:
        robot = self._query.robot
        self._q = np.clip(start + self._rate * dt, robot.lower, robot.upper)
        return Reference(
            self._q.copy(),
            self._rate.copy(),
            float(report[0]),
            float(report[1]),
            float(report[2]),
            bool(report[3] > 0.5),
        )

    def _read(self) -> None:
        """Packs robot, obstacles and what is off for the kernels."""
        known = frozenset(self._scene.names)
        query = SceneQuery(ignored=self._off & known, attached=self._held, gripper_m=self._gripper)
        read = self._reader.read(self.arm, self._scene, query)
        margins = np.where(read.margins > 0.1 * OFF, self.settings.clearance_m, read.margins)
        self._query: Query = read.with_margins(margins)
        self._pairs = pairs_on(read.robot, read.scene, margins)
        s = self.settings
        self._gains = Gains(
            s.pull, s.linear_speed, s.angular_speed, s.linear_acceleration, s.angular_acceleration, s.reach_m, s.nearing
        )  # fmt: skip
