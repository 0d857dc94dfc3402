"""The goals of skills as messages, from what a program names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from handiwork_msgs.action import ExecutePlan, Pick, RunSkill

from handiwork_ros.actions.skill_report import SkillPreview


def skill_goal(
    skill: str,
    parameters: Mapping[str, Any] | None = None,
    arm: str = "",
    when_busy: str = "",
    time_allowance_s: float = 0.0,
    plan_only: bool = False,
) -> RunSkill.Goal:
    """Make the goal of ``run_skill`` for any skill.

    Args:
        skill: Name of the skill.
        parameters: Parameters of the skill by name, sent as a YAML mapping; None: its defaults.
        arm: Name of the arm; empty: the robot's only arm.
        when_busy: ``reject``, ``queue`` or ``preempt``; empty: the server's policy.
        time_allowance_s: Time after which the server ends the goal, s in the time of the robot's world; 0: never.
        plan_only: True: only plan.

    Returns:
        The goal message.
    """
    return RunSkill.Goal(
        skill=skill,
        parameters=_yaml(parameters),
        arm=arm,
        when_busy=when_busy,
        time_allowance=float(time_allowance_s),
        plan_only=plan_only,
    )


def plan_goal(
    plan: SkillPreview | str, when_busy: str = "", time_allowance_s: float = 0.0
) -> ExecutePlan.Goal:
    """Make the goal of ``execute_plan``.

    Args:
        plan: The plan of a report, or its id.
        when_busy: ``reject``, ``queue`` or ``preempt``; empty: the server's policy.
        time_allowance_s: Time after which the server ends the goal, s in the time of the robot's world; 0: never.

    Returns:
        The goal message.
    """
    plan_id = plan if isinstance(plan, str) else plan.plan_id
    return ExecutePlan.Goal(plan_id=plan_id, when_busy=when_busy, time_allowance=float(time_allowance_s))


def pick_goal(
    object_name: str, arm: str = "", next_place: Mapping[str, Any] | None = None, plan_only: bool = False
) -> Pick.Goal:
    """Make the goal of ``pick``.

    Args:
        object_name: Name of the object.
        arm: Name of the arm; empty: the robot's only arm.
        next_place: Parameters of the place that follows; None: any grasp.
        plan_only: True: only plan.

    Returns:
        The goal message.
    """
    return Pick.Goal(object=object_name, arm=arm, next_place=_yaml(next_place), plan_only=plan_only)


def _yaml(parameters: Mapping[str, Any] | None) -> str:
    if not parameters:
        return ""
    return str(yaml.dump(dict(parameters), Dumper=_WithoutAliases, default_flow_style=True, sort_keys=False))


class _WithoutAliases(yaml.SafeDumper):
    """Writes a list that occurs twice, such as an orientation, twice: servers take no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """See ``yaml.representer.BaseRepresenter``."""
        return True
