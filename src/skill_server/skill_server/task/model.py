"""A task as values: steps one after the other, in each the arms at the same time, on each arm skills in order."""

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
    """One skill of a task. ``path`` is where it stands in the file, ``step`` the label of its step."""

    path: str
    step: str
    arm: str
    skill: Skill[Any]
    params: Any


@dataclass(frozen=True, eq=False)
class Step:
    """``label`` is "<group>.<step>" counted from 1; the next step begins when every arm is done."""

    label: str
    arms: Mapping[str, tuple[Entry, ...]]


@dataclass(frozen=True, eq=False)
class Task:
    """A whole file. ``notes``: parts of it that have no meaning here; ``robot``: as the file wants it."""

    name: str
    seed: int
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    robot: Robot | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every skill, in the order of the file."""
        return tuple(entry for step in self.steps for arm in step.arms.values() for entry in arm)

    def index_of(self, label: str) -> int:
        """Index of the step to begin at; the first for an empty label.

        Raises:
            ValueError: there is no such step; says which there are.
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
    """The seed of one skill: it depends on the task's seed and on the skill's place, not on what ran before."""
    digest = hashlib.sha256(f"{seed}/{step}/{arm}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
