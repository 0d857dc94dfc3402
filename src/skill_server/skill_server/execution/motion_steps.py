"""The executor's steps: one move, one function.

Each raises StepFailed or Stopped, and looks at the token around every wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.planning import (
    Goal,
    JointGoals,
    PlanRequest,
    PoseGoals,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from skill_server.params.protocol import RunParams
from skill_server.state import gripper_state
from skill_server.state.deadline import Deadline
from skill_server.state.scene_query import scene_for

from .grasp_monitor import GraspMonitor
from .motion_sending import PlanRefused, go

STALE_S = 1.0
"""Age of a snapshot in time of the robot's world."""
NEWER_S = 0.5
"""Steady time in which a newer one must come."""
MOVED_M = 0.01
ARRIVAL_S = 0.5
"""Time of the robot's world for measurements to catch up with a finished motion."""
POLL_S = 0.02
SAME_Q_RAD = 0.01
SAME_START_RAD = 0.002
"""A motion planned earlier is taken when the arm stands this near to its start."""


@dataclass
class MotionSteps:
    """Moves of one run and what they must remember.

    ``before`` is the world that the commands were chosen in.
    """

    params: RunParams
    context: Context
    before: World
    watch: GraspMonitor
    ignored: frozenset[str] = frozenset()
    hold_vec_weight: tuple[float, ...] | None = None
    target_is_free: bool = True
    moved: bool = False
    world_version: int = 0

    def world(self) -> World:
        """The newest snapshot, refused when it is old and no newer one comes.

        A fast simulation puts much of its time between two messages, so age in its time alone proves nothing.
        """
        until = time.monotonic() + NEWER_S
        while True:
            self.context.token.check()
            world = self.context.world.snapshot()
            old = self._old(world)
            if not old:
                return world
            if time.monotonic() >= until:
                raise StepFailed(Outcome(Code.STALE_WORLD, old))
            self.context.token.wait(POLL_S)

    def _old(self, world: World) -> str:
        """What of the snapshot is old, in words, or nothing."""
        stamps = {"world state": world.stamp_s}
        if world.contacts is not None:
            stamps["report of contacts"] = world.contacts_stamp_s
        for what, stamp_s in stamps.items():
            age = self.context.clock.now_s() - stamp_s
            if age > STALE_S:
                return f"the newest {what} is {age:.1f} s old; check its source"
        return ""

    def move(self, command: Command) -> None:
        """Plan to the command's pose, validate, follow, and measure that it was reached."""
        assert command.world_T_ee is not None
        self.watch.check(command.stage)
        self.check_targets()
        world = self.world()
        start_q = gripper_state.arm_q(world, self.context.arm_spec)
        if not np.isfinite(start_q).all():
            raise StepFailed(
                Outcome(Code.ROBOT_LOST, "joint_states lacks joints of the arm; check the robot")
            )
        if self._is_there(command, self._ee(world), start_q):
            return
        scene, ready = self._scene(world, command), [command.planned]

        def plan(q: Array) -> Trajectory:
            planned = ready.pop() if ready else None
            return planned if planned and _starts_at(planned, q) else self._plan(command, q, scene)

        self.go(plan, scene, command.stage)
        self._arrive(command.world_T_ee, command.stage)

    def go(self, plan: Callable[[Array], Trajectory], scene: SceneQuery, stage: str) -> None:
        """Send what ``plan`` makes from where the arm is (n,): see ``sending.go``."""
        go(self, plan, scene, stage)

    def scene_now(self, touching: frozenset[str]) -> SceneQuery:
        """The scene for a move from the newest world."""
        world = self.world()
        return scene_for(
            world, self.context.robot, self.context.arm_spec, self.context.held, self.ignored, touching
        )

    def check_targets(self) -> None:
        """Refuse to go on when a target moved by more than ``MOVED_M`` since the commands were chosen."""
        if not self.target_is_free:
            return
        world = self.world()
        for name in self.params.targets:
            if name not in world.states or name not in self.before.states:
                raise StepFailed(
                    Outcome(Code.OBJECT_MOVED, f"{name!r} is gone from the world; send the goal again")
                )
            then, now = self.before.states[name].world_T_object, world.states[name].world_T_object
            gap, turn = then.distance_to(now)
            if gap > MOVED_M:
                text = (
                    f"{name!r} moved by {gap * 1e3:.0f} mm since the motion was chosen; send the goal again"
                )
                raise StepFailed(
                    Outcome(
                        Code.OBJECT_MOVED,
                        text,
                        position_error_m=gap,
                        angle_error_rad=turn,
                        field_name="object",
                    )
                )

    def pause(self, seconds: float) -> None:
        """Wait in time of the robot's world."""
        self.context.clock.sleep(seconds, should_stop=self.context.token.is_set)
        self.context.token.check()

    def _ee(self, world: World) -> Pose:
        base = self.context.world.world_T_base()
        return gripper_state.ee_pose(world, self.context.robot, self.context.arm_spec, base)

    def _is_there(self, command: Command, here: Pose, q: Array) -> bool:
        assert command.world_T_ee is not None
        near = here.almost_equal(command.world_T_ee, within_m=self.params.t_eps, within_rad=self.params.o_eps)
        if not near or command.motion is Motion.STRAIGHT or command.q is None:
            return near
        return bool(np.abs(command.q - q).max() < SAME_Q_RAD)

    def _scene(self, world: World, command: Command) -> SceneQuery:
        context = self.context
        return scene_for(world, context.robot, context.arm_spec, context.held, self.ignored, command.touching)

    def _plan(self, command: Command, start_q: Array, scene: SceneQuery) -> Trajectory:
        context, params = self.context, self.params
        request = PlanRequest(
            arm=context.arm_spec.name,
            start_q=start_q,
            goal=_goal(command),
            scene=scene,
            hold_vec_weight=self.hold_vec_weight,
            budget_s=params.allowed_planning_time,
            velocity_scaling=params.max_velocity_scaling_factor * command.speed,
            acceleration_scaling=params.max_acceleration_scaling_factor * command.speed,
            seed=context.seed,
        )
        context.token.check()
        result = context.planner.plan(request, should_stop=context.token.is_set)
        context.token.check()
        context.planning_time_s += result.planning_time_s
        self.world_version = max(self.world_version, result.world_version)
        if result.code is Code.OK and result.trajectory is not None:
            return result.trajectory
        if result.code is Code.OK:
            raise ValueError("the planner answered OK without a trajectory")
        text = f"no {command.motion.value} motion for {command.stage!r}: {result.message or result.code.name}"
        raise PlanRefused(
            Outcome(
                result.code,
                text,
                command.stage,
                blocking=result.blocking,
                position_error_m=result.position_error_m,
                angle_error_rad=result.angle_error_rad,
            )
        )

    def _arrive(self, target: Pose, stage: str) -> None:
        """Wait for measurements within the tolerances; a missed waypoint fails with both errors."""
        deadline = Deadline(self.context.clock, ARRIVAL_S)
        while True:
            world = self.world()
            gap, turn = self._ee(world).distance_to(target)
            if gap <= self.params.t_eps and turn <= self.params.o_eps:
                return
            if deadline.is_past(world):
                text = (
                    f"stopped {gap * 1e3:.1f} mm and {turn:.3f} rad from the waypoint; "
                    f"allowed are t_eps {self.params.t_eps * 1e3:.1f} mm and o_eps {self.params.o_eps:.3f} rad"
                )
                raise StepFailed(
                    Outcome(Code.NOT_REACHED, text, stage, position_error_m=gap, angle_error_rad=turn)
                )
            self.pause(POLL_S)


def _starts_at(planned: Trajectory | None, q: Array) -> bool:
    return planned is not None and bool(np.abs(planned.q[0] - q).max() < SAME_START_RAD)


def _goal(command: Command) -> Goal:
    assert command.world_T_ee is not None
    if command.motion is Motion.STRAIGHT:
        return StraightGoal(command.world_T_ee)
    if command.q is not None:
        return JointGoals(command.q[None, :])
    return PoseGoals((command.world_T_ee,))
