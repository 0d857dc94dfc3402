"""Runs skills from asyncio: ``async with AsyncSkillClient() as robot: await robot.pick("cube")``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Any, TypeVar

from handiwork_msgs.action import Place, RunTask

from handiwork_ros.actions.skill_report import SkillPreview, SkillReport
from handiwork_ros.actions.task_report import TaskReport

from .goal_handle import GoalHandle
from .skill_client import OnFeedback, SkillClient, SkillGoal
from .skill_goals import pick_goal, plan_goal, skill_goal

R = TypeVar("R", bound=SkillReport | TaskReport)


class AsyncSkillClient:
    """``SkillClient`` for coroutines. A task that is cancelled cancels its goal, and ends when the arm is at rest.

    Args:
        domain_id: ROS domain; None: that of the environment.
        node_name: Name of the client's node.
        namespace: Namespace of the stack; see ``SkillClient``.
    """

    def __init__(
        self,
        *,
        domain_id: int | None = None,
        node_name: str = "handiwork_client",
        namespace: str | None = None,
    ) -> None:
        self.client = SkillClient(domain_id=domain_id, node_name=node_name, namespace=namespace)

    async def wait_ready(self, timeout_s: float = 30.0) -> bool:
        """Wait until the skill server is active and its actions are there.

        Args:
            timeout_s: Longest wait, s.

        Returns:
            False if time is up.
        """
        return await asyncio.to_thread(self.client.wait_ready, timeout_s)

    async def send(
        self, goal: SkillGoal, on_feedback: OnFeedback | None = None, timeout_s: float = 120.0
    ) -> SkillReport:
        """Send a goal and wait for its end.

        Args:
            goal: Goal of ``pick``, ``place``, ``run_skill`` or ``execute_plan``.
            on_feedback: See ``SkillClient.send``.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        return await ended(self.client.send(goal, on_feedback), timeout_s)

    async def run(
        self,
        skill: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        arm: str = "",
        when_busy: str = "",
        time_allowance_s: float = 0.0,
        plan_only: bool = False,
        timeout_s: float = 120.0,
    ) -> SkillReport:
        """Run a skill by its name, as ``SkillClient.run`` does.

        Args:
            skill: Name of the skill.
            parameters: Parameters of the skill by name; None: its defaults.
            arm: Name of the arm; empty: the robot's only arm.
            when_busy: ``reject``, ``queue`` or ``preempt``; empty: the server's policy.
            time_allowance_s: Time after which the server ends the goal, s in the time of the robot's world; 0: never.
            plan_only: True: only plan; nothing moves, and the report has the plan.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        goal = skill_goal(skill, parameters, arm, when_busy, time_allowance_s, plan_only)
        return await self.send(goal, timeout_s=timeout_s)

    async def pick(
        self,
        object: str,
        *,
        arm: str = "",
        next_place: Mapping[str, Any] | None = None,
        plan_only: bool = False,
        timeout_s: float = 120.0,
    ) -> SkillReport:
        """Grasp an object and lift it.

        Args:
            object: Name of the object.
            arm: Name of the arm; empty: the robot's only arm.
            next_place: Parameters of the place that follows, which the grasp must be able to reach; None: any grasp.
            plan_only: True: only plan; nothing moves, and the report has the plan.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        return await self.send(pick_goal(object, arm, next_place, plan_only), timeout_s=timeout_s)

    async def place(
        self,
        object: str,
        container: str,
        *,
        arm: str = "",
        plan_only: bool = False,
        timeout_s: float = 120.0,
    ) -> SkillReport:
        """Put the held object into a container.

        Args:
            object: Name of the object; empty: the object that is held.
            container: Name of the container.
            arm: Name of the arm; empty: the robot's only arm.
            plan_only: True: only plan; nothing moves, and the report has the plan.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        goal = Place.Goal(object=object, container=container, arm=arm, plan_only=plan_only)
        return await self.send(goal, timeout_s=timeout_s)

    async def execute(
        self, plan: SkillPreview | str, *, when_busy: str = "", timeout_s: float = 120.0
    ) -> SkillReport:
        """Execute a plan as it was previewed, as ``SkillClient.execute`` does.

        Args:
            plan: The plan of a report, or its id.
            when_busy: ``reject``, ``queue`` or ``preempt``; empty: the server's policy.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        return await self.send(plan_goal(plan, when_busy), timeout_s=timeout_s)

    async def run_task(
        self,
        task: str,
        *,
        source: str = "",
        resume_from: str = "",
        seed: int | None = None,
        plan_only: bool = False,
    ) -> TaskReport:
        """Run the text of a task file, as ``SkillClient.run_task`` does. After an hour the task is cancelled.

        Args:
            task: Text of the task file.
            source: Name of the file in messages.
            resume_from: Step ``<group>.<step>``, counted from 1, to begin with; empty: the first. For each arm of its
                own: ``<arm>=<group>.<step>.<skill>``, with commas between them.
            seed: Replaces the seed of the file; None: the file's.
            plan_only: See ``SkillClient.run_task``.

        Returns:
            The report of the task; failures are outcomes in it.
        """
        goal = RunTask.Goal(task=task, source=source, resume_from=resume_from, plan_only=plan_only)
        goal.use_seed, goal.seed = seed is not None, seed or 0
        return await ended(self.client.send_task(goal), 3600.0)

    async def __aenter__(self) -> AsyncSkillClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.client.close)


async def ended(run: GoalHandle[R], timeout_s: float) -> R:
    """Wait for the end of a goal without blocking the event loop.

    Args:
        run: The goal. It is cancelled if the task that waits is cancelled.
        timeout_s: Time after which the goal is cancelled, s.

    Returns:
        The report of the goal.

    Raises:
        asyncio.CancelledError: The task that waits was cancelled; raised once the goal has ended.
    """
    waiting = asyncio.ensure_future(asyncio.to_thread(run.result, timeout_s))
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        run.cancel()
        await asyncio.wait({waiting})
        raise
