"""Where a carried object comes to rest, and the ways of the object there."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.placing.support import Surroundings
from skill_server.state.frame_lookup import frame_used

from .params import CarryParams

GAP_M = 0.001
"""An object is let go this high over what it is put on, m."""
STEP_M, STEP_RAD = 0.005, 0.02
"""Steps of the object between two samples of a way."""
LIFTS = (1.0, 0.5, 1.75)
"""Shares of ``lift`` that are tried, in order."""


def rest_pose(params: CarryParams, context: Context, world: World) -> tuple[Pose, str]:
    """Return the pose at which the object is to be let go, and what it is put on.

    Args:
        params: Parameters of the goal.
        context: Context of the run, for the frame.
        world: Snapshot with the object as it is turned now.

    Raises:
        StepFailed: The frame is not known, or nothing at the place carries the object.
    """
    name = params.object
    here = world.states[name].world_T_object
    x, y, _ = frame_used(params.frame, "frame", context, world).apply((*params.position, 0.0)).tolist()
    turn = turned_to(here.rotation, params.yaw)
    candidates = (params.on,) if params.on else tuple(world.objects)
    best, below = -math.inf, ""
    for other in candidates:
        if other == name or other not in world.states or not world.objects[other].shapes:
            continue
        if not params.on and not world.objects[other].is_static:
            continue
        found = Surroundings(world, world.objects[other], name, -math.inf).rest(
            world.objects[name], turn, np.array([x, y])
        )
        if found.is_over_container and found.is_carried and found.is_even and found.height_m > best:
            best, below = found.height_m, other
    if not below:
        what = f"{params.on!r}" if params.on else "nothing fixed and level"
        verb = "does not carry" if params.on else "carries"
        text = (
            f"{what} {verb} {name!r} at x {x:.3f}, y {y:.3f} m; move the position, or name what it is put on"
        )
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", "position"))
    return Pose.of((x, y, best + GAP_M), turn), below


def turned_to(now: Rotation, yaw_deg: float | None) -> Rotation:
    """Return an orientation turned about the vertical, so that its x axis has a direction.

    Args:
        now: Present orientation in the world.
        yaw_deg: The direction, deg; None: as it is.
    """
    if yaw_deg is None:
        return now
    matrix = now.matrix()
    present = math.atan2(matrix[1, 0], matrix[0, 0])
    return Rotation.from_axis_angle((0.0, 0.0, 1.0), math.radians(yaw_deg) - present) @ now


def ways(start: Pose, goal: Pose, lift_m: float) -> tuple[tuple[Pose, ...], ...]:
    """Return the ways on which an object is lifted, moved straight over its place, and let down.

    Args:
        start: Where it is.
        goal: Where it goes.
        lift_m: Height over the higher of both, m.

    Returns:
        For each height the poses between which it moves straight and turns evenly.
    """
    made = []
    for share in LIFTS:
        top = max(start.translation_m[2], goal.translation_m[2]) + share * lift_m
        up, over = (Pose.of((*pose.translation_m[:2], top), pose.rotation) for pose in (start, goal))
        made.append((start, up, over, goal))
    return tuple(made)


def leg(start: Pose, goal: Pose) -> Array:
    """Return the poses (n, 4, 4) of an object that moves straight and turns evenly.

    Args:
        start: First pose.
        goal: Last pose.
    """
    moved, turned = start.distance_to(goal)
    n = max(8, math.ceil(moved / STEP_M), math.ceil(turned / STEP_RAD)) + 1
    turn = start.rotation.inverse() @ goal.rotation
    sine = float(np.linalg.norm(turn.wxyz[1:]))
    axis = turn.wxyz[1:] / sine if sine > 1e-9 else np.array([0.0, 0.0, 1.0])
    angle = 2.0 * math.atan2(sine, float(turn.wxyz[0]))
    angle -= 2.0 * math.pi * (angle > math.pi)
    made = np.tile(np.eye(4), (n, 1, 1))
    for i, share in enumerate(np.linspace(0.0, 1.0, n)):
        made[i, :3, :3] = (start.rotation @ Rotation.from_axis_angle(axis, share * angle)).matrix()
        made[i, :3, 3] = start.translation_m + share * (goal.translation_m - start.translation_m)
    return made
