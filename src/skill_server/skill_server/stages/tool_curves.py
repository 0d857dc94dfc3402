"""Stages of several legs of a tool: legs that are joined by blends are one stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handiwork_core.contracts.commands import Motion
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose
from skill_server.motions import arm_motions
from skill_server.params.protocol import RunParams
from skill_server.tool_paths.waypoints import Leg, travels

from .selection import choose_stages

JUDGED_EVERY = 4
"""The planner judges every so many poses of a curve when it chooses the configuration that the curve begins in."""


def curve_stages(
    legs: Sequence[Leg], tool: Pose, names: Sequence[str], params: RunParams, context: Context
) -> list[SkillStage]:
    """Return the stages of several legs.

    Args:
        legs: The legs, in order.
        tool: ee_T_tool.
        names: Name of each leg.
        params: Parameters of the skill.
        context: Context of the run.

    Returns:
        The stages. A free one has a configuration from which the curves behind it can be followed.

    Raises:
        StepFailed: Points of an arc do not make one, blends overlap, or a free motion's goal cannot be reached.
    """
    world = context.world.snapshot()
    leaving = arm_motions.touching_now(context, world)
    made = list[SkillStage]()
    begin = arm_motions.hand(context, arm_motions.world_begun(context, world))
    curve = travels(begin @ tool, legs)
    here = arm_motions.hand(context, world)
    if not curve[0].is_free and not arm_motions.arrived(begin, here, params.t_eps, params.o_eps).ok:
        # An earlier attempt has left the pose in which the curve begins.
        made.append(SkillStage("return", begin, leaving=leaving))
    for travel in curve:
        name = names[travel.last]
        if travel.first != travel.last:
            name = f"{names[travel.first]} to {name}"
        path = tuple(pose @ tool.inverse() for pose in travel.poses)
        if travel.is_free:
            made.append(SkillStage(name, path[-1], leaving=leaving))
        else:
            made.append(SkillStage(name, path[-1], Motion.PATH, leaving=leaving, path=path))
    for i, stage in enumerate(made):
        if stage.motion is Motion.FREE:
            chosen = choose_stages([_judged(made[i:])], params, context)[0]
            made[i] = replace(stage, q=chosen.q)
    return made


def _judged(stages: Sequence[SkillStage]) -> list[SkillStage]:
    """Return a free stage and the curves behind it as waypoints that the planner can judge."""
    free, *others = stages
    found = [free]
    for stage in others:
        if stage.motion is Motion.FREE:
            break
        poses = (*stage.path[JUDGED_EVERY - 1 : -1 : JUDGED_EVERY], stage.path[-1])
        found += [replace(stage, world_T_ee=pose, motion=Motion.STRAIGHT, path=()) for pose in poses]
    return found
