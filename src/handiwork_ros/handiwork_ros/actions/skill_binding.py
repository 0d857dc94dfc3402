"""The connection between a skill and its action, and the answers of its check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Outcome


class Ended(Protocol):
    """A value that a body returns: anything that has an outcome."""

    @property
    def outcome(self) -> Outcome:
        """The outcome of the body."""
        ...


E = TypeVar("E", bound=Ended)
Report = Callable[[Progress], None]


class GoalRejected(HandiworkError):
    """A goal that is answered at once, because it cannot be done or needs no motion.

    Raised by ``SkillBinding.admit``, caught by the action server only.

    Args:
        outcome: Answer to the goal.
        ended: Second argument of ``SkillBinding.encode``; None if there is no result.
    """

    def __init__(self, outcome: Outcome, ended: Any = None) -> None:
        super().__init__(outcome)
        self.ended = ended


@dataclass(frozen=True)
class ArmRequest(Generic[E]):
    """A body with the arms that it needs.

    Attributes:
        arms: Names of the arms. All of them are held while the body runs on the first one's worker.
        body: The body.
    """

    arms: tuple[str, ...]
    body: Callable[[Token, Report], E]


@dataclass(frozen=True)
class SkillBinding(Generic[E]):
    """The connection between a skill and its action.

    Attributes:
        name: Name of the action.
        action_type: Type of the action. A goal's field ``time_allowance`` limits its time; a field ``when_busy`` that
            is not empty replaces the server's policy.
        admit: Checks a goal message on the thread of an ``AdmissionQueue`` and within its time, and moves nothing. It
            returns the body or raises ``GoalRejected``. The body runs on the arm's worker and returns once the arm is
            at rest.
        encode: Makes the result message; its second argument is None if the body did not end by itself.
        feedback: Makes the feedback message.
        label: Returns the holder of the arm for a goal message; without it the holder is ``name``.
        encode_for: Makes the result in place of ``encode`` if it depends on the goal message as well. If it fails,
            ``encode`` is called, and if that fails too, the result holds the outcome alone.
    """

    name: str
    action_type: Any
    admit: Callable[[Any], Callable[[Token, Report], E] | ArmRequest[E]]
    encode: Callable[[Outcome, E | None], Any]
    feedback: Callable[[Progress], Any]
    label: Callable[[Any], str] | None = None
    encode_for: Callable[[Any, Outcome, E | None], Any] | None = None
