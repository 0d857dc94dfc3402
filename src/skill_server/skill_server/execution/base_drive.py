"""Drives a mobile base along a straight motion, or lets a navigation server drive it, supervised on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.commands import Command, DriveBase, NavigateBase
from handiwork_core.contracts.planning import ShouldStop, Verdict
from handiwork_core.contracts.ports import Arm, NavigationGoal
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.supervision.path_supervision import Check, PathSupervision
from handiwork_core.supervision.supervised_arm import SupervisedArm
from skill_server.motions.base_motion import (
    base_of,
    base_q,
    root_pose,
    speeds_known,
    swept,
)
from skill_server.motions.base_steering import positions_between, steering_of
from skill_server.motions.quintic_motion import quintic
from skill_server.params.protocol import RunParams

from .grasp_monitor import GraspMonitor
from .measurement import fresh_world

LOOK_S = 0.1
"""Period in which the way ahead of a navigated base is checked, s of the robot's world."""
REACTION_S = 0.3
"""Time from the check until the navigation server brakes the base, s."""


def drive(
    function: DriveBase, command: Command, params: RunParams, context: Context, monitor: GraspMonitor
) -> None:
    """Drive from where the base is, by the straight motions that its kind allows, and watch what is held.

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
    start = base_q(context.robot, fresh_world(context).joints.position)
    for end in steering_of(context.robot)(start, function.q):
        _drive_straight(replace(function, q=end), command, params, context, monitor)


def _drive_straight(
    function: DriveBase, command: Command, params: RunParams, context: Context, monitor: GraspMonitor
) -> None:
    """Send a straight motion from where the base is."""
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


def navigate(function: NavigateBase, command: Command, context: Context, monitor: GraspMonitor) -> None:
    """Let the navigation server drive the base, and watch what is held and what is ahead.

    The server plans around the obstacles that it knows, without the arms and what they hold. So the robot is checked
    against the world as far as it needs to stop, and the server's goal is canceled before a body is touched.

    Args:
        function: Says where to, and what is no obstacle.
        command: Belongs to ``function``.
        context: Ports of the run, with a navigation server.
        monitor: Watches what is held.

    Raises:
        StepFailed: The server's own cause, PATH_BLOCKED with the bodies, ROBOT_LOST where the speed of the base is not
            measured any more, or what is held is gone.
        Stopped: The token was set.
    """
    assert context.navigator is not None
    world = fresh_world(context)
    root, base = root_pose(context, world), base_of(context.robot)
    pose = link_poses(context.robot, dict(zip(base.joint_names, function.q.tolist(), strict=True)))[base.link]
    blocked = _ahead(context, root, function.ignored)
    found: list[Verdict] = []

    def should_stop() -> bool:
        if not found and (verdict := blocked()) is not None:
            found.append(verdict)
        return bool(found) or context.token.is_set() or monitor.dropped()

    goal = NavigationGoal(root @ pose, function.timeout_s)
    outcome = context.navigator.navigate(goal, should_stop=should_stop)
    context.token.check()
    monitor.check(command.stage)
    if found and outcome.code is Code.CANCELED:
        outcome = _stopped_by(found[0])
    if not outcome.ok:
        raise StepFailed(replace(outcome, stage=command.stage))


def _stopped_by(verdict: Verdict) -> Outcome:
    if verdict.code is Code.ROBOT_LOST:
        return Outcome(verdict.code, f"{verdict.message}; the base was stopped")
    text = f"{verdict.message}; the base was stopped before that; clear it, and send the goal again"
    return Outcome(Code.PATH_BLOCKED, text, blocking=verdict.blocking)


def _ahead(context: Context, root: Pose, ignored: frozenset[str]) -> Callable[[], Verdict | None]:
    """Return the check of the way that the base needs to stop at its measured velocity; it returns what is in it."""
    base = base_of(context.robot)
    brakes = np.array([context.robot.joints[name].acceleration for name in base.joint_names])
    looked_s = float("-inf")

    def check() -> Verdict | None:
        nonlocal looked_s
        world = context.world.snapshot()
        passed_s = world.joints.stamp_s - looked_s
        if not context.supervision.is_on or 0.0 <= passed_s < LOOK_S:
            return None
        looked_s = world.joints.stamp_s
        if not (known := speeds_known(base.joint_names, world)).ok:
            return Verdict(known.code, known.message)
        speed = np.array([world.joints.velocity[name] for name in base.joint_names])
        stops_s = REACTION_S + float((np.abs(speed) / brakes).max()) / 2.0
        here = base_q(context.robot, world.joints.position)
        verdict = swept(context, world, root, positions_between(here, here + stops_s * speed), ignored)
        if verdict.code is Code.OK:
            return None
        pair = verdict.blocking
        return replace(verdict, message=f"{pair.a} would come to {pair.b} on nav2's way") if pair else verdict

    return check


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
