"""Drives a mobile base along a straight motion, supervised on the way."""

from __future__ import annotations

from dataclasses import replace

from handiwork_core.contracts.commands import Command, DriveBase
from handiwork_core.contracts.planning import ShouldStop, Verdict
from handiwork_core.contracts.ports import Arm
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.supervision.path_supervision import Check, PathSupervision
from handiwork_core.supervision.supervised_arm import SupervisedArm
from skill_server.motions.base_motion import base_of, base_q, root_pose, swept
from skill_server.motions.quintic_motion import quintic
from skill_server.params.protocol import RunParams

from .grasp_monitor import GraspMonitor
from .measurement import fresh_world


def drive(
    function: DriveBase, command: Command, params: RunParams, context: Context, monitor: GraspMonitor
) -> None:
    """Send a straight motion from where the base is, and watch what is held.

    Args:
        function: Says where to, and what is no obstacle.
        command: Belongs to ``function``.
        params: Limits of velocity and acceleration.
        context: Ports of the run, with a base.
        monitor: Watches what is held.

    Raises:
        StepFailed: The controller's own cause, or what is held is gone.
        Stopped: The token was set.
    """
    assert context.base is not None
    world = fresh_world(context)
    start = base_q(context.robot, world.joints.position)
    velocity = params.max_velocity_scaling_factor * command.speed
    acceleration = params.max_acceleration_scaling_factor * command.speed
    way = quintic(context.robot, base_of(context.robot), start, function.q, velocity, acceleration)
    root = root_pose(context, world)
    verdict = swept(context, world, root, way.q, function.ignored)
    if verdict.code is not Code.OK:
        raise StepFailed(
            Outcome(Code.PATH_BLOCKED, verdict.message, command.stage, blocking=verdict.blocking)
        )
    base = _supervised(context, way, function.ignored, world, root)
    outcome = base.follow(way, should_stop=lambda: context.token.is_set() or monitor.dropped())
    context.token.check()
    monitor.check(command.stage)
    if not outcome.ok:
        raise StepFailed(replace(outcome, stage=command.stage))


def _supervised(context: Context, way: Trajectory, ignored: frozenset[str], then: World, root: Pose) -> Arm:
    """The base for one motion, which brakes where something comes into the rest of its way."""
    assert context.base is not None
    if not context.supervision.is_on:
        return context.base

    def judge(check: Check, path_s: float, _should_stop: ShouldStop) -> Verdict:
        changes, objects = check.changes, frozenset(check.world.objects)
        same = frozenset() if changes.is_planners else objects - changes.names
        return swept(context, check.world, root, way.remaining(path_s).q, ignored | same)

    excluded = ignored | {*context.held, *context.held_by_others(), *then.planner_attached}
    return SupervisedArm(
        context.base,
        PathSupervision(then, excluded, context.supervision),
        judge,
        context.world,
        lambda world: base_q(context.robot, world.joints.position),
        context.clock,
    )
