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
from handiwork_planning.scene.scene import CollisionScene

from .command import MotionCommand
from .cycle import Gains, MotionState, follow


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the controller.

    Attributes:
        pull: Speed per distance near the target, 1/s.
        linear_speed: Largest speed of the tool, m/s.
        angular_speed: Largest angular speed of the tool, rad/s.
        linear_acceleration: Deceleration of the tool at the target, m/s^2.
        angular_acceleration: Angular deceleration of the tool at the target, rad/s^2.
        joint_speed: Share of the robot's velocity limits.
        joint_acceleration: Share of the robot's acceleration limits.
        clearance_m: Smallest distance between bodies, m.
        reach_m: Distance beyond the clearance below which bodies limit the motion, m.
        nearing: Speed at which they may come nearer per distance beyond the clearance, 1/s.
        leash: Largest distance of a commanded joint from the measured one, rad or m.
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
class ServoReference:
    """The reference for the servos of one cycle.

    Attributes:
        q: Joint positions, (n,), rad or m.
        rate: Joint velocities, (n,), rad/s or m/s.
        distance_m: Distance from the tool to the pose that is aimed at now, m.
        angle_rad: Angle to it, rad.
        clearance_m: Smallest distance between watched bodies beyond their clearance, m; 1e9 where none is near.
        is_reachable: True when a configuration for that pose was found.
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
        robot: Its description.
        arm: The arm to control.
        world_T_base: Pose of the arm's base link.
        settings: Speeds and distances; None: the defaults.
    """

    def __init__(
        self, robot: Robot, arm: ArmSpec, world_T_base: Pose, settings: Settings | None = None
    ) -> None:
        self.arm, self.settings = arm, settings or Settings()
        self._reader, self._scene = Reader(robot, world_T_base), CollisionScene()
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
        """Take the obstacles.

        Args:
            world: Objects with states. Regions that no sensor can see are objects as well.
        """
        before = self._scene.arrays
        self._scene.update(world)
        if self._scene.arrays is not before:
            self._read()

    @property
    def off(self) -> frozenset[str]:
        """The obstacles that do not count now."""
        return self._off

    def set_off(self, names: Iterable[str]) -> None:
        """Set which obstacles do not count now.

        Args:
            names: Their names; unknown ones are ignored.
        """
        off = frozenset(names)
        if off != self._off:
            self._off = off
            self._read()

    def set_held(self, held: tuple[Attachment, ...], gripper_m: tuple[tuple[str, float], ...] = ()) -> None:
        """Set the bodies that move with the arm, and the positions of its other joints.

        Args:
            held: The held bodies.
            gripper_m: Position of each gripper joint by name, rad or m.
        """
        if held != self._held or gripper_m != self._gripper:
            self._held, self._gripper = held, gripper_m
            self._read()

    def begin(self, q: Array, rate: Array | None = None) -> None:
        """Forget the motion so far.

        Args:
            q: Present joint positions, (n,), rad or m.
            rate: Present joint velocities, (n,), rad/s or m/s; None: at rest.
        """
        self._q, self._goal, self._posture = q.copy(), q.copy(), None
        self._rate[:] = 0.0 if rate is None else np.clip(rate, -self._velocity, self._velocity)

    def go_on(self, duration_s: float) -> None:
        """Move the last command on by its velocity, since the next cycle is later than it was meant to be.

        Args:
            duration_s: Time by which it is later, s; negative: earlier.
        """
        if self._q is not None:
            self._q = self._q + self._rate * duration_s

    def tool_pose(self, q: Array) -> Pose:
        """Return the pose of the EE link in world.

        Args:
            q: Joint positions, (n,), rad or m.
        """
        out = np.empty((1, 12))
        tool_poses(np.ascontiguousarray(q)[None], self._query.robot, out)
        return Pose.from_matrix(
            np.vstack([np.column_stack([out[0, :9].reshape(3, 3), out[0, 9:]]), [0, 0, 0, 1]])
        )

    def configuration(self, world_T_ee: Pose, seeds: Iterable[Array]) -> Array | None:
        """Return a configuration for a pose.

        Args:
            world_T_ee: Pose of the EE link.
            seeds: Joint positions to search from, (n,) each, rad or m; the first that leads to a solution counts.

        Returns:
            Joint positions, (n,); None when no seed leads to a solution.
        """
        for seed in seeds:
            q, left = np.array(seed, dtype=np.float64), np.empty(6)
            if descend(q, flat(world_T_ee), self._query.robot, 100, left):
                return q
        return None

    def step(self, command: MotionCommand, q: Array, dt: float) -> ServoReference:
        """Run one cycle.

        Args:
            command: The target.
            q: Measured joint positions, (n,), rad or m.
            dt: Time until the next cycle, s.

        Returns:
            The reference for the end of this cycle.

        Raises:
            ValueError: A measured joint is not finite, or the time is not above 0 and at most 0.1 s.
        """
        start = self._start(q, dt)
        aim = command.world_T_target if command.approach is None else command.aim(self.tool_pose(start))
        seed = start if command.posture is None else command.posture
        if command.posture is not None and command.posture is not self._posture:
            self._goal = command.posture.copy()  # the goal near the old posture does not count
        self._posture = command.posture
        report, gains = np.empty(4), self._gains
        gains = gains._replace(
            linear_speed=command.speed * gains.linear_speed, angular_speed=command.speed * gains.angular_speed
        )
        motion = MotionState(
            start, self._velocity * command.speed, self._acceleration, self._goal, self._rate
        )
        follow(
            motion, flat(aim), command.world_v_target, seed, dt, gains,
            self._query.robot, self._query.scene, self._query.margins, self._pairs, report,
        )  # fmt: skip
        return self._moved(start, dt, report)

    def stop(self, q: Array, dt: float) -> ServoReference:
        """Run one cycle of braking at the limit of the acceleration.

        Args:
            q: Measured joint positions, (n,), rad or m.
            dt: Time until the next cycle, s.

        Returns:
            The reference for the end of this cycle.

        Raises:
            ValueError: See ``step``.
        """
        start = self._start(q, dt)
        most = self._acceleration * dt
        self._rate -= np.clip(self._rate, -most, most)
        return self._moved(start, dt, np.array([0.0, 0.0, 1.0e9, 1.0]))

    def _start(self, q: Array, dt: float) -> Array:
        """Return the start of the cycle: the command so far, not farther than the leash from the measured joints."""
        if q.shape != self._rate.shape or not np.isfinite(q).all():
            raise ValueError(f"measured joints {q.tolist()}: give {len(self._rate)} finite numbers")
        if not 0.0 < dt <= 0.1:
            raise ValueError(f"cycle of {dt} s: give a time above 0 and at most 0.1 s")
        if self._q is None:
            self.begin(q)
        leash = self.settings.leash
        return np.asarray(np.clip(self._q, q - leash, q + leash))

    def _moved(self, start: Array, dt: float, report: Array) -> ServoReference:
        robot = self._query.robot
        self._q = np.clip(start + self._rate * dt, robot.lower, robot.upper)
        return ServoReference(
            self._q.copy(),
            self._rate.copy(),
            float(report[0]),
            float(report[1]),
            float(report[2]),
            bool(report[3] > 0.5),
        )

    def _read(self) -> None:
        """Pack the robot, the obstacles and the names that are off for the kernels."""
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
