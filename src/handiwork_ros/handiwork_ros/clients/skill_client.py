"""Runs skills from any Python program: ``with SkillClient() as robot: robot.pick("cube")``."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeAlias

from handiwork_msgs.action import ExecutePlan, Pick, Place, RunSkill, RunTask
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile

from handiwork_core.contracts.skill import Progress
from handiwork_ros.actions.arm_motion import observe_motion
from handiwork_ros.actions.skill_report import (
    SkillPreview,
    SkillReport,
    Stage,
    goal_report_from_msg,
    progress_from_msg,
)
from handiwork_ros.actions.task_report import (
    TaskFeedback,
    TaskReport,
    task_feedback_from_msg,
    task_report_from_msg,
)
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.rclpy_support.background_node import BackgroundNode

from .goal_handle import SERVER, FeedbackCall, GoalHandle
from .goal_waits import GoalWaits
from .skill_goals import pick_goal, plan_goal, skill_goal

__all__ = ["SERVER", "GoalHandle", "SkillClient", "SkillReport", "Stage"]

SkillGoal: TypeAlias = "Pick.Goal | Place.Goal | RunSkill.Goal | ExecutePlan.Goal"
OnFeedback = Callable[[Progress], None]
OnTaskFeedback = Callable[[TaskFeedback], None]
FEEDBACK_KEPT = 100
"""The messages of feedback that are kept for a client that is held up: those of a long task in a second."""


class SkillClient:
    """Client of the skill server with its own node, executor and thread, so it also works in programs without ROS.

    Args:
        domain_id: ROS domain; None: that of the environment.
        node_name: Name of the client's node.
        namespace: Namespace of the stack, such as ``left``; None: ``HANDIWORK_NAMESPACE`` of the environment, or the
            root.
    """

    def __init__(
        self,
        *,
        domain_id: int | None = None,
        node_name: str = "handiwork_client",
        namespace: str | None = None,
    ) -> None:
        self._background = BackgroundNode(node_name, domain_id=domain_id, namespace=namespace)
        self.node = self._background.node
        self.signs = Heartbeats(self.node)
        self.signs.watch(SERVER)
        kinds = {
            "pick": Pick,
            "place": Place,
            "run_skill": RunSkill,
            "execute_plan": ExecutePlan,
            "run_task": RunTask,
        }
        self._actions = {
            kind.Goal: ActionClient(
                self.node, kind, name, feedback_sub_qos_profile=QoSProfile(depth=FEEDBACK_KEPT)
            )
            for name, kind in kinds.items()
        }
        self._waits = GoalWaits()
        self._background.start()

    def wait_ready(self, timeout_s: float = 30.0) -> bool:
        """Wait until the skill server is active and its actions are there.

        Args:
            timeout_s: Longest wait, s.

        Returns:
            False if time is up or the client was closed.
        """
        end_s = time.monotonic() + timeout_s
        with self._waits.entered():
            while time.monotonic() < end_s and not self._waits.closing.is_set():
                if self.signs.is_active(SERVER) and all(a.server_is_ready() for a in self._actions.values()):
                    return True
                self._waits.closing.wait(0.05)
        return False

    def send(self, goal: SkillGoal, on_feedback: OnFeedback | None = None) -> GoalHandle[SkillReport]:
        """Send a goal and return at once.

        Args:
            goal: Goal of ``pick``, ``place``, ``run_skill`` or ``execute_plan``.
            on_feedback: Called with each progress on the client's thread; must not wait.

        Returns:
            The handle of the goal.
        """
        action = self._actions[type(goal)]
        note = (
            None if on_feedback is None else lambda message: on_feedback(progress_from_msg(message.feedback))
        )
        return GoalHandle(
            self.signs,
            self._waits,
            lambda: FeedbackCall(self.node, action, goal, note),
            lambda status, message: goal_report_from_msg(status, message.result),
            SkillReport,
            lambda: observe_motion(self.node),
        )

    def send_task(
        self, goal: RunTask.Goal, on_feedback: OnTaskFeedback | None = None
    ) -> GoalHandle[TaskReport]:
        """Send a whole task and return at once.

        Args:
            goal: Goal of ``run_task``.
            on_feedback: Called with each feedback on the client's thread; must not wait.

        Returns:
            The handle of the goal.
        """
        action = self._actions[RunTask.Goal]
        note = None if on_feedback is None else lambda message: on_feedback(task_feedback_from_msg(message))
        return GoalHandle(
            self.signs,
            self._waits,
            lambda: FeedbackCall(self.node, action, goal, note),
            task_report_from_msg,
            TaskReport,
            lambda: observe_motion(self.node),
        )

    def run(
        self,
        skill: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        arm: str = "",
        when_busy: str = "",
        time_allowance_s: float = 0.0,
        plan_only: bool = False,
        on_feedback: OnFeedback | None = None,
        timeout_s: float = 120.0,
    ) -> SkillReport:
        """Run a skill by its name and wait for its end.

        Args:
            skill: Name of the skill.
            parameters: Parameters of the skill by name; None: its defaults.
            arm: Name of the arm; empty: the robot's only arm.
            when_busy: ``reject``, ``queue`` or ``preempt``; empty: the server's policy.
            time_allowance_s: Time after which the server ends the goal, s in the time of the robot's world; 0: never.
            plan_only: True: only plan; nothing moves, and the report has the plan.
            on_feedback: See ``send``.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        goal = skill_goal(skill, parameters, arm, when_busy, time_allowance_s, plan_only)
        return self.send(goal, on_feedback).result(timeout_s)

    def pick(
        self,
        object: str,
        *,
        arm: str = "",
        next_place: Mapping[str, Any] | None = None,
        plan_only: bool = False,
        on_feedback: OnFeedback | None = None,
        timeout_s: float = 120.0,
    ) -> SkillReport:
        """Grasp an object and lift it, with the defaults of ``Pick.action``.

        Args:
            object: Name of the object.
            arm: Name of the arm; empty: the robot's only arm.
            next_place: Parameters of the place that follows, which the grasp must be able to reach; None: any grasp.
            plan_only: True: only plan; nothing moves, and the report has the plan.
            on_feedback: See ``send``.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        goal = pick_goal(object, arm, next_place, plan_only)
        return self.send(goal, on_feedback).result(timeout_s)

    def place(
        self,
        object: str,
        container: str,
        *,
        arm: str = "",
        plan_only: bool = False,
        on_feedback: OnFeedback | None = None,
        timeout_s: float = 120.0,
    ) -> SkillReport:
        """Put the held object into a container, with the defaults of ``Place.action``.

        Args:
            object: Name of the object; empty: the object that is held.
            container: Name of the container.
            arm: Name of the arm; empty: the robot's only arm.
            plan_only: True: only plan; nothing moves, and the report has the plan.
            on_feedback: See ``send``.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; failures are outcomes in it.
        """
        goal = Place.Goal(object=object, container=container, arm=arm, plan_only=plan_only)
        return self.send(goal, on_feedback).result(timeout_s)

    def execute(
        self,
        plan: SkillPreview | str,
        *,
        when_busy: str = "",
        time_allowance_s: float = 0.0,
        on_feedback: OnFeedback | None = None,
        timeout_s: float = 120.0,
    ) -> SkillReport:
        """Execute a plan as it was previewed, and wait for its end.

        Args:
            plan: The plan of a report, or its id.
            when_busy: ``reject``, ``queue`` or ``preempt``; empty: the server's policy.
            time_allowance_s: See ``run``.
            on_feedback: See ``send``.
            timeout_s: Time after which the goal is cancelled, s.

        Returns:
            The report of the goal; an outcome that names each difference where the world is not the same any more.
        """
        goal = plan_goal(plan, when_busy, time_allowance_s)
        return self.send(goal, on_feedback).result(timeout_s)

    def run_task(
        self,
        task: str,
        *,
        source: str = "",
        resume_from: str = "",
        seed: int | None = None,
        check_only: bool = False,
        plan_only: bool = False,
        time_allowance_s: float = 0.0,
        on_feedback: OnTaskFeedback | None = None,
        timeout_s: float = 3600.0,
    ) -> TaskReport:
        """Run the text of a task file and wait for its end.

        Args:
            task: Text of the task file.
            source: Name of the file in messages.
            resume_from: Step ``<group>.<step>``, counted from 1, to begin with; empty: the first. For each arm of its
                own: ``<arm>=<group>.<step>.<skill>``, with commas between them.
            seed: Replaces the seed of the file; None: the file's.
            check_only: Only check the task; nothing moves.
            plan_only: Only plan the task, as far as its way is known before it runs; nothing moves, and the report has
                the plan, and in ``resume_from`` where the task goes on behind it.
            time_allowance_s: See ``run``.
            on_feedback: See ``send_task``.
            timeout_s: Time after which the task is cancelled, s.

        Returns:
            The report of the task; failures are outcomes in it.
        """
        goal = RunTask.Goal(task=task, source=source, resume_from=resume_from, check_only=check_only)
        goal.plan_only = plan_only
        goal.use_seed, goal.seed, goal.time_allowance = seed is not None, seed or 0, float(time_allowance_s)
        return self.send_task(goal, on_feedback).result(timeout_s)

    def close(self) -> None:
        """End the thread and leave the ROS graph; waits for goals end, and goals that run are not cancelled."""
        if self._waits.closing.is_set():
            return
        self._waits.close()
        self._background.stop()
        self.signs.close()
        self._background.destroy()

    def __enter__(self) -> SkillClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
