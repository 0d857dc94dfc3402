"""How far a task is: stages one after the other, groups side by side, conditions in order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from handiwork_core.contracts.predicate import Truth

TruthOf = Callable[["Step"], Truth]


class Logical(Enum):
    """How many groups of a stage must be completed."""

    ALL = "all"
    ANY = "any"
    CHOOSE = "choose"
    """K or more."""


@dataclass(frozen=True, slots=True)
class Step:
    """A condition of a sequence, by its key, and its part in the group's score.

    ``releases``: once it has held, the object is where it belongs and may be let go.
    """

    key: str
    weight: float = 1.0
    releases: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Conditions in order.

    ``skip``: a later condition that holds completes those before it; else each must have held in its turn.
    """

    name: str
    steps: tuple[Step, ...]
    skip: bool = False

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError(f"group {self.name!r} has no conditions; give it one")
        if min(step.weight for step in self.steps) < 0.0:
            raise ValueError(f"group {self.name!r}: a score is negative; write 0 or more")

    def shares(self) -> tuple[float, ...]:
        """Weights that sum up to one; all zero where all weights are."""
        total = max(sum(step.weight for step in self.steps), 1e-9)
        return tuple(step.weight / total for step in self.steps)


@dataclass(frozen=True, slots=True)
class Stage:
    """Groups side by side; ``weight`` is the share in the task's score, ``k`` counts for ``CHOOSE`` only."""

    name: str
    groups: tuple[Group, ...]
    logical: Logical = Logical.ALL
    k: int = 1
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("groups: is empty; give at least one")
        if self.logical is Logical.CHOOSE and not 1 <= self.k <= len(self.groups):
            raise ValueError(f"K: is {self.k}; with {len(self.groups)} groups write 1 to {len(self.groups)}")
        if not 0.0 <= self.weight <= 1.0:
            raise ValueError(f"score: is {self.weight:g}; write 0 to 1")

    @property
    def needed(self) -> int:
        """Groups that must be completed."""
        return {Logical.ALL: len(self.groups), Logical.ANY: 1, Logical.CHOOSE: self.k}[self.logical]

    def score(self, scores: Sequence[float]) -> float:
        """0 to 1 from the groups' scores: the mean of the best that are needed."""
        best = sorted(scores, reverse=True)[: self.needed]
        return sum(best) / self.needed


@dataclass(frozen=True, slots=True)
class Change:
    """What one snapshot did to a group: conditions ``first`` up to ``end`` were completed, or lost."""

    group: Group
    gained: bool
    first: int
    end: int

    @property
    def step(self) -> Step:
        """The condition that made the change: the last gained, the first lost."""
        return self.group.steps[self.end - 1 if self.gained else self.first]


class GroupRun:
    """One group on its way."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.next = 0
        self.completed = [False] * len(group.steps)
        self._shares = group.shares()

    @property
    def done(self) -> bool:
        """True once the last condition has held; from then on nothing is lost."""
        return self.next == len(self.completed)

    @property
    def released(self) -> bool:
        """True once the object may be let go."""
        held = zip(self.group.steps, self.completed, strict=True)
        return self.done or any(step.releases and completed for step, completed in held)

    def score(self) -> float:
        """0 to 1."""
        return sum((share for share, held in zip(self._shares, self.completed, strict=True) if held), 0.0)

    def update(self, truth: TruthOf) -> Change | None:
        """Go forward where a condition holds, else back to the first of those before that have ceased to hold.

        What is UNKNOWN moves nothing.
        """
        if self.done:
            return None
        end = self._furthest(truth)
        if end > self.next:
            first, self.next = self.next, end
            self.completed[first:end] = [True] * (end - first)
            return Change(self.group, True, first, end)
        first = self.next
        while first > 0 and truth(self.group.steps[first - 1]) is Truth.FALSE:
            first -= 1
        if first == self.next:
            return None
        end, self.next = self.next, first
        self.completed[first:] = [False] * (len(self.completed) - first)
        return Change(self.group, False, first, end)

    def _furthest(self, truth: TruthOf) -> int:
        steps = self.group.steps
        if self.group.skip:
            holding = [i for i in range(self.next, len(steps)) if truth(steps[i]) is Truth.TRUE]
            return holding[-1] + 1 if holding else self.next
        end = self.next
        while end < len(steps) and truth(steps[end]) is Truth.TRUE:
            end += 1
        return end


class StageRun:
    """One stage on its way."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.groups = [GroupRun(group) for group in stage.groups]

    @property
    def done(self) -> bool:
        """True when enough groups are completed."""
        return sum(run.done for run in self.groups) >= self.stage.needed

    def score(self) -> float:
        """0 to 1; 1 when done."""
        return self.stage.score([run.score() for run in self.groups])

    def update(self, truth: TruthOf) -> list[Change]:
        """All groups on one snapshot."""
        changes = [run.update(truth) for run in self.groups]
        return [change for change in changes if change is not None]


class TaskRun:
    """A task on its way: one stage at a time, at most one is finished by a snapshot."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)
        self.runs = [StageRun(stage) for stage in stages]
        self.current = 0

    @property
    def done(self) -> bool:
        """True when all stages are finished."""
        return self.current == len(self.runs)

    @property
    def run(self) -> StageRun | None:
        """The stage that runs."""
        return None if self.done else self.runs[self.current]

    def score(self) -> float:
        """0 to 1; finished stages count in full and never go back."""
        if self.done:
            return 1.0
        total = sum(stage.weight for stage in self.stages)
        earned = sum(stage.weight for stage in self.stages[: self.current])
        return (earned + self.runs[self.current].score() * self.stages[self.current].weight) / max(
            total, 1e-9
        )

    def update(self, truth: TruthOf) -> list[Change]:
        """Take one snapshot."""
        run = self.run
        if run is None:
            return []
        changes = run.update(truth)
        if run.done:
            self.current += 1
        return changes

    def missing(self) -> Step | None:
        """The condition that the first group not completed waits for."""
        run = self.run
        waiting = [] if run is None else [group for group in run.groups if not group.done]
        return waiting[0].group.steps[waiting[0].next] if waiting else None
