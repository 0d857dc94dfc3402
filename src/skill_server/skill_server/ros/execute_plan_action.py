"""The action ``execute_plan``: executes the plan of a goal with ``plan_only`` as it was previewed."""

from __future__ import annotations

from typing import Any

from handiwork_msgs.action import ExecutePlan

from handiwork_ros.actions.skill_binding import SkillBinding
from skill_server.execution.run import ExecutionResult

from .admission import Body, Gate

ACTION = "execute_plan"


def execute_plan_binding(gate: Gate) -> SkillBinding[ExecutionResult]:
    """Return the binding of the action ``execute_plan``.

    Args:
        gate: Admission of goals.

    Returns:
        The binding for a ``SkillActionServer``.
    """

    def admit(goal: Any) -> Body:
        gate.world()
        return gate.previews.execution(goal.plan_id)

    return gate.binding(
        ACTION,
        ExecutePlan,
        admit,
        lambda goal: f"{ACTION} {goal.plan_id}".strip(),
        lambda goal: gate.previews.arm_of(goal.plan_id),
    )
