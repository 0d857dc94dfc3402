"""What a skill says of its commands while they are executed: whether one is done, and whether all are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill, waypoint_reached
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from skill_server.params.protocol import RunParams

P = TypeVar("P", bound=RunParams)
SubtaskDone = Callable[[Command, World, Context], Outcome]
Done = Callable[[Sequence[Command], Context], bool]


@dataclass(frozen=True, slots=True)
class CommandJudge:
    """The two judgements that a skill may override.

    Attributes:
        is_subtask_done: See ``Skill.is_subtask_done``.
        is_done: See ``Skill.is_done``.
    """

    is_subtask_done: SubtaskDone
    is_done: Done


def judge_of(skill: Skill[P], params: P) -> CommandJudge:
    """Return the judgements of a skill for one goal.

    Args:
        skill: The skill.
        params: Parameters of the goal.
    """
    return CommandJudge(partial(skill.is_subtask_done, params), partial(skill.is_done, params))


def plain_judge(params: RunParams) -> CommandJudge:
    """Return the judgements for commands that no skill made, such as a step back.

    Args:
        params: Parameters with the tolerances of a waypoint.
    """
    return CommandJudge(partial(waypoint_reached, params), lambda rest, _context: not rest)
