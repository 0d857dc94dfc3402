"""Chooses among sequences of stages by verdicts of the planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from handiwork_core.contracts.commands import Motion
from handiwork_core.contracts.planning import Candidate
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.nearest_pose import FULL
from skill_server.motions.approach_planning import ApproachPlanning
from skill_server.motions.candidate_selection import Choice, Ways, choose
from skill_server.params.protocol import RunParams

from .reduced_arms import within_freedom
from .scenes import stage_scenes

NONE_REMOVED: Mapping[str, int] = {}
StagesTest = Callable[[tuple[SkillStage, ...]], Outcome]
"""A further condition for feasible stages with their configurations; see ``candidate_selection.Test``."""


def choose_stages(
    sequences: Sequence[Sequence[SkillStage]],
    params: RunParams,
    context: Context,
    *,
    plans_approach: bool = False,
    removed: Mapping[str, int] = NONE_REMOVED,
    test: StagesTest | None = None,
) -> tuple[SkillStage, ...]:
    """Choose the best sequence whose waypoints the planner finds feasible.

    The first pose of a sequence counts as reached freely, each later one along a straight line from its predecessor.
    Motions that are free later in a skill therefore need a choice of their own. An arm with fewer than six joints gets
    the nearest orientations that it can have.

    Args:
        sequences: The alternatives, best first. They have the same stages, and differ in poses and costs alone: the
            scenes are those of the first one.
        params: Parameters of the goal.
        context: Context of the run.
        plans_approach: True: the free motion to the first pose is planned as well, and kept.
        removed: Number of alternatives that were removed before the planner judged, by cause, for the message.
        test: Further condition for a sequence that the planner finds feasible; None for none.

    Returns:
        The stages of the chosen sequence, with a configuration for each pose.

    Raises:
        StepFailed: NO_CANDIDATE with the count of every cause and the names of the waypoints, or the planner's own
            failure.
        Stopped: The token was set.
        ValueError: The alternatives differ in their stages.
    """
    if not sequences:
        raise StepFailed(Outcome(Code.NO_CANDIDATE, "there is no candidate to choose from", "select"))
    first = sequences[0]
    names = [stage.name for stage in first]
    if any([stage.name for stage in sequence] != names for sequence in sequences):
        raise ValueError(f"alternatives must have the same stages; the first has {names}")
    if len(context.arm_spec.joint_names) < FULL:
        sequences = within_freedom(sequences, context.robot, context.arm_spec, context.world.world_T_base())
        first = sequences[0]
    posed = [stage for stage in first if stage.world_T_ee is not None]
    if not posed:
        return tuple(first)
    candidates = [
        Candidate(tuple(s.world_T_ee for s in one if s.world_T_ee is not None)) for one in sequences
    ]
    scores = [sum(stage.cost for stage in sequence) for sequence in sequences]
    scenes = stage_scenes(first, params, context, context.world.snapshot())
    start = posed[0]
    is_planned = plans_approach and start.motion is Motion.FREE
    way = ApproachPlanning(params, start.speed, start.hold_vec_weight) if is_planned else None
    ways = Ways(tuple(stage.label for stage in posed), removed)

    def tested(i: int, q: Array) -> Outcome:
        return OK if test is None else test(_filled_in(sequences[i], Choice(candidates[i], q)))

    choice = choose(candidates, scores, scenes, params.allowed_planning_time, context, way, ways, tested)
    index = next(i for i, candidate in enumerate(candidates) if candidate is choice.candidate)
    return _filled_in(sequences[index], choice)


def _filled_in(sequence: Sequence[SkillStage], choice: Choice) -> tuple[SkillStage, ...]:
    """Return the stages with the configurations of a choice, and the planned motion at the first pose."""
    made, found, planned = list[SkillStage](), iter(choice.q), choice.planned
    for stage in sequence:
        if stage.world_T_ee is None:
            made.append(stage)
            continue
        made.append(replace(stage, q=next(found), planned=planned))
        planned = None
    return tuple(made)
