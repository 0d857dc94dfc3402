"""A decider that takes the first child that can do something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from .decider import C, Decider, Decision, TickContext
from .traversal import Rules


class Option(Decider[C]):
    """A child that knows whether it can begin and whether it can go on."""

    def is_enterable(self, moment: TickContext[C]) -> bool:
        """Check whether it can begin.

        Args:
            moment: The context of this tick.
        """
        return True

    def is_runnable(self, moment: TickContext[C]) -> bool:
        """Check whether it can go on; usually easier to meet than ``is_enterable``, so that choices do not flip.

        Args:
            moment: The context of this tick.
        """
        return True


class Selector(Decider[C], Generic[C]):
    """Takes the first option that holds: ``is_runnable`` for the one that is active, ``is_enterable`` for others.

    Under ``Rules.CORTEX`` only the option of highest priority is ever asked whether it is runnable.

    Args:
        name: Name of the decider.
        options: The options, highest priority first.
        rules: The rules of the comparison.
    """

    def __init__(self, name: str, options: Sequence[Option[C]], rules: Rules = Rules.STRICT) -> None:
        super().__init__(name, {option.name: option for option in options})
        self._options, self._rules = tuple(options), rules
        self._active: Option[C] | None = None

    def enter(self, moment: TickContext[C]) -> None:
        """Forget which option was active."""
        self._active = None

    def decide(self, moment: TickContext[C]) -> Decision | None:
        """Return the option of highest priority that holds, or None."""
        for rank, option in enumerate(self._options):
            asks_to_go_on = option is self._active and (rank == 0 or self._rules is Rules.STRICT)
            if option.is_runnable(moment) if asks_to_go_on else option.is_enterable(moment):
                self._active = option
                return Decision(option.name)
        self._active = None
        return None
