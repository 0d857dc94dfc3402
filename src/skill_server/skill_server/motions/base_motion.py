"""Motions of a mobile base: its position, the check that the whole robot has room, and the motion itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from handiwork_core.contracts.commands import Command, DriveBase, NavigateBase
from handiwork_core.contracts.planning import Attachment, Verdict
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.thresholds import OTHER_ARM_REST
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import BaseSpec, Robot
from skill_server.params import checks
from skill_server.state.scene_query import ignored_objects

from . import arm_motions
from .base_steering import positions_on_way, steering_of
from .base_sweep import CLEARANCE_M, BaseClearance, geometry_of

NAVIGATION_S = 120.0
"""The longest time of a drive by a navigation server whose goal names none, s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseParams(SkillParams):
    """Parameters of the skills that drive a base; the arms keep their joints.

    Attributes:
        tolerance_m: Largest distance of the base from its goal at the end, m.
        tolerance_rad: Largest angle from its goal at the end, rad.
    """

    tolerance_m: float = 0.01
    tolerance_rad: float = 0.02


def check(params: BaseParams, robot: Robot, world: World) -> Outcome:
    """Check a goal by its arguments alone.

    Args:
        params: Parameters of the skill.
        robot: Robot, which must have a base.
        world: World at the time of the goal.

    Returns:
        OK, or the faults.
    """
    if not (found := has_base(robot, world)).ok:
        return found
    return checks.all_faults(
        (
            checks.number("tolerance_m", params.tolerance_m, 1e-4, 1.0, "m"),
            checks.number("tolerance_rad", params.tolerance_rad, 1e-4, 1.0, "rad"),
            arm_motions.check_run(params),
        )
    )


def has_base(robot: Robot, world: World) -> Outcome:
    """Check that a robot has a base, and that its joints are measured.

    Args:
        robot: The robot.
        world: World at the time of the goal.

    Returns:
        OK, or the fault.
    """
    if robot.base is None:
        text = f"robot {robot.name!r} has no mobile base; describe one under base: in its robot.yaml"
        return Outcome(Code.UNSUPPORTED, text, "check", "arm")
    missing = [name for name in robot.base.joint_names if name not in world.joints.position]
    if missing:
        return Outcome(Code.ROBOT_LOST, f"joint_states lacks {missing} of the base", "check", "arm")
    return OK


def base_of(robot: Robot) -> BaseSpec:
    """Return the base of a robot that ``check`` has accepted.

    Args:
        robot: Robot with a base.

    Returns:
        The description of the base.
    """
    assert robot.base is not None
    return robot.base


def base_q(robot: Robot, joints: Mapping[str, float]) -> Array:
    """Return the measured position of the base.

    Args:
        robot: Robot with a base.
        joints: Measured positions by joint.

    Returns:
        x, y [m] and yaw [rad] from the start of the robot, (3,).
    """
    return np.array([joints[name] for name in base_of(robot).joint_names])


def in_range(field_names: Sequence[str], robot: Robot, goal: Array) -> Outcome:
    """Refuse a goal beyond the limits of the base's joints; a navigation server counts no full turns.

    Args:
        field_names: Fields of the goal that give x, y and yaw.
        robot: Robot with a base.
        goal: x, y [m] and yaw [rad], (3,).

    Returns:
        OK, or the fault.
    """
    base = base_of(robot)
    for field_name, name, value in zip(field_names, base.joint_names, goal.tolist(), strict=True):
        joint = robot.joints[name]
        if robot.navigation is not None and name == base.joint_names[2]:
            continue
        if not joint.lower <= value <= joint.upper:
            text = f"{field_name} would bring {name} to {value:.3f}; keep it within {joint.lower:g} to {joint.upper:g}"
            return checks.fault(Code.BAD_NUMBER, field_name, text)
    return Outcome(Code.OK)


