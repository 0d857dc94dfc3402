"""The log of an action's goals: one event when a goal takes its arms, one when it ends."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node

from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.process.event_text import event_text


class GoalLog:
    """Logs the events of goals, with their ids, in a form that programs can parse.

    Args:
        node: Its logger is used.
        action: Name of the action.
    """

    def __init__(self, node: Node, action: str) -> None:
        self._node, self._action = node, action

    def taken(self, key: bytes, skill: str, arms: Sequence[str]) -> None:
        """Log that a goal has taken its arms.

        Args:
            key: Id of the goal.
            skill: Holder of the arms.
            arms: Names of the arms.
        """
        self._write("goal taken", key, skill=skill, arms=",".join(arms))

    def ended(self, key: bytes, outcome: Outcome, lasted_s: float) -> None:
        """Log the end of a goal, as a warning if it failed.

        Args:
            key: Id of the goal.
            outcome: Its outcome.
            lasted_s: Its duration, s.
        """
        is_good = outcome.code in (Code.OK, Code.CANCELED)
        self._write(
            "goal ended",
            key,
            is_warning=not is_good,
            code=outcome.code.name,
            stage=outcome.stage,
            field=outcome.field_name,
            duration_s=lasted_s,
            message="" if is_good else outcome.message,
        )

    def _write(self, event: str, key: bytes, *, is_warning: bool = False, **fields: str | float) -> None:
        logger = self._node.get_logger()
        text = event_text(event, goal=key.hex(), action=self._action, **fields)
        if is_warning:  # two calls, because rclpy allows one severity for each calling line
            logger.warning(text)
        else:
            logger.info(text)
