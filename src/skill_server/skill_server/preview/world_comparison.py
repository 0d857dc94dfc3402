"""Finds what has changed between the world that a plan was made in and the present one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.thresholds import SAME_OBJECT_M, SAME_OBJECT_RAD, SAME_OPENING_M, SAME_START_RAD
from handiwork_core.model.world import Shape, World, WorldObject
from handiwork_core.robot.robot import ArmSpec
from skill_server.state.gripper_state import arm_q, width_m

from .skill_plan import WorldBefore

MOST_NAMED = 5
"""The number of differences that a message names."""


def compared(then: WorldBefore, now: WorldBefore, arm: ArmSpec) -> Outcome:
    """Compare two worlds as far as a plan depends on them.

    Args:
        then: What the plan was made in.
        now: What it would be executed in.
        arm: Arm of the plan.

    Returns:
        OK; else the code of the first difference, and a message with each thing, its difference, and what to do.
    """
    parts = (_of_hand(then, now), _of_robot(then, now, arm), _of_objects(then, now), _of_frames(then, now))
    found = [one for part in parts for one in part]
    if not found:
        return OK
    named = "; ".join(text for _, text in found[:MOST_NAMED])
    more = f"; and {len(found) - MOST_NAMED} more differences" if len(found) > MOST_NAMED else ""
    return Outcome(found[0][0], f"{named}{more} since the preview; preview again", "select", "plan_id")


def compared_between(then: WorldBefore, now: WorldBefore, arm: ArmSpec, targets: frozenset[str]) -> Outcome:
    """Compare the world before a step with the one that a plan has there.

    Only what the motions of the step were chosen for counts. Each motion is validated right before it is sent, so that
    obstacles may be anywhere, and the arm itself must be where it begins.

    Args:
        then: What the plan has before the step.
        now: What the steps before it have left.
        arm: Arm of the step.
        targets: The objects for which the step was chosen; those in the hand count as well.

    Returns:
        As ``compared`` does.
    """
    watched = targets | then.held
    unwatched = (frozenset(then.world.states) | frozenset(now.world.states)) - watched
    then, now = replace(then, unwatched=unwatched), replace(now, unwatched=unwatched)
    objects = (one for one in _of_objects(then, now) if one[1] != OBSTACLES)
    found = [*_of_hand(then, now), *_of_base(then, now, arm), *objects, *_of_frames(then, now)]
    if not found:
        return OK
    named = "; ".join(text for _, text in found[:MOST_NAMED])
    text = f"after the steps before, {named} against the preview; preview again from here"
    return Outcome(found[0][0], text, "select", "plan_id")


Difference = tuple[Code, str]
OBSTACLES = "the planner's own obstacles changed"


def _of_hand(then: WorldBefore, now: WorldBefore) -> Iterator[Difference]:
    for name in sorted(then.held - now.held):
        yield Code.OBJECT_DROPPED, f"{name!r} left the hand"
    for name in sorted(now.held - then.held):
        yield Code.CONTRADICTION, f"{name!r} came into the hand"


def _of_robot(then: WorldBefore, now: WorldBefore, arm: ArmSpec) -> Iterator[Difference]:
    away = np.abs(arm_q(now.world, arm) - arm_q(then.world, arm))
    if not bool((away <= SAME_START_RAD).all()):  # a joint that is not measured is nan
        j = int(np.nanargmax(away)) if np.isfinite(away).any() else 0
        yield Code.NOT_IN_PLACE, f"joint {arm.joint_names[j]!r} moved by {away[j]:.3f} rad"
    yield from _of_base(then, now, arm)
    if arm.gripper is not None:
        before_m, now_m = width_m(then.world, arm.gripper), width_m(now.world, arm.gripper)
        unknown = np.isnan([before_m, now_m])
        if not unknown.all() and not abs(now_m - before_m) <= SAME_OPENING_M:  # nan is within no distance
            yield Code.NOT_IN_PLACE, f"the opening of {arm.gripper.name!r} {_went(before_m, now_m)}"


def _of_base(then: WorldBefore, now: WorldBefore, arm: ArmSpec) -> Iterator[Difference]:
    if moved := _moved(then.world_T_base, now.world_T_base):
        yield Code.NOT_IN_PLACE, f"the base of {arm.name!r} {moved}"


def _of_objects(then: WorldBefore, now: WorldBefore) -> Iterator[Difference]:
    unwatched = then.unwatched | now.unwatched
    before, present = (_watched(one.world, unwatched) for one in (then, now))
    for name in sorted(before.keys() - present.keys()):
        yield Code.OBJECT_MOVED, f"{name!r} went from the world"
    for name in sorted(present.keys() - before.keys()):
        yield Code.OBJECT_MOVED, f"{name!r} came into the world"
    for name in sorted(before.keys() & present.keys()):
        if moved := _moved(before[name], present[name]):
            yield Code.OBJECT_MOVED, f"{name!r} {moved}"
        if not _same_body(then.world.objects[name], now.world.objects[name]):
            yield Code.OBJECT_MOVED, f"{name!r} changed its shape"
    if _planners(then.world) != _planners(now.world) or not _same_obstacles(then.world, now.world):
        yield Code.OBJECT_MOVED, OBSTACLES


def _of_frames(then: WorldBefore, now: WorldBefore) -> Iterator[Difference]:
    for before, present in ((then.frames, now.frames), (then.pose_frames, now.pose_frames)):
        for name in sorted(before.keys() & present.keys()):
            if moved := _moved(before[name], present[name]):
                yield Code.OBJECT_MOVED, f"frame {name!r} {moved}"


def _watched(world: World, unwatched: frozenset[str]) -> dict[str, Pose]:
    names = world.states.keys() & world.objects.keys() - unwatched
    return {name: world.states[name].world_T_object for name in names}


def _moved(before: Pose, now: Pose) -> str:
    gap_m, turn_rad = before.distance_to(now)
    if gap_m > SAME_OBJECT_M:
        return f"moved by {gap_m * 1e3:.0f} mm"
    return f"turned by {np.degrees(turn_rad):.1f} deg" if turn_rad > SAME_OBJECT_RAD else ""


def _went(before_m: float, now_m: float) -> str:
    if np.isnan(now_m):
        return "is not measured any more"
    came = "was not measured; it is" if np.isnan(before_m) else f"went from {before_m * 1e3:.0f} to"
    return f"{came} {now_m * 1e3:.0f} mm"


def _same_obstacles(a: World, b: World) -> bool:
    """Compare the bodies of the planner's obstacles by name; a planner that began again counts from 1 again."""
    shared = a.planner_objects.keys() & b.planner_objects.keys()
    return all(_same_body(a.planner_objects[name], b.planner_objects[name]) for name in shared)


def _same_body(a: WorldObject, b: WorldObject) -> bool:
    return a is b or (len(a.shapes) == len(b.shapes) and all(map(_same_shape, a.shapes, b.shapes)))


def _same_shape(a: Shape, b: Shape) -> bool:
    same = a.kind is b.kind and np.array_equal(a.size, b.size)
    return (
        same
        and not _moved(a.object_T_shape, b.object_T_shape)
        and _same_rows(a.vertices, b.vertices)
        and _same_rows(a.triangles, b.triangles)
    )


def _same_rows(a: object, b: object) -> bool:
    return a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b))


def _planners(world: World) -> tuple[int, frozenset[str]]:
    """Return what tells two scenes of the planner apart; a new planner, or one that is not known yet, has none."""
    return max(world.planner_version, 1), frozenset(world.planner_objects)
