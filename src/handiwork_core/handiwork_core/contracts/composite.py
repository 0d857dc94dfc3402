"""Skills that are done by other skills, one after the other, each chosen in the world as the one before has left it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from handiwork_core.model.outcome import Outcome

from .commands import Command
from .skill import Context, Skill

P = TypeVar("P")
Steps = Generator["SkillStep", Outcome, None]
"""Yields each step once the one before has ended, and is sent the outcome of that."""


@dataclass(frozen=True, slots=True)
class SkillStep:
    """One step of a composite skill.

    Attributes:
        label: Name of the step in feedback, results and failures; its stages are called ``<label>: <stage>``.
        skill: The skill that does it.
        params: Checked parameters of the skill.
        left: Number of steps that are expected to follow, for the progress.
        arm: The arm that does it, one of the goal's further arms; empty: the goal's own.
    """

    label: str
    skill: Skill[Any]
    params: Any
    left: int = 0
    arm: str = ""


class CompositeSkill(Skill[P]):
    """A skill that is done by others. It decides what the next step is; the executor does the step."""

    @abstractmethod
    def steps(self, params: P, context: Context) -> Steps:
        """Yield the steps one by one. May ask the planner; must not move anything.

        The next step is asked for once the last one has ended, so it can be chosen by what was measured since. The
        ``yield`` returns the outcome of the step, good or bad; raise it as ``StepFailed`` where another step makes no
        sense.

        Args:
            params: The goal's parameters.
            context: The ports and state of the run.

        Raises:
            StepFailed: Nothing more can be done; the outcome says why.
        """

    def commands(self, params: P, context: Context) -> Sequence[Command]:
        """Return the commands of the first step: those of later ones depend on how it ends."""
        first = next(self.steps(params, context))
        own = context.partners[first.arm] if first.arm else context
        return first.skill.commands(first.params, own)
