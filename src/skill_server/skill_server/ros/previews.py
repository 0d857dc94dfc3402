"""Goals that only plan, and the execution of their plans: ``plan_only`` and the action ``execute_plan``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from skill_server.preview.rehearsed_run import RehearsedRun
from skill_server.preview.skill_plan import SkillPlan
from skill_server.preview.surroundings import Surroundings
from skill_server.task.model import Task
from skill_server.task.preview import Movable, preview_task
from skill_server.task.run import TaskResult
from skill_server.task.task_paths import TaskPath

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
        further: Sequence[str] = (),
    ) -> ArmRequest[ExecutionResult]:
        """Return the request that previews a skill.

        Args:
            skill: The skill.
            params: Its checked parameters.
            arm: Name of the arm.
            pose_frames: world_T_frame of each frame in which the goal gives poses.
            further: Names of the further arms that the skill needs.

        Raises:
            GoalRejected: BUSY: an arm has a goal, so that it would not begin where it is now.
        """
        around = replace(self._around((arm, *further)), pose_frames=pose_frames)
        others = [self.runs[name] for name in further]

        def body(token: Token, report: Report) -> ExecutionResult:
            result = self.runs[arm].preview(skill, params, token, report, around, others)
            return result if result.plan is None else replace(result, plan=self._kept(result.plan))

        return ArmRequest((PREVIEWS,), body)

    def task(
        self, task: Task, begin: Mapping[str, TaskPath], arms: Sequence[str], movable: Movable
    ) -> ArmRequest[TaskResult]:
        """Return the request that previews a task.

        Args:
            task: The task.
            begin: Place of each arm to begin at.
            arms: Names of the arms that have a part.
            movable: Returns the names of the movable objects of the world.

        Raises:
            GoalRejected: BUSY: an arm has a goal, so that it would not begin where it is now.
        """
        first, around = self.runs[arms[0]], self._around(arms)

        def body(token: Token, report: Report) -> TaskResult:
            robot = task.robot or first.robot
            contexts = {name: self.runs[name].rehearsable(robot, task.seed, token, report) for name in arms}
            run = RehearsedRun(contexts, first.among_others(around))
            result = preview_task(task, begin, run, movable, token, report)
            return result if result.plan is None else replace(result, plan=self._kept(result.plan))

        return ArmRequest((PREVIEWS,), body)

    def _around(self, arms: Sequence[str]) -> Surroundings:
        """Return the server around a preview on arms, none of which may have a goal."""

        def at_rest() -> Outcome:
            return next((found for found in map(self._at_rest, arms) if not found.ok), OK)

        if not (found := at_rest()).ok:
            raise GoalRejected(found)
        return Surroundings(
            at_rest=at_rest,
            shares_planner=lambda: any(lease.is_busy for lease in self.leases.values()),
        )

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
        runs, others = self.runs[plan.arm], [self.runs[name] for name in plan.further]
        return ArmRequest(
            (plan.arm, *plan.further), lambda token, report: runs.execute(plan, token, report, others)
        )

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

    def _kept(self, plan: SkillPlan) -> SkillPlan:
        kept = self.store.keep(plan)
        self.show(kept)
        return kept
