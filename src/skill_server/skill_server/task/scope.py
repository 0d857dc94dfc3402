"""The scope in which nodes of a task run: its ports, where the arms begin, and the count of skills to come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from handiwork_core.contracts.ports import Clock
from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.execution.run import ExecutionResult

from .budget import Budget
from .conditions import Conditions
from .model import Entry, Node, arms_of
from .parallel import Barriers
from .record import Held, Report, TaskRecord
from .task_paths import Starts, TaskPath

Do = Callable[[Entry, Token, Report], ExecutionResult]
"""Runs one skill to its end, after which the arm is at rest in any case."""
FINAL = frozenset(
    (*(code for code in Code if code < Code.BAD_GOAL), Code.NOT_ACTIVE, Code.ROBOT_LOST, Code.UNRESPONSIVE)
) | {Code.PROTECTIVE_STOP, Code.EMERGENCY_STOP, Code.ROBOT_STOPPED, Code.CONDITION_UNKNOWN, Code.INTERNAL}
"""Codes after which no alternative and no further attempt moves the robot.

One of them is CONDITION_UNKNOWN: an alternative that followed on it would take the condition for FALSE.
"""


def of_all_arms(failures: Sequence[Outcome]) -> Outcome:
    """Return the outcome of arms that worked at the same time.

    Args:
        failures: Failures of arms, in the order of time; those behind the first may be CANCELED because of it.

    Returns:
        The first one after which nothing may move, such as a lost robot; else the first one; OK for none.
    """
    final = (one for one in failures if one.code in FINAL and one.code is not Code.CANCELED)
    return next(final, failures[0]) if failures else OK


@dataclass(frozen=True)
class Ports:
    """The robot and the monitor, as a task sees them.

    Attributes:
        do: Runs one skill.
        clock: Time of the robot's world.
        held: Names the object in the hand of an arm.
        conditions: Condition monitor; None for a task without conditions.
        movable: Returns the names of the movable objects of the newest world, in order.
    """

    do: Do
    clock: Clock
    held: Held
    conditions: Conditions | None = None
    movable: Callable[[], Sequence[str]] = tuple


@dataclass
class SkillCount:
    """The skills that one scope has accounted for, in its record.

    Attributes:
        record: Counts the skills of all lines.
        least: Skills accounted for, of the least number.
        most: The same of the greatest number.
        goal: Values of ``least`` and ``most`` at the end of the node that runs.
    """

    record: TaskRecord
    least: int = 0
    most: int = 0
    goal: Budget = field(default_factory=lambda: Budget(0, 0))

    def enter(self, budget: Budget) -> Budget:
        """Begin a node.

        Args:
            budget: Skills of the node.

        Returns:
            The goal of the node around it, for ``leave``.
        """
        before = self.goal
        self.goal = Budget(self.least + budget.least, self.most + budget.most)
        return before

    def leave(self, before: Budget) -> None:
        """End the node: nothing more of it will run.

        Args:
            before: Goal of the node around it.
        """
        self.expect(Budget(0, 0))
        self.goal = before

    def expect(self, rest: Budget) -> None:
        """Note how many skills of the node may still run.

        Args:
            rest: Their number.
        """
        least = self.goal.least - rest.least - self.least
        most = self.goal.most - rest.most - self.most
        self.record.spend(least, most)
        self.least, self.most = self.least + least, self.most + most


@dataclass(frozen=True)
class Scope:
    """One scope.

    Attributes:
        at: Where each arm begins within the node.
        token: Ends the scope when it is set.
        count: Skills that the scope has accounted for.
        arm: Arm of the list; empty between steps.
        barriers: Barriers of the step; None between steps.
    """

    at: Starts
    token: Token
    count: SkillCount
    arm: str = ""
    barriers: Barriers | None = None

    def into(self, part: Callable[[str], int]) -> Scope:
        """Return the scope within a part of a node.

        Args:
            part: Compares a word of a place with the part: below 0 where the place is before it, 0 within, above after.
        """
        at: dict[str, TaskPath | None] = {}
        for arm, place in self.at.items():
            if not place:
                at[arm] = place
                continue
            order = part(place[0])
            at[arm] = place[1:] if order == 0 else () if order < 0 else None
        return replace(self, at=at)

    def words(self) -> list[str]:
        """Return the words that places name within the node."""
        return [place[0] for place in self.at.values() if place]

    def is_over(self, node: Node) -> bool:
        """Return True when every arm with a list in a node, or every arm for a node without any, begins after it.

        Args:
            node: The node.
        """
        arms = set(arms_of(node)) & self.at.keys() or self.at.keys()
        return bool(self.at) and all(self.at[arm] is None for arm in arms)
