"""Navigate: bring the base to a pose in the world, by nav2 where robot.yaml names its action, else by its own drive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.driving.room import DrivingRoom
from skill_server.motions.base_motion import (
    NAVIGATION_S,
    BaseParams,
    base_q,
    check,
    drive_along,
    in_range,
    judged,
    navigation_to,
    ready_world,
    root_pose,
    swept,
)
from skill_server.motions.base_steering import positions_on_way, steering_of
from skill_server.params import checks
from skill_server.state.frame_lookup import WORLD, forget_frames, frame_used
from skill_server.state.scene_query import ignored_objects

FARTHEST_M = 1000.0
LEVEL = 0.5
"""The least horizontal part of a frame's x axis that still shows a heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigateParams(BaseParams):
    """Parameters of ``navigate``, beyond those of ``BaseParams``, whose tolerances are wider here: nav2's own.

    Attributes:
        x: Position of the base along x of ``frame``, m.
        y: Position along y of ``frame``, m.
        yaw: Heading about z of ``frame``, rad.
        frame: ``world``, an object, a link of the robot, or a frame of tf, such as ``map``; ``base`` is the arm's base.
        timeout_s: The longest drive by nav2, s; the own drive takes the time of its motions.
        tolerance_m: Largest distance of the base from its goal at the end, m.
        tolerance_rad: Largest angle from its goal at the end, rad.
    """

    x: float
    y: float
    yaw: float = 0.0
    frame: str = WORLD
    timeout_s: float = NAVIGATION_S
    tolerance_m: float = 0.25
    tolerance_rad: float = 0.25


class Navigate(Skill[NavigateParams]):
    """Drive to a pose."""

    name = "navigate"
    params_type = NavigateParams

    def is_feasible(self, params: NavigateParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                check(params, robot, world),
                checks.number("x", params.x, -FARTHEST_M, FARTHEST_M, "m"),
                checks.number("y", params.y, -FARTHEST_M, FARTHEST_M, "m"),
                checks.number("yaw", params.yaw, -2.0 * math.pi, 2.0 * math.pi, "rad"),
                checks.number("timeout_s", params.timeout_s, 1.0, 86400.0, "s"),
            )
        )

    def commands(self, params: NavigateParams, context: Context) -> Sequence[Command]:
        """Make the one goal of nav2, or the straight motions of the own drive."""
        world = ready_world(context)
        forget_frames(context)
        goal = _goal(params, context, world)
        if not (found := in_range(("x", "y", "yaw"), context.robot, goal)).ok:
            raise StepFailed(found)
        ignored = ignored_objects(params.ignore_substring, world)
        if context.navigator is not None:
            return navigation_to(goal, params.timeout_s, ignored, context, world)
        return drive_along(_way(goal, ignored, context, world), params, context)

    def is_success(self, params: NavigateParams, before: World, after: World, context: Context) -> Outcome:
        """Judge by the measured base."""
        return judged(_goal(params, context, after), params, after, context)


def _way(goal: Array, ignored: frozenset[str], context: Context, world: World) -> tuple[Array, ...]:
    """Return the ends of the straight parts of a way of the own drive."""
    here = base_q(context.robot, world.joints.position)
    way = DrivingRoom(context, here, ignored).path_to(goal, context.rng, context.token.is_set)
    context.token.check()
    if way:
        return way
    straight = positions_on_way(steering_of(context.robot), here, goal)
    verdict = swept(context, world, root_pose(context, world), straight, ignored)
    text = f"{verdict.message}, and no way around was found; clear it, or drive by several goals"
    raise StepFailed(Outcome(Code.PATH_BLOCKED, text, "select", blocking=verdict.blocking))


def _goal(params: NavigateParams, context: Context, world: World) -> Array:
    """Return the position of the base's joints at the goal, with the shorter turn from where it is, (3,)."""
    place = frame_used(params.frame, "frame", context, world)
    rotation = Rotation.from_rpy(0.0, 0.0, params.yaw)
    root_T_goal = root_pose(context, world).inverse() @ place @ Pose.of((params.x, params.y, 0.0), rotation)
    ahead = root_T_goal.matrix()[:3, 0]
    if math.hypot(ahead[0], ahead[1]) < LEVEL:
        text = (
            f"frame {params.frame!r} is tilted so far that its x axis shows no heading; name an upright frame"
        )
        raise StepFailed(Outcome(Code.BAD_GOAL, text, "select", "frame"))
    here = float(base_q(context.robot, world.joints.position)[2])
    turn = math.remainder(math.atan2(ahead[1], ahead[0]) - here, 2.0 * math.pi)
    return np.array([*(root_T_goal.translation_m[:2]), here + turn])
