"""The progress of a task: stages one after the other, groups side by side, conditions in order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conditionals_node.predicates.counting import Logical
from handiwork_core.contracts.predicate import Truth

TruthOf = Callable[["Step"], Truth]


@dataclass(frozen=True, slots=True)
class Step:
    """A condition of a sequence.

    Attributes:
        key: Key of the condition.
        weight: Its part in the group's score, 0 or more.
        releases: True when the object is in its place, and may be let go, once this has held.
    """

    key: str
    weight: float = 1.0
    releases: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Conditions in order.

    Attributes:
        name: Name of the group.
        steps: The conditions.
        skip: True when a later condition that holds completes those before it; else each must have held in its
            turn.

    Raises:
        ValueError: There are no conditions, or a weight is negative.
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
        """Return the weights, scaled to a sum of one; all are zero where all weights are."""
        total = max(sum(step.weight for step in self.steps), 1e-9)
        return tuple(step.weight / total for step in self.steps)


@dataclass(frozen=True, slots=True)
class SubtaskStage:
    """Groups side by side.

    Attributes:
        name: Name of the stage.
        groups: The groups.
        logical: The number of groups that must be completed.
        k: This number for ``CHOOSE``; else it does not count.
        weight: Share in the task's score, 0 to 1.

    Raises:
        ValueError: There are no groups, or a number is out of its range.
    """

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
        """The number of groups that must be completed; ``choose`` means K groups or more."""
        return self.logical.bounds(len(self.groups), self.k)[0]

    def score(self, scores: Sequence[float]) -> float:
        """Return the score of the stage, 0 to 1: the mean of the best groups, as many as are needed.

        Args:
            scores: Scores of all groups, 0 to 1.
        """
        best = sorted(scores, reverse=True)[: self.needed]
        return sum(best) / self.needed


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a group by one snapshot.

    Attributes:
        group: The group.
        gained: True when conditions were completed, False when they were lost.
        first: Index of the first of these conditions.
        end: Index behind the last of them.
    """

    group: Group
    gained: bool
    first: int
    end: int

    @property
    def step(self) -> Step:
        """The condition that made the change: the last gained or the first lost."""
        return self.group.steps[self.end - 1 if self.gained else self.first]


class GroupRun:
    """The progress of one group.

    Args:
        group: The group.
    """

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
        """Return the score of the group, 0 to 1."""
        return sum((share for share, held in zip(self._shares, self.completed, strict=True) if held), 0.0)

    def update(self, truth: TruthOf) -> Change | None:
        """Go forward where a condition holds, else back to the first of those before that have ceased to hold.

        Args:
            truth: Returns the value of a condition on the present snapshot. UNKNOWN changes nothing.

        Returns:
            The change; None without one.
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
    """The progress of one stage.

    Args:
        stage: The stage.
    """

    def __init__(self, stage: SubtaskStage) -> None:
        self.stage = stage
        self.groups = [GroupRun(group) for group in stage.groups]

    @property
    def done(self) -> bool:
        """True when enough groups are completed."""
        return sum(run.done for run in self.groups) >= self.stage.needed

    def score(self) -> float:
        """Return the score of the stage, 0 to 1; 1 when done."""
        return self.stage.score([run.score() for run in self.groups])

    def update(self, truth: TruthOf) -> list[Change]:
        """Update all groups on one snapshot.

        Args:
            truth: Returns the value of a condition on the present snapshot.

        Returns:
            The changes, in the order of the groups.
        """
        changes = [run.update(truth) for run in self.groups]
        return [change for change in changes if change is not None]


class TaskRun:
    """The progress of a task: one stage at a time; a snapshot finishes at most one.

    Args:
        stages: The stages in order.
    """

    def __init__(self, stages: Sequence[SubtaskStage]) -> None:
        self.stages = tuple(stages)
        self.runs = [StageRun(stage) for stage in stages]
        self.current = 0

    @property
    def done(self) -> bool:
        """True when all stages are finished."""
        return self.current == len(self.runs)

    @property
    def run(self) -> StageRun | None:
        """The stage that runs; None when all are finished."""
        return None if self.done else self.runs[self.current]

    def score(self) -> float:
        """Return the score of the task, 0 to 1; finished stages count in full and never go back."""
        if self.done:
            return 1.0
        total = sum(stage.weight for stage in self.stages)
        earned = sum(stage.weight for stage in self.stages[: self.current])
        return (earned + self.runs[self.current].score() * self.stages[self.current].weight) / max(
            total, 1e-9
        )

    def update(self, truth: TruthOf) -> list[Change]:
        """Update the running stage on one snapshot.

        Args:
            truth: Returns the value of a condition on the present snapshot.

        Returns:
            The changes of its groups; empty when the task is done.
        """
        run = self.run
        if run is None:
            return []
        changes = run.update(truth)
        if run.done:
            self.current += 1
        return changes

    def missing(self) -> Step | None:
        """Return the next condition of the first group that is not completed; None without such a group."""
        run = self.run
        waiting = [] if run is None else [group for group in run.groups if not group.done]
        return waiting[0].group.steps[waiting[0].next] if waiting else None
