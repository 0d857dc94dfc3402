"""The section ``task`` of a conditions file."""

from __future__ import annotations

from dataclasses import dataclass, field

from conditionals_node.composites import PickAndPlace, PickAndPlaceOnSurface, StepSpec
from conditionals_node.events.task_event import EventRules
from conditionals_node.expressions.definitions import check_flip
from conditionals_node.predicates.counting import Logical

from .success import SuccessRules


@dataclass(frozen=True, slots=True)
class SubtaskSpec:
    """One stage: ``groups`` of conditions in order, or a composite that stands for them.

    Attributes:
        name: Name of the stage.
        groups: Conditions in order, by the group's name.
        pick_and_place: A composite in place of ``groups``.
        pick_and_place_on_surface: A composite in place of ``groups``.
        logical: The number of groups that are needed.
        K: This number for ``choose``, which means K or more.
        score: Share in the task's score, 0 to 1.
        skip: True when a later condition completes those before it.
        objects: The objects to be moved, where the conditions themselves do not say it.
        lasts: True when the last conditions of its groups must still hold at the end of the task. Left out: those of
            composites and of the last stage must.
    """

    name: str
    groups: dict[str, tuple[StepSpec, ...]] = field(default_factory=dict)
    pick_and_place: PickAndPlace | None = None
    pick_and_place_on_surface: PickAndPlaceOnSurface | None = None
    logical: Logical = Logical.ALL
    K: int = 1
    score: float = 1.0
    skip: bool = False
    objects: tuple[str, ...] = ()
    lasts: bool | None = None

    def __post_init__(self) -> None:
        given = [
            bool(self.groups),
            self.pick_and_place is not None,
            self.pick_and_place_on_surface is not None,
        ]
        if sum(given) != 1:
            raise ValueError("write exactly one of groups, pick_and_place, pick_and_place_on_surface")
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(f"score: is {self.score:g}; write 0 to 1")
        if self.logical is not Logical.CHOOSE and self.K != 1:
            raise ValueError(f"K: is {self.K}; it counts with logical: choose only")

    @property
    def composite(self) -> PickAndPlace | PickAndPlaceOnSurface | None:
        """The composite that stands for the groups; None without one."""
        return self.pick_and_place or self.pick_and_place_on_surface

    def expanded(self) -> dict[str, tuple[StepSpec, ...]]:
        """Return the groups by name, those of a composite included."""
        return self.groups if self.composite is None else self.composite.groups()


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """Stages one after the other, the options of success, and the limits of events.

    ``max_flip`` is the largest probability that noise turns a condition of the task with which it is TRUE or FALSE;
    None: that of the node.
    """

    name: str
    subtasks: tuple[SubtaskSpec, ...]
    success: SuccessRules = field(default_factory=SuccessRules)
    events: EventRules = field(default_factory=EventRules)
    max_flip: float | None = None

    def __post_init__(self) -> None:
        check_flip(self.max_flip)
        if not self.subtasks:
            raise ValueError("subtasks: is empty; give at least one")
        names = [subtask.name for subtask in self.subtasks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"subtasks: {twice} occur twice; rename one")
