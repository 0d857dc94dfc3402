"""Moves the arm for one command: plans, sends the motion, and measures that the arm has arrived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.commands import Command, DummyForward, Motion
from handiwork_core.contracts.planning import (
    Goal,
    JointGoals,
    PathGoal,
    PlanResult,
    PoseGoals,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.thresholds import SAME_START_RAD
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from skill_server.contact.guarded_motion import guarded
from skill_server.following.brake_ahead import begun_at
from skill_server.motions.arm_motions import hand_at
from skill_server.motions.joint_tolerances import joint_tolerances
from skill_server.motions.planner_requests import plan_motion
from skill_server.motions.quintic_motion import quintic
from skill_server.params.protocol import RunParams
from skill_server.state.deadline import MeasurementDeadline
from skill_server.state.gripper_state import arm_q
from skill_server.state.scene_query import scene_for
from skill_server.tool_paths.sampling import rest_of

from .command_judge import CommandJudge
from .execution_state import ExecutionState
from .grasp_monitor import GraspMonitor
from .measurement import ARRIVAL_S, POLL_S, check_targets, fresh_world, pause
from .motion_sending import MotionSender, PlanRefused

SAME_Q_RAD = 0.01


class ArmMover:
    """Moves the arm of a run. What changes from command to command is in the state that each call is given."""

    def __init__(
        self, params: RunParams, context: Context, monitor: GraspMonitor, judge: CommandJudge
    ) -> None:
        self._params, self._context, self._monitor, self._judge = params, context, monitor, judge
        self._sender = MotionSender(context, monitor)

    def move(self, command: Command, state: ExecutionState) -> None:
        """Plan to the command's pose, validate, follow, and measure that the arm reached it.

        Args:
            command: Has a pose.
            state: Says how to plan; takes the version of the world that the motion was planned in.

        Raises:
            StepFailed: No motion was found, or the arm did not arrive; with the cause.
            Stopped: The token was set.
            ValueError: The planner broke its contract.
        """
        assert command.world_T_ee is not None
        self._monitor.check(command.stage)
        check_targets(self._context, state)
        world = fresh_world(self._context)
        start_q = arm_q(world, self._context.arm_spec)
        if not np.isfinite(start_q).all():
            text = "joint_states lacks joints of the arm; check the robot"
            raise StepFailed(Outcome(Code.ROBOT_LOST, text))
        if self._is_there(command, world, start_q):
            return
        scene, ready = self._scene(world, command, state), [command.planned]
        versions = [state.world_version]

        def plan(q: Array) -> Trajectory:
            if command.is_fixed:
                return self._finished(_fixed(command.planned, command.stage, q), command)
            planned = ready.pop() if ready else None
            if planned and _starts_at(planned, q):
                return self._finished(planned, command)
            result = plan_motion(
                self._context,
                self._params,
                q,
                self._goal(command, start_q, q),
                scene,
                speed=command.speed,
                hold_vec_weight=state.hold_vec_weight,
            )
            versions.append(result.world_version)
            return self._finished(_trajectory_of(result, command), command)

        def bent(q: Array) -> Trajectory | None:
            planned = command.planned
            if planned is None or _starts_at(planned, q) or not self._may_bend(command, state):
                return None
            found = begun_at(planned, q, *self._limits(command.speed))
            return None if found is None else self._finished(found, command)

        if not self._ends_by_contact(plan, bent, scene, command, state):
            self._await_arrival(command)
        state.world_version = max(versions)

    def _may_bend(self, command: Command, state: ExecutionState) -> bool:
        is_free = command.motion is Motion.FREE and state.hold_vec_weight is None
        return is_free and not command.is_fixed and command.stop_force_n <= 0.0

    def _limits(self, speed: float) -> tuple[Array, Array]:
        """Return the velocities and accelerations (dof,) that the goal leaves the arm's joints."""
        joints = [self._context.robot.joints[name] for name in self._context.arm_spec.joint_names]
        velocity = np.array([joint.velocity for joint in joints])
        acceleration = np.array([joint.acceleration for joint in joints])
        params = self._params
        return (
            params.max_velocity_scaling_factor * speed * velocity,
            params.max_acceleration_scaling_factor * speed * acceleration,
        )

    def _ends_by_contact(
        self,
        plan: Callable[[Array], Trajectory],
        bent: Callable[[Array], Trajectory | None],
        scene: SceneQuery,
        command: Command,
        state: ExecutionState,
    ) -> bool:
        """Send the motion, and return whether a force ended it before its waypoint."""
        try:
            self._sender.send_planned(plan, scene, command.stage, state, bent)
        except StepFailed as failure:
            if failure.outcome.code is not Code.CONTACT:
                raise
            self._context.contact = failure.outcome
            return True
        return False

    def move_directly(self, function: DummyForward, command: Command, state: ExecutionState) -> None:
        """Go straight to a configuration without a planner; the motion is still validated.

        Args:
            function: Has the configuration.
            command: Belongs to ``function``.
            state: Says which objects are no obstacles.

        Raises:
            StepFailed: The motion was refused or not followed; with the cause.
            Stopped: The token was set.
        """
        context, params = self._context, self._params
        velocity = params.max_velocity_scaling_factor * command.speed
        acceleration = params.max_acceleration_scaling_factor * command.speed

        def plan(q: Array) -> Trajectory:
            if command.is_fixed:
                return _fixed(function.planned, command.stage, q)
            return quintic(context.robot, context.arm_spec, q, function.q, velocity, acceleration)

        scene = self._scene(fresh_world(context), command, state)
        self._sender.send_planned(plan, scene, command.stage, state)

    def _finished(self, trajectory: Trajectory, command: Command) -> Trajectory:
        """Ask the controller for what the waypoint asks for, and for the end by contact."""
        context, params = self._context, self._params
        tolerances = joint_tolerances(
            context.robot, context.arm_spec, trajectory.q[-1], params.t_eps, params.o_eps
        )
        return guarded(replace(trajectory, goal_tolerance=tolerances), command, context)

    def _is_there(self, command: Command, world: World, q: Array) -> bool:
        if command.motion is Motion.PATH or command.stop_force_n > 0.0:
            return False  # a curve may end where it begins, and a contact may come within the tolerance
        near = self._judge.is_subtask_done(command, world, self._context).ok
        if not near or command.motion is Motion.STRAIGHT or command.q is None:
            return near
        return bool(np.abs(command.q - q).max() < SAME_Q_RAD)

    def _scene(self, world: World, command: Command, state: ExecutionState) -> SceneQuery:
        context = self._context
        return scene_for(
            world, context.robot, context.arm_spec, context.held, state.ignored, command.touching
        )

    def _goal(self, command: Command, start_q: Array, q: Array) -> Goal:
        """Return the planner's goal; after a stop on a curve only the rest of it is left."""
        assert command.world_T_ee is not None
        if command.motion is Motion.PATH:
            moved = bool(np.abs(q - start_q).max() > SAME_START_RAD)
            return PathGoal(rest_of(command.path, hand_at(self._context, q)) if moved else command.path)
        if command.motion is Motion.STRAIGHT:
            return StraightGoal(command.world_T_ee)
        if command.q is not None:
            return JointGoals(command.q[None, :])
        return PoseGoals((command.world_T_ee,))

    def _await_arrival(self, command: Command) -> None:
        """Wait until the skill takes the waypoint for reached; a missed one fails with its errors."""
        deadline = MeasurementDeadline(self._context.clock, ARRIVAL_S)
        while True:
            world = fresh_world(self._context)
            found = self._judge.is_subtask_done(command, world, self._context)
            if found.ok:
                return
            if deadline.is_past(world):
                raise StepFailed(replace(found, stage=command.stage))
            pause(self._context, POLL_S)


def _fixed(planned: Trajectory | None, stage: str, q: Array) -> Trajectory:
    """Return the motion that a command is fixed to, which is never replaced by another one."""
    if planned is not None and _starts_at(planned, q):
        return planned
    away = "was not needed" if planned is None else f"begins {np.abs(planned.q[0] - q).max():.4f} rad from it"
    text = f"the arm is not where the preview had it: its motion for {stage!r} {away}; preview again"
    raise PlanRefused(Outcome(Code.PLAN_FAILED, text, stage))


def _starts_at(planned: Trajectory, q: Array) -> bool:
    return bool(np.abs(planned.q[0] - q).max() < SAME_START_RAD)


def _trajectory_of(result: PlanResult, command: Command) -> Trajectory:
    if result.code is Code.OK and result.trajectory is not None:
        return result.trajectory
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
