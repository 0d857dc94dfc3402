"""Observes every goal of the skill server, from any program, by the topics and services that an action consists of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatusArray
from action_msgs.srv import CancelGoal
from handiwork_msgs.action import ExecutePlan, Pick, Place, RunSkill, RunTask
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default
from unique_identifier_msgs.msg import UUID

from handiwork_ros.actions.skill_report import goal_report_from_msg
from handiwork_ros.actions.task_report import task_report_from_msg
from handiwork_ros.rclpy_support.qos import EVENTS
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_viz.view.model.goals import GoalBoard, GoalEnd, GoalState, StageView

ACTIONS = {
    "pick": Pick,
    "place": Place,
    "run_skill": RunSkill,
    "execute_plan": ExecutePlan,
    "run_task": RunTask,
}
AGAIN_S = 1.0
"""A goal that is not cancelled yet is asked to cancel again after this time, s."""


class GoalObserver:
    """Fills a board with the goals of all actions of the skill server, and cancels them by their ids.

    Args:
        node: Hosts the subscriptions and clients; another thread spins it.
        board: Receives the goals.
    """

    def __init__(self, node: Node, board: GoalBoard) -> None:
        self._board = board
        self._results: dict[str, Any] = {}
        self._cancels: dict[str, Any] = {}
        for name, kind in ACTIONS.items():
            node.create_subscription(
                GoalStatusArray,
                f"{name}/_action/status",
                guard(node, self._status_call(name)),
                qos_profile_action_status_default,
            )
            node.create_subscription(
                kind.Impl.FeedbackMessage, f"{name}/_action/feedback", guard(node, self._on_feedback), EVENTS
            )
            self._results[name] = node.create_client(kind.Impl.GetResultService, f"{name}/_action/get_result")
            self._cancels[name] = node.create_client(CancelGoal, f"{name}/_action/cancel_goal")

    def cancel(self, goal_id: str, action: str) -> None:
        """Ask for the end of a goal by its id; on the node's thread.

        Args:
            goal_id: Id of the goal.
            action: Name of its action.
        """
        info = GoalInfo(goal_id=UUID(uuid=list(bytes.fromhex(goal_id))))
        self._cancels[action].call_async(CancelGoal.Request(goal_info=info))

    def _status_call(self, action: str) -> Callable[[GoalStatusArray], None]:
        return lambda message: self._on_status(action, message)

    def _on_status(self, action: str, message: GoalStatusArray) -> None:
        for one in message.status_list:
            goal_id = bytes(one.goal_info.goal_id.uuid).hex()
            if self._board.status(goal_id, action, GoalState(one.status), time.monotonic()):
                request = ACTIONS[action].Impl.GetResultService.Request(goal_id=one.goal_info.goal_id)
                future = self._results[action].call_async(request)
                future.add_done_callback(lambda done, goal_id=goal_id: self._on_result(goal_id, action, done))

    def _on_feedback(self, message: Any) -> None:
        goal_id, feedback = bytes(message.goal_id.uuid).hex(), message.feedback
        inner = feedback.feedback
        stage = inner.stage
        if hasattr(feedback, "skill"):  # of a task: the skill that runs in it
            stage = " ".join(
                filter(None, (f"step {feedback.step}", feedback.arm, feedback.skill, inner.stage))
            )
        count, index = inner.count, inner.index
        share = inner.progress if not hasattr(feedback, "done") else feedback.done / max(1, feedback.count)
        self._board.feedback(goal_id, stage, index, count, share, inner.planning_time, time.monotonic())

    def _on_result(self, goal_id: str, action: str, future: Any) -> None:
        answer = future.result()
        if answer is not None and answer.status in (
            GoalState.SUCCEEDED,
            GoalState.CANCELED,
            GoalState.ABORTED,
        ):
            self._board.end(goal_id, GoalState(answer.status), _end(action, answer), time.monotonic())


def _end(action: str, answer: Any) -> GoalEnd:
    try:
        if action == "run_task":
            task = task_report_from_msg(answer.status, answer.result)
            outcome = task.outcome
            stages = tuple(
                StageView(
                    f"{e.step} {e.skill}",
                    e.report.duration_s,
                    e.report.planning_time_s,
                    _code(e.report.outcome),
                )
                for e in task.entries
            )
            return GoalEnd(
                outcome.code.name, _sentence(outcome.message, task.faults), outcome.blocking, stages
            )
        report = goal_report_from_msg(answer.status, answer.result.result)
    except ValueError as error:
        return GoalEnd("INTERNAL", str(error))
    stages = tuple(StageView(s.name, s.duration_s, s.planning_time_s, s.code.name) for s in report.stages)
    outcome = report.outcome
    return GoalEnd(outcome.code.name, outcome.message, outcome.blocking, stages, report.planning_time_s)


def _code(outcome: Any) -> str:
    return "" if outcome.code.name == "UNSET" else str(outcome.code.name)


def _sentence(message: str, faults: tuple[str, ...]) -> str:
    return " ".join([message, *faults[:3]])
