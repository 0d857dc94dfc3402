"""The free motion to a candidate, planned during the choice, so that a candidate without a path is not begun."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.planning import (
    JointGoals,
    PlanResult,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import GripperSpec
from skill_server.params.protocol import RunParams
from skill_server.params.retry_policy import retry_policy_of

from .planner_requests import plan_motion


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
        return retry_policy_of(self.params).candidates

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
        return plan_motion(
            context,
            self.params,
            start_q,
            JointGoals(q[None, :]),
            scene,
            speed=self.speed,
            hold_vec_weight=self.hold_vec_weight,
        )


def backed_off(pose: Pose, gripper: GripperSpec, by_m: float, approach: Array | None = None) -> Pose:
    """Return the EE pose that a straight approach begins at, or a straight retreat ends at.

    Args:
        pose: The EE at the object.
        gripper: Names the axis of the EE that leads to the object.
        by_m: Distance between both poses [m].
        approach: Direction (3,) of the approach in the world, where it is not that of the axis.
    """
    along = pose.rotation.matrix()[:, gripper.ee_axis] if approach is None else approach
    return Pose.of(pose.translation_m - by_m * along, pose.rotation)
