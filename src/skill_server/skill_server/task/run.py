"""Runs a task: a barrier after each step, the arms of a step at the same time; the first failure ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial

from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.execution.run import ExecutionResult

from .model import Entry, Task, TaskStep
from .resume import ArmProgress, label, skills_of


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


@dataclass(frozen=True, eq=False)
class TaskResult:
    """The end of a task.

    Attributes:
        outcome: Outcome; the first failure.
        task: Task; None when it could not be read.
        entries: Every skill with its end.
        resume_from: Where to begin next time, as ``resume.label`` writes it; empty after success.
        duration_s: Duration in the robot's time, s.
        faults: Faults of the task file.
    """

    outcome: Outcome
    task: Task | None = None
    entries: tuple[EntryEnd, ...] = ()
    resume_from: str = ""
    duration_s: float = 0.0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskProgress(Progress):
    """The progress of one skill, with its place in the task.

    Attributes:
        step: Label of the step.
        arm: Name of the arm.
        skill: Name of the skill.
        done: Number of skills that succeeded or were skipped.
        total: Number of skills.
    """

    step: str = ""
    arm: str = ""
    skill: str = ""
    done: int = 0
    total: int = 0


Report = Callable[[Progress], None]
Do = Callable[[Entry, Token, Report], ExecutionResult]
"""Runs one skill to its end, after which the arm is at rest in any case."""


Held = Callable[[str], str]
"""Names the object in the hand of an arm, by measurement; an empty text for none."""


def run_task(
    task: Task,
    skipped: Collection[str],
    do: Do,
    token: Token,
    report: Report,
    now_s: Callable[[], float],
    held: Held,
) -> TaskResult:
    """Run the steps of a task to the end or the first failure; never raises.

    Args:
        task: Task.
        skipped: Paths of the skills that count as done; see ``resume.skipped``.
        do: Runs one skill.
        token: Ends the task when it is set.
        report: Takes the progress.
        now_s: Returns the time of the robot's world, s.
        held: Names the object in the hand of an arm.

    Returns:
        The outcome, with the end of every skill.
    """
    begun_s, book = now_s(), _Book(task, report, held)
    for entry in task.entries:
        if entry.path in skipped:
            book.note(entry, TaskEntryState.SKIPPED)
    outcome, resume_from = OK, ""
    for step in task.steps:
        lists = {arm: _left(entries, skipped) for arm, entries in step.arms.items()}
        if not any(lists.values()):
            continue
        outcome = _run_step(TaskStep(step.label, lists), do, token, book)
        if not outcome.ok:
            outcome, resume_from = _resume(outcome, book)
            break
    return TaskResult(outcome, task, book.ends(), resume_from, now_s() - begun_s)


def _left(entries: Sequence[Entry], skipped: Collection[str]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.path not in skipped)


def _resume(outcome: Outcome, book: _Book) -> tuple[Outcome, str]:
    """Return where the task goes on, and the outcome with what must be done by hand before that."""
    begin, first = dict[str, int](), list[str]()
    for arm in dict.fromkeys(entry.arm for entry in book.task.entries):
        progress = book.progress_of(arm)
        begin[arm], is_ready = progress.next()
        if not is_ready:
            then = progress.held_before[progress.succeeded]
            first.append(
                f"{arm} holds {progress.held or 'nothing'} and held {then or 'nothing'} before the skill"
            )
    text = label(book.task, begin)
    if first:
        ask = f"{' and '.join(first)}: change that before the task goes on"
        outcome = replace(outcome, message=f"{outcome.message}; {ask}")
    return outcome, text


@dataclass
class _Book:
    """The states of all skills so far; written by the threads of all arms."""

    task: Task
    report: Report
    held: Held
    lock: threading.Lock = field(default_factory=threading.Lock)
    states: dict[str, EntryEnd] = field(default_factory=dict)
    held_before: dict[str, str] = field(default_factory=dict)
    first: Outcome = OK

    def begin(self, entry: Entry) -> None:
        """Note that a skill begins, and what the hand holds then."""
        self.note(entry, TaskEntryState.RUNNING)
        held = self.held(entry.arm)
        with self.lock:
            self.held_before[entry.path] = held

    def progress_of(self, arm: str) -> ArmProgress:
        """Return what an arm did; to be called once no skill runs."""
        states = [self.states.get(entry.path) for entry in skills_of(self.task, arm)]
        first = sum(end is not None and end.state is TaskEntryState.SKIPPED for end in states)
        good = sum(end is not None and end.state is TaskEntryState.SUCCEEDED for end in states)
        paths = (entry.path for entry in skills_of(self.task, arm))
        begun = tuple(self.held_before[path] for path in paths if path in self.held_before)
        return ArmProgress(first, begun, good, self.held(arm))

    def note(self, entry: Entry, state: TaskEntryState, run: ExecutionResult | None = None) -> None:
        with self.lock:
            self.states[entry.path] = EntryEnd(entry, state, run)

    def fail(self, outcome: Outcome) -> None:
        """Keep the first failure."""
        with self.lock:
            self.first = outcome if self.first.ok else self.first

    def ends(self) -> tuple[EntryEnd, ...]:
        with self.lock:
            return tuple(
                self.states.get(entry.path, EntryEnd(entry, TaskEntryState.NOT_STARTED))
                for entry in self.task.entries
            )

    def progress(self, entry: Entry, of: Progress) -> None:
        with self.lock:
            done = sum(
                end.state in (TaskEntryState.SUCCEEDED, TaskEntryState.SKIPPED)
                for end in self.states.values()
            )
        total = len(self.task.entries)
        self.report(
            TaskProgress(
                of.stage,
                of.index,
                of.count,
                of.planning_time_s,
                of.fraction,
                entry.step,
                entry.arm,
                entry.skill.name,
                done,
                total,
            )
        )


def _run_step(step: TaskStep, do: Do, token: Token, book: _Book) -> Outcome:
    mine = token.child()
    lists = [entries for entries in step.arms.values() if entries]
    if len(lists) == 1:
        _run_arm(lists[0], do, mine, book)
    else:
        _together([partial(_run_arm, entries, do, mine, book) for entries in lists])
    if token.is_set() and book.first.ok:
        return Outcome(token.reason, f"{token.reason.name.lower()} in step {step.label}")
    return book.first


def _together(bodies: Sequence[Callable[[], None]]) -> None:
    """Run bodies at the same time and wait for all; raise what the first of them raised.

    In daemons, so that a skill which never returns cannot keep the process from ending.
    """
    errors: list[Exception] = []

    def run(body: Callable[[], None]) -> None:
        try:
            body()
        except Exception as error:  # noqa: BLE001 - handed to the thread that waits
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(body,), name=f"task-arm-{i}", daemon=True)
        for i, body in enumerate(bodies)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _run_arm(entries: Sequence[Entry], do: Do, token: Token, book: _Book) -> None:
    """Run the skills of one arm in order; a failure also ends the other arms of the step."""
    for entry in entries:
        if token.is_set():
            return
        try:
            book.begin(entry)
            run = do(entry, token, lambda progress, entry=entry: book.progress(entry, progress))  # type: ignore[misc]
            outcome = run.outcome
        except Exception as error:  # noqa: BLE001 - the border of plug-in code; the other arms must be stopped
            run, outcome = None, Outcome(Code.INTERNAL, f"{entry.skill.name!r} raised {error!r}")
        book.note(entry, TaskEntryState.SUCCEEDED if outcome.ok else TaskEntryState.FAILED, run)
        if not outcome.ok:
            where = f"step {entry.step}, {entry.arm}, {entry.skill.name}"
            book.fail(replace(outcome, message=f"{where}: {outcome.message or outcome.code.name}"))
            token.set(Code.CANCELED)
            return
