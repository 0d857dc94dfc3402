"""Conditions from plain Python programs: decide one, watch and unwatch, and follow a task."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any

from handiwork_msgs.msg import Condition, TaskProgress
from handiwork_msgs.srv import EvaluateCondition, UnwatchCondition, WatchCondition, WatchTask

from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.conversions import outcome_from_msg
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.service_call import NoAnswer, call

ANSWER_S = 10.0
"""The longest wait for an answer, s."""
SERVICES = {
    EvaluateCondition: "evaluate",
    WatchCondition: "watch",
    UnwatchCondition: "unwatch",
    WatchTask: "watch_task",
}
"""The names of the services below ``conditions/``, by type."""


@dataclass(frozen=True, slots=True, eq=False)
class ConditionAnswer:
    """The answer of the monitor.

    Attributes:
        outcome: OK, or why it was refused; also hints, such as the nearest name of an object that is not in the world.
        condition: The value, margin, reason and evidence, of ``evaluate``; None elsewhere and where it was refused.
        key: The key under which the condition is watched, of ``watch``.
        progress: The progress of the task, of ``watch_task``; None elsewhere and where it was refused.
    """

    outcome: Outcome
    condition: Condition | None = None
    key: str = ""
    progress: TaskProgress | None = None

    @property
    def ok(self) -> bool:
        """True when the monitor did what was asked."""
        return self.outcome.ok


class ConditionsClient:
    """Asks a running ``conditionals_node``. Leave it with ``close`` or by ``with``.

    Args:
        node_name: Name of its node.
        domain_id: ROS domain; None: that of the environment.
        timeout_s: The longest wait for an answer, s.
        namespace: Namespace of the stack; see ``SkillClient``.
    """

    def __init__(
        self,
        node_name: str = "handiwork_conditions_client",
        *,
        domain_id: int | None = None,
        timeout_s: float = ANSWER_S,
        namespace: str | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._background = BackgroundNode(node_name, domain_id=domain_id, namespace=namespace)
        node = self._background.node
        self._clients = {
            kind: node.create_client(kind, f"conditions/{name}") for kind, name in SERVICES.items()
        }
        self._asked = set[Any]()
        self._background.start()

    def close(self) -> None:
        """Leave the ROS graph."""
        self._background.stop()
        self._background.destroy()

    def __enter__(self) -> ConditionsClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def evaluate(self, expression: str, *, max_flip: float = 0.0) -> ConditionAnswer:
        """Decide a condition once, on the newest world.

        Args:
            expression: The expression; it may be the name of a watched one.
            max_flip: Largest probability of a turn by noise with which it is TRUE or FALSE; 0: that of the node.
        """
        request = EvaluateCondition.Request(expression=expression, max_flip=max_flip)
        outcome, answer = self._ask(EvaluateCondition, request)
        return ConditionAnswer(outcome, answer.condition if outcome.ok else None)

    def watch(
        self, expression: str, *, name: str = "", hold_s: float = 0.0, max_flip: float = 0.0
    ) -> ConditionAnswer:
        """Publish a condition from now on; a second time changes nothing.

        Args:
            expression: The expression.
            name: Name that it gets, which other expressions may use.
            hold_s: Time that a new value must last before it counts, s.
            max_flip: See ``evaluate``.
        """
        request = WatchCondition.Request(expression=expression, name=name, hold=hold_s, max_flip=max_flip)
        outcome, answer = self._ask(WatchCondition, request)
        return ConditionAnswer(outcome, key=answer.key if outcome.ok else "")

    def unwatch(self, key: str) -> ConditionAnswer:
        """Stop publishing a condition.

        Args:
            key: Its key.
        """
        return ConditionAnswer(self._ask(UnwatchCondition, UnwatchCondition.Request(key=key))[0])

    def watch_task(self, task: str = "", *, restart: bool = False) -> ConditionAnswer:
        """Follow a task from its start, begin the present one again, or only return its progress.

        Args:
            task: YAML like the section ``task`` of a conditions file; empty: the present task stays.
            restart: True to begin the present task again.
        """
        outcome, answer = self._ask(WatchTask, WatchTask.Request(task=task, restart=restart))
        return ConditionAnswer(outcome, progress=answer.progress if outcome.ok else None)

    def _ask(self, kind: Any, request: Any) -> tuple[Outcome, Any]:
        client, is_new = self._clients[kind], kind not in self._asked
        self._asked.add(kind)
        answer = call(self._background.node, client, request, timeout_s=self._timeout_s, is_new=is_new)
        if isinstance(answer, NoAnswer):
            text = f"{client.srv_name} does not answer in {self._timeout_s:g} s"
            text = f"{text}; start the stack, or set its ROS_DOMAIN_ID"
            return Outcome(Code.UNRESPONSIVE, text), None
        return outcome_from_msg(answer.outcome), answer
