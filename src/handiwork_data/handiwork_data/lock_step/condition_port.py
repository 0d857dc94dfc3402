"""The condition monitor of a cell: the same conditions as the node's, on the simulation's own state."""

from __future__ import annotations

from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.monitoring.monitor import ConditionMonitor, ConditionStatus
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.predicate import Finding
from handiwork_core.robot.robot import Robot
from skill_server.task.conditions import Decision, Examined

from .cell import LockStepCell

MAX_AGE_S = 0.5
"""Age from which a state would count as too old, s; those of a cell are always of now."""


class CellMonitor:
    """Decides conditions, and watches some of them over time.

    Args:
        robot: The robot.
        cell: The cell.
    """

    def __init__(self, robot: Robot, cell: LockStepCell) -> None:
        self._cell = cell
        self._definitions = Definitions(Builder(robot, lambda: cell.objects))
        self._monitor = ConditionMonitor(MAX_AGE_S)

    def make(self, text: str) -> Condition:
        """Build a condition from its text.

        Args:
            text: The expression.

        Raises:
            ConfigError: The text is wrong; lists every fault.
        """
        return self._definitions.make("", "", text, 0.0)

    def watch(self, condition: Condition) -> None:
        """Watch a condition from now on.

        Args:
            condition: The condition.
        """
        self._monitor.watch(condition, self._cell.now_s())

    def update(self) -> list[ConditionStatus]:
        """Decide the watched conditions now; return their states in the order of watching."""
        self._monitor.update(self._cell.snapshot(), self._cell.now_s())
        return self._monitor.shown()

    def now(self, condition: Condition) -> Finding:
        """Decide a condition once.

        Args:
            condition: The condition.
        """
        return self._monitor.decide(condition, self._cell.snapshot(), self._cell.now_s())

    def examine(self, text: str) -> Examined:
        """See ``Conditions.examine``.

        Args:
            text: The expression.
        """
        try:
            made = self.make(text)
        except ConfigError as error:
            return Examined(error.faults)
        leaves = made.expression.leaves()
        return Examined(
            (), tuple(dict.fromkeys(name for leaf in leaves for name in leaf.predicate.subjects()))
        )

    def decide(self, text: str, *, should_stop: ShouldStop) -> Decision:
        """See ``Conditions.decide``.

        Args:
            text: The expression.
            should_stop: Not needed: the answer is there at once.
        """
        found = self.now(self.make(text))
        return Decision(found.truth, found.reason, self._cell.now_s())
