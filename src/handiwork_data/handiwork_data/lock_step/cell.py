"""A robot in a private simulation whose time advances only during waits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from handiwork_core.contracts.skill import Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState, World, with_parts
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import Scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation

TICK_STEPS = 10
"""The number of control periods between two checks of a condition that ends a wait."""
TICK_S = TICK_STEPS * CONTROL_S
STOP_S = 20.0
"""The longest time that a task takes to stop once its time is over, s."""


class LockStepCell:
    """Simulation and clock of one episode.

    Args:
        robot: The robot. There is no navigation server here: a base that one drives follows its own controller.
        scene: The scene as it begins.
        limit_s: Time of the world after which ``token`` is set, s.
    """

    def __init__(self, robot: Robot, scene: Scene, limit_s: float) -> None:
        if robot.base is not None:
            robot = replace(robot, base=replace(robot.base, navigation=None))
        self.robot, self.scene, self._limit_s = robot, scene, limit_s
        self.token = Token()
        self.sim = Simulation(robot, scene)
        self.objects = {item.name: item.body for item in scene.objects}
        tools = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
        movers = (*robot.arms.values(), *(() if robot.base is None else (robot.base,)))
        fingers = (tool.joint for tool in tools if tool.suction is None)
        self.joint_names = tuple(
            dict.fromkeys([*(name for mover in movers for name in mover.joint_names), *fingers])
        )
        self._indices = self.sim.world.indices(self.joint_names)
        self._newest: World | None = None
        self.on_tick: Callable[[], None] = lambda: None

    def now_s(self) -> float:
        """Return the time of the world, s."""
        return self.sim.world.time_s

    def tick(self) -> None:
        """Advance by ``TICK_S``.

        Raises:
            RuntimeError: The task goes on though its token was set long ago.
        """
        if self.now_s() > self._limit_s:
            self.token.set(Code.TIMED_OUT, f"the {self._limit_s:g} s of the episode are over")
        if self.now_s() > self._limit_s + STOP_S:
            raise RuntimeError(f"the task did not stop within {STOP_S:g} s after the end of its time")
        self.sim.advance(TICK_STEPS)
        self.on_tick()

    def sleep(self, seconds: float, *, should_stop: Callable[[], bool]) -> None:
        """Advance by a time, rounded up to whole ticks; see ``Clock.sleep``.

        Args:
            seconds: The time, s.
            should_stop: Ends the wait when it returns True.
        """
        for _ in range(math.ceil(seconds / TICK_S - 1e-6)):
            if should_stop():
                return
            self.tick()

    def forget_snapshot(self) -> None:
        """Let the next ``snapshot`` read the world again, as something has changed while no time passed."""
        self._newest = None

    def snapshot(self) -> World:
        """Return the world as it is, with all joints that are measured; between two ticks it is the same."""
        now_s = self.now_s()
        if self._newest is None or self._newest.stamp_s != now_s:
            self._newest = self._taken(now_s)
        return self._newest

    def _taken(self, now_s: float) -> World:
        world = self.sim.world
        measured = world.joints()
        position, velocity = measured.position[self._indices], measured.velocity[self._indices]
        joints = JointState(
            now_s,
            dict(zip(self.joint_names, position.tolist(), strict=True)),
            dict(zip(self.joint_names, velocity.tolist(), strict=True)),
        )
        states = world.object_states()
        joints = with_parts(joints, self.objects, states)
        cups = {name: cup.state(now_s) for name, cup in world.cups.items()}
        frames = {"robot": self._world_T_robot(joints)}
        return World(
            now_s, 1, self.objects, states, world.contacts(), now_s, joints, frames=frames, suction=cups
        )

    def _world_T_robot(self, joints: JointState) -> Pose:
        """Return the pose of the robot's root link, or of the link that a mobile base moves."""
        if self.robot.base is None:
            return self.scene.world_T_base
        link = self.robot.base.link
        return self.scene.world_T_base @ link_poses(self.robot, joints.position, (link,))[link]