def drive_along(points: Sequence[Array], params: BaseParams, context: Context) -> Sequence[Command]:
    """Make the commands that drive from one position to the next; nav2 goes to the last on a way of its own.

    Args:
        points: Positions to drive to, in order: x, y [m] and yaw [rad], (3,) each.
        params: Parameters of the skill.
        context: Context of the run.

    Returns:
        One command for each position.

    Raises:
        StepFailed: The base has no controller, another arm moves, or an obstacle is in the way of a part of the
            robot or of a held object.
    """
    world = ready_world(context)
    ignored = ignored_objects(params.ignore_substring, world)
    if context.navigator is not None:
        return navigation_to(points[-1], NAVIGATION_S, ignored, context, world)
    ends = (base_q(context.robot, world.joints.position), *points)
    steering = steering_of(context.robot)
    path = np.concatenate([positions_on_way(steering, *part) for part in pairwise(ends)])
    verdict = swept(context, world, root_pose(context, world), path, ignored)
    if verdict.code is not Code.OK:
        hint = "; clear it, or go around" if verdict.blocking is not None else ""
        text = f"{verdict.message}{hint}"
        raise StepFailed(Outcome(Code.PATH_BLOCKED, text, "select", blocking=verdict.blocking))
    return tuple(Command("drive", DriveBase(point, ignored)) for point in points)


def ready_world(context: Context) -> World:
    """Return a snapshot in which the base may begin to drive.

    Args:
        context: Context of the run.

    Raises:
        StepFailed: Nothing drives the base, another arm moves, or a speed that must be known is not measured.
    """
    world, robot, base = context.world.snapshot(), context.robot, base_of(context.robot)
    if context.base is None and context.navigator is None:
        text = f"the base controller {base.controller!r} is not available; start it"
        raise StepFailed(Outcome(Code.CONTROLLER_REFUSED, text, "select"))
    mine = {*context.arm_spec.joint_names, *base.joint_names}
    others = [name for arm in robot.arms.values() for name in arm.joint_names if name not in mine]
    speeds = world.joints.velocity
    # The way that a server's base needs to stop is judged by its speed.
    if not (known := speeds_known((*others, *(base.joint_names if context.navigator else ())), world)).ok:
        raise StepFailed(replace(known, stage="select"))
    if busy := [name for name in others if abs(speeds[name]) > OTHER_ARM_REST]:
        text = f"{busy[0]!r} of another arm moves; drive when all arms are at rest"
        raise StepFailed(Outcome(Code.BUSY, text, "select"))
    return world


def speeds_known(names: Iterable[str], world: World) -> Outcome:
    """Refuse a world in which speeds are not measured: unknown is not at rest.

    Args:
        names: Joints.
        world: Snapshot with the measured joints.

    Returns:
        OK, or ROBOT_LOST with the joints.
    """
    missing = [name for name in names if name not in world.joints.velocity]
    if not missing:
        return OK
    text = f"joint_states has no velocity of {missing}, so it is not known if they are at rest; publish velocities"
    return Outcome(Code.ROBOT_LOST, text)


def navigation_to(
    goal: Array, timeout_s: float, ignored: frozenset[str], context: Context, world: World
) -> Sequence[Command]:
    """Make the one command of a drive by the navigation server; the way there is the server's.

    Args:
        goal: x, y [m] and yaw [rad], (3,).
        timeout_s: The longest time, s.
        ignored: Objects that are no obstacles.
        context: Context of the run, with a navigation server.
        world: Snapshot of the world.

    Returns:
        The command.

    Raises:
        StepFailed: A part of the robot, or a held object, has no room at the goal.
    """
    start = base_q(context.robot, world.joints.position)
    verdict = swept(context, world, root_pose(context, world), np.stack([start, goal]), ignored)
    if verdict.code is not Code.OK:
        pair, text = verdict.blocking, verdict.message
        if pair is not None:
            text = f"{pair.a} would come to {pair.b} at the goal; clear it, or give another goal"
        raise StepFailed(Outcome(Code.GOAL_IN_COLLISION, text, "select", blocking=pair))
    return (Command("navigate", NavigateBase(goal, timeout_s, ignored)),)


