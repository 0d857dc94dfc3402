"""The record of a running task: the end of every skill, what the hands held, and the skills that are still to come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum

from handiwork_core.contracts.skill import Progress
from skill_server.execution.run import ExecutionResult

from .budget import budget_of
from .model import Block, Entry, ForEach, Node, Repeat, Retry, Task, TaskStep, branches

Report = Callable[[Progress], None]
Held = Callable[[str], str]
"""Names the object in the hand of an arm, by measurement; an empty text for none."""


class TaskEntryState(IntEnum):
    """State of a skill of a task; the numbers equal those in ``TaskEntry.msg``."""

    NOT_STARTED = 0
    RUNNING = 1
    SUCCEEDED = 2
    FAILED = 3
    SKIPPED = 4


@dataclass(frozen=True, eq=False)
class EntryEnd:
    """The end of one skill.

    Attributes:
        entry: Skill of the task.
        state: State at the end.
        run: Result of the run; None when it has not run.
    """

    entry: Entry
    state: TaskEntryState
    run: ExecutionResult | None = None


@dataclass(frozen=True, slots=True)
class TaskProgress(Progress):
    """The progress of one skill, with its place in the task.

    Attributes:
        step: Label of the step.
        arm: Name of the arm; empty for a control node between steps.
        skill: Name of the skill; empty for a control node.
        done: Number of skills that succeeded or were skipped.
        total: These, and the greatest number of skills that may still run.
        is_bound: True when fewer may run, as conditions decide.
    """

    step: str = ""
    arm: str = ""
    skill: str = ""
    done: int = 0
    total: int = 0
    is_bound: bool = False


@dataclass(frozen=True)
class Ran:
    """A skill that began.

    Attributes:
        place: Label with its number in the arm's list.
        held_before: Object in the hand before; empty for none.
        ok: True once it succeeded.
        goes_on: See ``Skill.goes_on``.
    """

    place: str
    held_before: str
    ok: bool = False
    goes_on: bool = False


@dataclass
class TaskRecord:
    """What happened so far; written by the threads of all arms.

    Attributes:
        task: Task.
        report: Takes the progress.
        held: Names the object in the hand of an arm.
        ran: Skills that began, in order, by arm.
        stopped_at: Label of the control node that failed or was not begun, by arm; "" for one between steps.
    """

    task: Task
    report: Report
    held: Held
    ran: dict[str, list[Ran]] = field(default_factory=dict)
    stopped_at: dict[str, str] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _ends: dict[tuple[str, str], EntryEnd] = field(default_factory=dict)
    _turns: dict[tuple[str, str], dict[str, Block]] = field(default_factory=dict)
    _done: int = 0
    _least: int = 0
    _most: int = 0

    def __post_init__(self) -> None:
        self._least, self._most = budget_of(*self.task.steps)

    def begin(self, entry: Entry, place: str) -> None:
        """Note that a skill begins, and what the hand holds then.

        Args:
            entry: The skill.
            place: Label with its number in the arm's list.
        """
        ran = Ran(place, self.held(entry.arm), goes_on=entry.skill.goes_on(entry.params))
        with self._lock:
            self._ends[entry.arm, place] = EntryEnd(entry, TaskEntryState.RUNNING)
            self.ran.setdefault(entry.arm, []).append(ran)
            self.stopped_at.pop(entry.arm, None)
            self.stopped_at.pop("", None)

    def end(self, entry: Entry, place: str, run: ExecutionResult | None, *, ok: bool) -> None:
        """Note the end of a skill that began.

        Args:
            entry: The skill.
            place: Label with its number in the arm's list.
            run: Result of the run; None when it raised.
            ok: True when it succeeded.
        """
        state = TaskEntryState.SUCCEEDED if ok else TaskEntryState.FAILED
        with self._lock:
            self._ends[entry.arm, place] = EntryEnd(entry, state, run)
            self.ran[entry.arm][-1] = replace(self.ran[entry.arm][-1], ok=ok)
            self._done += ok

    def skip(self, entry: Entry, place: str) -> None:
        """Note a skill that an earlier run of the task did.

        Args:
            entry: The skill.
            place: Label with its number in the arm's list.
        """
        with self._lock:
            self._ends[entry.arm, place] = EntryEnd(entry, TaskEntryState.SKIPPED)
            self._done += 1

    def skip_node(self, node: Node, place: str, arm: str) -> None:
        """Note the skills of a node that an earlier run did, unless a condition may have left some of them out.

        Args:
            node: The node.
            place: Its label.
            arm: Arm of the list in which it is; empty between steps.
        """
        least, most = budget_of(node)
        if least != most:
            return
        if isinstance(node, Entry):
            self.skip(replace(node, step=place.rpartition(".")[0]), place)
            return
        if isinstance(node, TaskStep):
            parts = [(place, block, name) for name, block in node.arms.items()]
        elif isinstance(node, (Repeat, Retry)):
            parts = [(f"{place}[{k + 1}]", node.body, arm) for k in range(node.times)]
            for k in range(node.times):
                self.turn(arm, place, f"[{k + 1}]", node.body)
        else:
            parts = [(place + mark, block, arm) for mark, block in branches(node)]
        for label, block, own in parts:
            for i, one in enumerate(block):
                self.skip_node(one, f"{label}.{i + 1}", own)

    def turn(self, arm: str, label: str, mark: str, body: Block) -> None:
        """Note a turn of a loop.

        Args:
            arm: Arm of the list in which the loop is; empty between steps.
            label: Label of the loop.
            mark: Text of the turn in labels, such as ``[3]``.
            body: Body of the turn.
        """
        with self._lock:
            self._turns.setdefault((arm, label), {})[mark] = body

    def stop_at(self, arm: str, label: str) -> None:
        """Note the control node at which the task ended.

        Args:
            arm: Arm of its list; empty between steps.
            label: Its label.
        """
        with self._lock:
            self.stopped_at.setdefault(arm, label)

    def go_on(self, arm: str) -> None:
        """Note that a failure does not end the task.

        Args:
            arm: Arm of the list that goes on; empty between steps, where all arms do.
        """
        with self._lock:
            for one in [arm] if arm else list(self.stopped_at):
                self.stopped_at.pop(one, None)

    def spend(self, least: int, most: int) -> None:
        """Take skills off those that are still to come.

        Args:
            least: From the least number.
            most: From the greatest number.
        """
        with self._lock:
            self._least -= least
            self._most -= most

    def progress(self, step: str, arm: str, skill: str, of: Progress) -> None:
        """Report progress with its place in the task.

        Args:
            step: Label of the step.
            arm: Name of the arm.
            skill: Name of the skill; empty for a control node.
            of: Progress of the skill.
        """
        with self._lock:
            done, total, is_bound = self._done, self._done + self._most, self._most != self._least
        numbers = (of.stage, of.index, of.count, of.planning_time_s, of.fraction)
        self.report(TaskProgress(*numbers, step, arm, skill, done, total, is_bound))

    def ends(self) -> tuple[EntryEnd, ...]:
        """Return every skill with its end in the order of the file; of a loop each turn, or the body once."""
        with self._lock:
            found: list[EntryEnd] = []
            for label, node in zip(self.task.labels, self.task.steps, strict=True):
                if isinstance(node, TaskStep):
                    for arm, block in node.arms.items():
                        found += self._block(block, label, arm)
                else:
                    found += self._within(node, label, "")
            return tuple(found)

    def _block(self, block: Block, label: str, arm: str) -> Iterator[EntryEnd]:
        for i, node in enumerate(block):
            place = f"{label}.{i + 1}"
            if isinstance(node, Entry):
                untouched = EntryEnd(replace(node, step=label), TaskEntryState.NOT_STARTED)
                yield self._ends.get((node.arm, place), untouched)
            elif isinstance(node, TaskStep):
                for name, skills in node.arms.items():
                    yield from self._block(skills, place, name)
            else:
                yield from self._within(node, place, arm)

    def _within(self, node: object, label: str, arm: str) -> Iterator[EntryEnd]:
        turns = self._turns.get((arm, label), {})
        if isinstance(node, (Repeat, Retry, ForEach)) and turns:
            for mark, body in turns.items():
                yield from self._block(body, label + mark, arm)
            return
        for mark, body in branches(node):  # type: ignore[arg-type]  # every node of a block is a Node
            yield from self._block(body, label + mark, arm)
