"""The action ``execute_task_solution``, by which the MoveIt Task Constructor executes what it has planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome
from moveit_facade.messages.ros.solution_reading import SolutionPart, named_part, solution_parts
from moveit_facade.messages.ros.writing import success
from moveit_facade.robot.groups import Group
from moveit_facade.ros.execution import NEWER
from moveit_facade.ros.planning import MotionPlanning
from moveit_task_constructor_msgs.action import ExecuteTaskSolution

from .controlled_motion import ControlledMotion, check, motion_error
from .goal_frame import GoalFrame


class TaskSolutions:
    """Executes the sub-trajectories of solutions in order, and applies the change of the scene after each.

    Args:
        frame: Serves the action.
        planning: Keeps the scene.
        motion: Executes.
    """

    def __init__(self, frame: GoalFrame, planning: MotionPlanning, motion: ControlledMotion) -> None:
        self._planning, self._motion = planning, motion
        frame.serve(ExecuteTaskSolution, "execute_task_solution", self._execute)

    async def _execute(self, handle: Any, token: Token, result: Any) -> None:
        """Read all of the solution before anything moves; then move, change the scene, and tell the client."""
        planning = self._planning
        measured = planning.reader.measured().positions
        parts = solution_parts(handle.request.solution, planning.groups, planning.mimics, measured)
        self._check_effects(parts)
        claims = {one.group.name: self._motion.execution.count(one.group) for one in parts if one.group}
        for i, part in enumerate(parts):
            with named_part(i, len(parts)):
                check(token)
                if part.group is not None:
                    self._check_claim(part.group, claims)
                    await self._move(part.group, part.trajectory, token)
                if part.effect is not None:
                    await planning.keeper.apply_effect(part.effect)
            handle.publish_feedback(ExecuteTaskSolution.Feedback(sub_id=i, sub_no=len(parts)))
        result.error_code = success()

    def _check_effects(self, parts: Sequence[SolutionPart]) -> None:
        keeper = self._planning.keeper
        scene = keeper.scene
        for i, part in enumerate(parts):
            if part.effect is not None:
                with named_part(i, len(parts)):
                    scene = keeper.with_effect(scene, part.effect)

    def _check_claim(self, group: Group, claims: dict[str, int]) -> None:
        """Leave the controller to a goal that has come between two sub-trajectories."""
        if self._motion.execution.count(group) != claims[group.name]:
            raise motion_error(Outcome(Code.PREEMPTED, NEWER))
        claims[group.name] += 1

    async def _move(self, group: Group, trajectory: Any, token: Token) -> None:
        planning = self._planning
        query = planning.query(group.arm, planning.reader.measured(), planning.keeper.scene)
        outcome = await self._motion.follow(group, trajectory, query, token)
        if not outcome.ok:
            raise motion_error(outcome)
