"""A skill that declares its stages, and nothing else of what it does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.stages import SkillStage
from skill_server.params.candidate_test import plans_approach
from skill_server.params.protocol import RunParams

from .commands import stage_commands
from .selection import choose_stages

P = TypeVar("P", bound=RunParams)


class StagedSkill(Skill[P]):
    """A skill whose feasibility and commands follow from stages. ``commands`` may still be overridden."""

    @abstractmethod
    def stages(self, params: P, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Return the alternative ways to do the skill, each as its stages in order. Moves nothing.

        Args:
            params: The goal's parameters.
            context: The ports and state of the run.

        Returns:
            The alternatives, best first, as ``choose_stages`` takes them; one suffices.

        Raises:
            StepFailed: Nothing can be done; the outcome names the constraint that removed the last alternative.
        """

    def chosen_stages(self, params: P, context: Context) -> tuple[SkillStage, ...]:
        """Return the stages of the best alternative that is feasible, with their configurations. Moves nothing.

        The free motion to it is planned as well where the goal has a ``test_mode`` that is ``forward``.

        Args:
            params: The goal's parameters.
            context: The ports and state of the run.

        Raises:
            StepFailed: No alternative is feasible; gives the count of every cause.
            Stopped: The token was set.
        """
        sequences = self.stages(params, context)
        return choose_stages(sequences, params, context, plans_approach=plans_approach(params))

    def commands(self, params: P, context: Context) -> Sequence[Command]:
        """See ``Skill``; the commands follow from the chosen stages."""
        return stage_commands(self.chosen_stages(params, context), params, context)