def root_pose(context: Context, world: World) -> Pose:
    """Return the pose of the robot's root link, which does not move.

    The base must be at rest, or the two measurements of it do not fit.

    Args:
        context: Context of the run.
        world: Snapshot with the measured joints.

    Returns:
        world_T_root.
    """
    poses = link_poses(context.robot, world.joints.position)
    return context.world.world_T_base() @ poses[context.arm_spec.base_link].inverse()


def clearance(
    context: Context,
    world: World,
    root: Pose,
    ignored: frozenset[str],
    here: Array | None = None,
    clearance_m: float = CLEARANCE_M,
) -> BaseClearance:
    """Return what judges positions of the base, with all that moves with the robot.

    Args:
        context: Context of the run, with the objects that the arms hold; those that the planner's service has attached
            move with the robot, too.
        world: Snapshot of the world.
        root: world_T_root.
        ignored: Objects that are no obstacles.
        here: Position of the base at which bodies may touch, (3,), m and rad; None: the measured one.
        clearance_m: The free space to all obstacles, m.

    Raises:
        StepFailed: TRAJECTORY_REFUSED, an attached object has no geometry.
    """
    attached = {name: Attachment(name, *there) for name, there in world.planner_attached.items()}
    moved = {**attached, **context.held_by_others(), **context.held}
    if missing := sorted(name for name in attached if geometry_of(world, name) is None):
        text = f"{missing[0]!r} is attached at the planner and has no known shape; detach it, or publish its shape"
        raise StepFailed(Outcome(Code.TRAJECTORY_REFUSED, text, "select"))
    return BaseClearance(context.robot, world, root, ignored, moved, here, clearance_m)


def swept(context: Context, world: World, root: Pose, path: Array, ignored: frozenset[str]) -> Verdict:
    """Check whether the robot keeps clear of all obstacles while its base moves along a path.

    Args:
        context: See ``clearance``.
        world: Snapshot of the world.
        root: world_T_root.
        path: Positions of the base, (n, 3), m and rad.
        ignored: Objects that are no obstacles.

    Returns:
        OK, or TRAJECTORY_REFUSED with the first pair of bodies, or for an attached object without geometry.
    """
    try:
        touch = clearance(context, world, root, ignored, path[0]).first_touch(path)
    except StepFailed as failure:
        return Verdict(failure.outcome.code, failure.outcome.message)
    if touch is None:
        return Verdict(Code.OK)
    text = f"{touch.pair.a} would come to {touch.pair.b} after {touch.share:.0%} of the way"
    return Verdict(Code.TRAJECTORY_REFUSED, text, touch.pair)


def judged(goal: Array, params: BaseParams, after: World, context: Context) -> Outcome:
    """Check whether the measured base is at its goal; a navigation server counts no full turns.

    Args:
        goal: x, y [m] and yaw [rad], (3,).
        params: Parameters with the tolerances.
        after: World after the motion.
        context: Context of the run.

    Returns:
        OK or NOT_REACHED, with both errors.
    """
    off = base_q(context.robot, after.joints.position) - goal
    is_navigated = context.navigator is not None
    gap, angle = float(np.hypot(off[0], off[1])), float(off[2])
    turn = abs(math.remainder(angle, 2.0 * math.pi) if is_navigated else angle)
    good = gap <= params.tolerance_m and turn <= params.tolerance_rad
    text = f"the base is {gap * 1e3:.1f} mm and {turn:.3f} rad from its goal"
    if not good and is_navigated:
        text += "; allow more by tolerance_m and tolerance_rad, or less in the server's goal checker"
    code = Code.OK if good else Code.NOT_REACHED
    return Outcome(code, text, position_error_m=gap, angle_error_rad=turn)
