"""The commands that follow from stages."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    DetachObject,
    Function,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose
from skill_server.motions.arm_motions import hand_at, no_obstacles
from skill_server.params.protocol import RunParams

OF_THE_HAND = (OpenGripper, CloseGripper, AttachObject, DetachObject)


def stage_commands(stages: Sequence[SkillStage], params: RunParams, context: Context) -> tuple[Command, ...]:
    """Return the commands of a sequence of stages.

    Args:
        stages: The stages, in order; at least one. Those with a pose may have a configuration, as ``choose_stages``
            finds it; without one the planner looks for it when the motion begins.
        params: Parameters with the objects to ignore.
        context: Context of the run.

    Returns:
        The commands. What is held of the pose and what is no obstacle is set before the first motion, and where it
        changes.
    """
    always = no_obstacles(params.ignore_substring, context, context.world.snapshot())
    made, current = list[Command](), list[Function]()
    for stage in stages:
        neutral = UpdateSpecific(always | stage.ignored)
        if not _is_of_the_hand(stage):
            wanted: list[Function] = [UpdatePoseCostMetric(stage.hold_vec_weight), neutral]
            if not current:
                current = [UpdatePoseCostMetric(None), neutral]
                made += [Command(stage.name, function) for function in current]
            made += [Command(stage.name, function) for function in wanted if function not in current]
            current = wanted
        made += _commands_of(stage, neutral, context)
    return tuple(made)


def _is_of_the_hand(stage: SkillStage) -> bool:
    """Return True when a stage moves nothing but the fingers, so that neither hold nor obstacles matter to it."""
    is_still = stage.world_T_ee is None and stage.q is None and bool(stage.functions)
    return is_still and all(isinstance(function, OF_THE_HAND) for function in stage.functions)


def _commands_of(stage: SkillStage, neutral: UpdateSpecific, context: Context) -> list[Command]:
    """Return the motion with the first function, or one that does nothing, and a command for each further one."""
    first, *others = stage.functions or (neutral,)
    touching = stage.touching | stage.leaving
    return [
        Command(
            stage.name,
            first,
            _waypoint(stage, context),
            stage.q,
            stage.motion,
            touching,
            stage.dwell_s,
            stage.speed,
            stage.planned,
            path=stage.path,
            stop_force_n=stage.stop_force_n,
            tool_speed=stage.tool_speed,
        ),
        *(Command(stage.name, function, touching=touching, speed=stage.speed) for function in others),
    ]


def _waypoint(stage: SkillStage, context: Context) -> Pose | None:
    if stage.world_T_ee is not None or stage.q is None:
        return stage.world_T_ee
    return hand_at(context, stage.q)
