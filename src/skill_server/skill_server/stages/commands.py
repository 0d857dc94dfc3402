"""The commands that follow from stages."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.contracts.commands import Command, UpdatePoseCostMetric, UpdateSpecific
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.stages import Stage
from handiwork_core.model.geometry import Pose
from skill_server.motions.arm_motions import hand_at, no_obstacles
from skill_server.params.protocol import RunParams


def stage_commands(stages: Sequence[Stage], params: RunParams, context: Context) -> tuple[Command, ...]:
    """Return the commands of a sequence of stages.

    Args:
        stages: The stages, in order; at least one. Those with a pose may have a configuration, as ``choose_stages``
            finds it; without one the planner looks for it when the motion begins.
        params: Parameters with the objects to ignore.
        context: Context of the run.

    Returns:
        The commands. What is held of the pose and what is no obstacle is set at the beginning, and where it changes.
    """
    always = no_obstacles(params.ignore_substring, context, context.world.snapshot())
    name, hold, ignored = stages[0].name, None, always | stages[0].ignored
    made = [Command(name, UpdatePoseCostMetric(hold)), Command(name, UpdateSpecific(ignored))]
    for stage in stages:
        if stage.hold_vec_weight != hold:
            hold = stage.hold_vec_weight
            made.append(Command(stage.name, UpdatePoseCostMetric(hold)))
        if always | stage.ignored != ignored:
            ignored = always | stage.ignored
            made.append(Command(stage.name, UpdateSpecific(ignored)))
        made += _commands_of(stage, UpdateSpecific(ignored), context)
    return tuple(made)


def _commands_of(stage: Stage, neutral: UpdateSpecific, context: Context) -> list[Command]:
    """Return the motion with the first function, and a command for each further one."""
    pose = _waypoint(stage, context)
    if pose is None and not stage.functions and stage.dwell_s <= 0.0:
        return []
    first, *others = stage.functions or (neutral,)
    touching = stage.touching | stage.leaving
    return [
        Command(
            stage.name,
            first,
            pose,
            stage.q,
            stage.motion,
            touching,
            stage.dwell_s,
            stage.speed,
            stage.planned,
        ),
        *(Command(stage.name, function, touching=touching, speed=stage.speed) for function in others),
    ]


def _waypoint(stage: Stage, context: Context) -> Pose | None:
    if stage.world_T_ee is not None or stage.q is None:
        return stage.world_T_ee
    return hand_at(context, stage.q)
