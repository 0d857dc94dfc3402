"""The action ``run_skill``: any registered skill by its name, with its parameters as YAML, admitted as all others."""

from __future__ import annotations

from typing import Any

from handiwork_msgs.action import RunSkill

from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml
from handiwork_core.contracts.skill import Skill
from handiwork_core.intake.limits import GOAL_YAML
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.actions.skill_binding import GoalRejected, SkillBinding
from skill_server.execution.run import ExecutionResult
from skill_server.params.registry import Catalog, UnknownSkill
from skill_server.params.validation import judged_parameters

from .admission import Body, Gate
from .goal_decoding import decode_arm

ACTION = "run_skill"


def run_skill_binding(gate: Gate, catalog: Catalog) -> SkillBinding[ExecutionResult]:
    """Return the binding of the action ``run_skill``.

    Args:
        gate: Admission of goals.
        catalog: Known skills.

    Returns:
        The binding for a ``SkillActionServer``.
    """

    def admit(goal: Any) -> Body:
        world = gate.world()
        skill = found(catalog, goal.skill)
        arm = decode_arm(gate.robot, goal.arm)
        try:
            source = f"parameters of {skill.name}"
            data = mapping_from_yaml(goal.parameters, source, GOAL_YAML)
            params = judged_parameters(
                skill, data, goal.arm, source, lambda made: gate.verdict(skill, made, arm, world)
            )
        except ConfigError as error:
            raise GoalRejected(refusal(error)) from error
        return gate.body(skill, params, arm, world, plan_only=goal.plan_only)

    def label(goal: Any) -> str:
        return found(catalog, goal.skill).name

    return gate.binding(ACTION, RunSkill, admit, label)


def found(catalog: Catalog, name: str) -> Skill[Any]:
    """Return the skill of a name.

    Args:
        catalog: Known skills.
        name: Name or alias.

    Returns:
        The skill.

    Raises:
        GoalRejected: No skill has this name.
    """
    try:
        return catalog.find(name)
    except UnknownSkill as error:
        raise GoalRejected(error.outcome) from error


def refusal(error: ConfigError) -> Outcome:
    """Join all faults into one outcome, whose field is the key of the first.

    Args:
        error: Faults of the parameters.

    Returns:
        BAD_GOAL with the faults.
    """
    key = error.faults[0].split(":", 1)[0]
    is_key = bool(key) and " " not in key
    return Outcome(Code.BAD_GOAL, str(error), "check", key if is_key else "parameters")
