"""The free motion to a candidate, planned during the choice, so that a candidate without a path is not begun."""

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
    """Planning of the free motion to a candidate.

    Attributes:
        params: Parameters with the planning time, the scaling factors and the policy after a failure.
        speed: Part of the allowed speed, as in the command.
        hold_vec_weight: Six weights of held components of the pose, as in the command; None for none.
    """

    params: RunParams
    speed: float
    hold_vec_weight: tuple[float, ...] | None = None

    @property
    def attempts(self) -> int:
        """The number of candidates whose path is planned before giving up."""
        policy, attempts = policy_of(self.params)
        return 1 if policy is Recovery.GIVE_UP else attempts

    def plan(self, q: Array, start_q: Array, scene: SceneQuery, context: Context) -> PlanResult:
        """Plan the free motion; its planning time is added to the run's.

        Args:
            q: Goal configuration, (dof,), rad or m.
            start_q: Start configuration, (dof,), rad or m.
            scene: Scene of the motion.
            context: Context of the run.

        Returns:
            The planner's answer.

        Raises:
            Stopped: The token was set.
        """
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
