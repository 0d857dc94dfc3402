"""A task as values: steps in order, in each step the arms at the same time, on each arm skills in order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    """

    path: str
    step: str
    arm: str
    skill: Skill[Any]
    params: Any


@dataclass(frozen=True, eq=False)
class TaskStep:
    """One step of a task; the next one begins when every arm is done.

    Attributes:
        label: "<group>.<step>", counted from 1.
        arms: Skills in order, by arm.
    """

    label: str
    arms: Mapping[str, tuple[Entry, ...]]


@dataclass(frozen=True, eq=False)
class Task:
    """A whole file.

    Attributes:
        name: Name of the task.
        seed: Seed of the task.
        steps: Steps in order.
        notes: Parts of the file that have no meaning here.
        robot: Robot with the changes of the file; None for the robot of the stack.
    """

    name: str
    seed: int
    steps: tuple[TaskStep, ...]
    notes: tuple[str, ...] = ()
    robot: Robot | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every skill, in the order of the file."""
        return tuple(entry for step in self.steps for arm in step.arms.values() for entry in arm)

    def index_of(self, label: str) -> int:
        """Return the index of the step to begin at.

        Args:
            label: Label of the step; empty for the first.

        Returns:
            The index in ``steps``.

        Raises:
            ValueError: There is no such step; lists the known ones.
        """
        labels = [step.label for step in self.steps]
        if not label:
            return 0
        if label not in labels:
            raise ValueError(
                f"step {label[:80]!r} is not in task {self.name!r}; {nearest(label[:80], labels)}"
            )
        return labels.index(label)


def derived_seed(seed: int, step: str, arm: str, index: int) -> int:
    """Return the seed of one skill.

    It depends on the task's seed and on the skill's place, not on the skills that ran before.

    Args:
        seed: Seed of the task.
        step: Label of the step.
        arm: Name of the arm.
        index: Index of the skill in the arm's list.

    Returns:
        A number of at most 63 bits.
    """
    digest = hashlib.sha256(f"{seed}/{step}/{arm}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
