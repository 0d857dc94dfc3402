"""The free motion to a candidate, planned while candidates are chosen, so that one without a way is not begun."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.planning import (
    JointGoals,
    PlanRequest,
    PlanResult,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array
from skill_server.params.protocol import RunParams
from skill_server.params.recovery import Recovery, policy_of


@dataclass(frozen=True, slots=True)
class ApproachPlanning:
    """How the arm would go there: ``speed`` and ``hold_vec_weight`` as those of the command."""

    params: RunParams
    speed: float
    hold_vec_weight: tuple[float, ...] | None = None

    @property
    def attempts(self) -> int:
        """Candidates whose way is planned before giving up."""
        policy, attempts = policy_of(self.params)
        return 1 if policy is Recovery.GIVE_UP else attempts

    def plan(self, q: Array, start_q: Array, scene: SceneQuery, context: Context) -> PlanResult:
        """Ask the planner; its time is added to the run's."""
        request = PlanRequest(
            arm=context.arm_spec.name,
            start_q=start_q,
            goal=JointGoals(q[None, :]),
            scene=scene,
            hold_vec_weight=self.hold_vec_weight,
            budget_s=self.params.allowed_planning_time,
            velocity_scaling=self.params.max_velocity_scaling_factor * self.speed,
            acceleration_scaling=self.params.max_acceleration_scaling_factor * self.speed,
            seed=context.seed,
        )
        context.token.check()
        result = context.planner.plan(request, should_stop=context.token.is_set)
        context.token.check()
        context.planning_time_s += result.planning_time_s
        return result
