"""Where a task goes on: which skills count as done, by the arms' progress and by what their hands hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handiwork_core.config.dataclass_loader import nearest

from .model import Entry, Task

LONGEST = 80
"""Characters of a wrong label that a message repeats."""


@dataclass(frozen=True, eq=False)
class ArmProgress:
    """What one arm did of its skills in this run.

    Attributes:
        first: Index of its first skill of this run, among its skills of the task.
        held_before: Object in its hand before each skill that began, in order; empty text for none.
        succeeded: Number of skills that succeeded, in order from ``first``.
        held: Object in its hand now; empty text for none.
    """

    first: int
    held_before: Sequence[str]
    succeeded: int
    held: str

    def next(self) -> tuple[int, bool]:
        """Return the index of the skill to go on with, and whether the hand is as it was before that skill.

        A failed skill is repeated where the hand holds what it held before it. Where it does not, the arm goes back to
        its last skill that began with such a hand: after a lost object, to the pick of it.
        """
        if self.succeeded >= len(self.held_before):
            return self.first + self.succeeded, True
        for i in range(self.succeeded, -1, -1):
            if self.held_before[i] == self.held:
                return self.first + i, True
        return self.first + self.succeeded, False


def skills_of(task: Task, arm: str) -> tuple[Entry, ...]:
    """Return the skills of one arm in their order.

    Args:
        task: The task.
        arm: Name of the arm.
    """
    return tuple(entry for entry in task.entries if entry.arm == arm)


def label(task: Task, begin: Mapping[str, int]) -> str:
    """Return the text with which a task goes on; ``skipped`` reads it.

    Args:
        task: The task.
        begin: Index of each arm's next skill among its skills of the task; their count where none is left.

    Returns:
        ``<group>.<step>`` where every arm begins with a step; else ``<arm>=<group>.<step>.<skill>`` for each arm, with
        commas between them. All numbers count from 1.
    """
    done = {entry.path for arm, index in begin.items() for entry in skills_of(task, arm)[:index]}
    first = next((i for i, step in enumerate(task.steps) if _paths(task, i) - done), None)
    if first is None:
        return ""
    if not any(_paths(task, i) & done for i in range(first, len(task.steps))):
        return task.steps[first].label
    from_there = {arm for step in task.steps[first:] for arm in step.arms}
    return ",".join(f"{arm}={_place(task, arm, index)}" for arm, index in begin.items() if arm in from_there)


def skipped(task: Task, text: str) -> frozenset[str]:
    """Return the paths of the skills that do not run.

    Args:
        task: The task.
        text: Label as ``label`` writes it; empty: all skills run. An arm that it does not name begins at the earliest
            step that it names.

    Raises:
        ValueError: The label names no place of the task; lists the known ones.
    """
    if "=" not in text:
        return _before(task, task.index_of(text))
    begin: dict[str, tuple[int, int]] = {}
    for part in text.split(","):
        arm, _, place = (word.strip() for word in part.partition("="))
        if arm in begin:
            raise ValueError(f"arm {arm[:LONGEST]!r} is named twice; name each arm once")
        begin[arm] = _read(task, arm, place)
    earliest = _before(task, min(step for step, _ in begin.values()))
    named = {
        entry.path
        for arm, (step, skill) in begin.items()
        for i in range(step + 1)
        for entry in task.steps[i].arms.get(arm, ())[: skill if i == step else None]
    }
    return earliest | named


def _read(task: Task, arm: str, place: str) -> tuple[int, int]:
    """Return the index of the step, and of the arm's skill in it."""
    arms = sorted({entry.arm for entry in task.entries})
    if arm not in arms:
        raise ValueError(
            f"arm {arm[:LONGEST]!r} has no skill in task {task.name!r}; {nearest(arm[:LONGEST], arms)}"
        )
    step_label, _, number = place.rpartition(".")
    if not step_label:
        raise ValueError(f"{arm}={place[:LONGEST]} is no place; write {arm}=<group>.<step>.<skill>")
    step = task.index_of(step_label)
    count = len(task.steps[step].arms.get(arm, ()))
    if not count:
        raise ValueError(f"arm {arm!r} has no skill in step {step_label}; name a step in which it has one")
    # One more than there are says that the arm is done with the step.
    numbers = [str(n) for n in range(1, count + 2)]
    if number not in numbers:
        text = f"skill {number[:LONGEST]!r} is not in step {step_label} of arm {arm!r}"
        raise ValueError(
            f"{text}; write a number from 1 to {count}, or {count + 1} where all of them are done"
        )
    return step, int(number) - 1


def _place(task: Task, arm: str, index: int) -> str:
    mine = skills_of(task, arm)
    entry = mine[min(index, len(mine) - 1)]
    begins = next(i for i, one in enumerate(mine) if one.step == entry.step)
    return f"{entry.step}.{index - begins + 1}"


def _paths(task: Task, step: int) -> set[str]:
    return {entry.path for entries in task.steps[step].arms.values() for entry in entries}


def _before(task: Task, step: int) -> frozenset[str]:
    return frozenset().union(*(_paths(task, i) for i in range(step)))
