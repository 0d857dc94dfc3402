"""Goals that only plan, and the execution of their plans: ``plan_only`` and the action ``execute_plan``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from handiwork_core.contracts.skill import Skill, Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_ros.actions.arm_lease import ArmLease
from handiwork_ros.actions.skill_binding import ArmRequest, GoalRejected, Report
from skill_server.execution.run import ExecutionResult
from skill_server.preview.plan_store import NoSuchPlan, PlanStore
from skill_server.preview.rehearsal import PreviewResult
from skill_server.preview.skill_plan import SkillPlan
from skill_server.preview.surroundings import Surroundings

from .arm_runner import ArmRunner

PREVIEWS = "previews"
"""The lease of all previews beside those of the arms: a preview neither waits for an arm nor keeps one."""


@dataclass(frozen=True)
class Previews:
    """The previews of one server.

    Attributes:
        runs: Runner of each arm.
        leases: Lease of each arm.
        show: Draws a plan.
        store: Keeps the plans.
    """

    runs: Mapping[str, ArmRunner]
    leases: Mapping[str, ArmLease]
    show: Callable[[SkillPlan], None]
    store: PlanStore = field(default_factory=PlanStore)

    def preview(
        self,
        skill: Skill[Any],
        params: Any,
        arm: str,
        pose_frames: Mapping[str, Pose] = MappingProxyType({}),
    ) -> ArmRequest[ExecutionResult]:
        """Return the request that previews a skill.

        Args:
            skill: The skill.
            params: Its checked parameters.
            arm: Name of the arm.
            pose_frames: world_T_frame of each frame in which the goal gives poses.

        Raises:
            GoalRejected: BUSY: the arm has a goal, so that it would not begin where it is now.
        """
        if not (at_rest := self._at_rest(arm)).ok:
            raise GoalRejected(at_rest)
        around = Surroundings(
            at_rest=lambda: self._at_rest(arm),
            shares_planner=lambda: any(lease.is_busy for lease in self.leases.values()),
            pose_frames=pose_frames,
        )

        def body(token: Token, report: Report) -> ExecutionResult:
            result = self.runs[arm].preview(skill, params, token, report, around)
            return result if result.plan is None else self._kept(result, result.plan)

        return ArmRequest((PREVIEWS,), body)

    def execution(self, plan_id: str) -> ArmRequest[ExecutionResult]:
        """Return the request that executes a plan.

        Args:
            plan_id: Key of the plan.

        Raises:
            GoalRejected: The plan is not known, or not kept any more.
        """
        try:
            plan = self.store.find(plan_id)
        except NoSuchPlan as error:
            raise GoalRejected(error.outcome) from error
        runs = self.runs[plan.arm]
        return ArmRequest((plan.arm,), lambda token, report: runs.execute(plan, token, report))

    def arm_of(self, plan_id: str) -> str:
        """Return the name of the arm of a plan; empty for a plan that is not known.

        Args:
            plan_id: Key of the plan.
        """
        try:
            return self.store.find(plan_id).arm
        except NoSuchPlan:
            return ""

    def _at_rest(self, arm: str) -> Outcome:
        lease = self.leases[arm]
        if not lease.is_busy:
            return OK
        busy = f"{arm} is busy with {lease.holder or 'another goal'!r}"
        text = f"{busy}; a preview begins where the arm is at rest: send it after that goal"
        return Outcome(Code.BUSY, text)

    def _kept(self, result: PreviewResult, plan: SkillPlan) -> PreviewResult:
        kept = self.store.keep(plan)
        self.show(kept)
        return replace(result, plan=kept)
