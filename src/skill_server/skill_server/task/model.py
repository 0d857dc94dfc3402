"""A task as values: a tree of control nodes, whose steps have on each arm skills in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.skill import Skill
from handiwork_core.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Entry:
    """One skill of a task.

    Attributes:
        path: Place in the file.
        step: Label of its step.
        arm: Name of the arm.
        skill: Skill.
        params: Parameters of the skill.
        given: Parameters as the file gives them, with the values of variables.
        draws_seed: True when the seed follows from the task's seed and the place.
    """

    path: str
    step: str
    arm: str
    skill: Skill[Any]
    params: Any
    given: Mapping[str, Any] = field(default_factory=dict)
    draws_seed: bool = False


@dataclass(frozen=True, eq=False)
class TaskStep:
    """The skills of several arms at the same time (Parallel); it ends when every arm is done.

    Attributes:
        label: "<group>.<step>", counted from 1, and the place within control flow.
        arms: Skills and control nodes in order, by arm.
    """

    label: str
    arms: Mapping[str, Block]


@dataclass(frozen=True, eq=False)
class Condition:
    """A question to the condition monitor.

    Attributes:
        path: Place in the file.
        text: Expression of the monitor's language.
        within_s: Time that the condition has to become TRUE, s of the robot's world.
    """

    path: str
    text: str
    within_s: float = 0.0


@dataclass(frozen=True, eq=False)
class Check:
    """Succeeds exactly when a condition is TRUE (a Condition node).

    Attributes:
        condition: The condition.
    """

    condition: Condition


@dataclass(frozen=True, eq=False)
class Repeat:
    """Runs a body several times; a failure of the body ends it.

    Attributes:
        path: Place in the file.
        body: The body.
        times: Number of times; with ``until`` the greatest number.
        until: Condition that ends the loop; None: the body runs ``times`` times.
    """

    path: str
    body: Block
    times: int
    until: Condition | None = None


@dataclass(frozen=True, eq=False)
class Retry:
    """Runs a body until it succeeds (RetryUntilSuccessful).

    Attributes:
        path: Place in the file.
        body: The body.
        times: Greatest number of attempts.
    """

    path: str
    body: Block
    times: int


@dataclass(frozen=True, eq=False)
class ForEach:
    """Runs a body for each of some objects.

    Attributes:
        path: Place in the file.
        variable: Name of the variable that holds the object.
        body: The body for one of the objects, as it was checked.
        limit: Greatest number of objects.
        among: Objects to choose from, in their order; empty: the movable objects of the world, by name.
        where: Condition by which an object is selected; None: every object. Its text contains the variable.
        where_of: Returns ``where`` for one object.
        bind: Returns the body for one object, checked with the newest world; raises ``ConfigError`` with every fault.
    """

    path: str
    variable: str
    body: Block
    limit: int
    among: tuple[str, ...]
    where: Condition | None
    where_of: Callable[[str], Condition]
    bind: Callable[[str], Block]


@dataclass(frozen=True, eq=False)
class If:
    """Runs one of two branches.

    Attributes:
        path: Place in the file.
        condition: Condition that decides.
        then: Branch for TRUE.
        otherwise: Branch for FALSE; may be empty.
    """

    path: str
    condition: Condition
    then: Block
    otherwise: Block = ()


@dataclass(frozen=True, eq=False)
class Try:
    """Runs alternatives in order until one succeeds (Fallback).

    Attributes:
        path: Place in the file.
        alternatives: The alternatives.
    """

    path: str
    alternatives: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Barrier:
    """A place in the lists of several arms of a step, which none of them passes before the others are there.

    Attributes:
        path: Place in the file.
        name: Name of the barrier.
    """

    path: str
    name: str


Node: TypeAlias = Entry | TaskStep | Check | Repeat | Retry | ForEach | If | Try | Barrier
Block: TypeAlias = tuple[Node, ...]
"""Nodes that run in order (Sequence)."""


@dataclass(frozen=True, eq=False)
class Task:
    """A whole file.

    Attributes:
        name: Name of the task.
        seed: Seed of the task.
        steps: Steps and control nodes in order.
        notes: Parts of the file that have no meaning here.
        robot: Robot with the changes of the file; None for the robot of the stack.
        labels: Label of each of ``steps``; empty: their own.
    """

    name: str
    seed: int
    steps: Block
    notes: tuple[str, ...] = ()
    robot: Robot | None = None
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.labels:
            own = tuple(step.label for step in self.steps if isinstance(step, TaskStep))
            object.__setattr__(self, "labels", own)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every skill, in the order of the file; those of a loop once."""
        return tuple(entry for step in self.steps for entry in entries_of(step))

    def index_of(self, label: str) -> int:
        """Return the index of the step to begin at.

        Args:
            label: Label of the step; empty for the first.

        Returns:
            The index in ``steps``.

        Raises:
            ValueError: There is no such step; lists the known ones.
        """
        if not label:
            return 0
        if label not in self.labels:
            raise ValueError(
                f"step {label[:80]!r} is not in task {self.name!r}; {nearest(label[:80], self.labels)}"
            )
        return self.labels.index(label)


def branches(node: Node) -> tuple[tuple[str, Block], ...]:
    """Return the blocks of a node with the text that a place within them has after the node's label.

    Args:
        node: The node. A loop has its body once, with its first turn.
    """
    match node:
        case Repeat() | Retry():
            return (("[1]", node.body),)
        case ForEach():
            return ((f"[${node.variable}]", node.body),)
        case If():
            return ((".then", node.then), (".else", node.otherwise))
        case Try():
            return tuple((f".try{i + 1}", block) for i, block in enumerate(node.alternatives))
        case TaskStep():
            return tuple(("", block) for block in node.arms.values())
    return ()


def arms_of(node: Node) -> Iterator[str]:
    """Yield the arms that have a list in a node, also one without skills; an arm with several lists several times.

    Args:
        node: The node.
    """
    if isinstance(node, Entry):
        yield node.arm
    if isinstance(node, TaskStep):
        yield from node.arms
    for _, block in branches(node):
        for one in block:
            yield from arms_of(one)


def entries_of(node: Node) -> Iterator[Entry]:
    """Yield the skills of a node in the order of the file; those of a loop once.

    Args:
        node: The node.
    """
    if isinstance(node, Entry):
        yield node
    for _, block in branches(node):
        for one in block:
            yield from entries_of(one)


def further_arms(entry: Entry, robot: Robot) -> tuple[str, ...]:
    """Return the arms that a skill of a task needs besides the one in whose list it is.

    Args:
        entry: The skill.
        robot: Robot with the arms.
    """
    return entry.skill.further_arms(entry.params, robot, robot.arm(entry.arm))
