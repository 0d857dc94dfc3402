"""States that end by time or by a condition, and deciders inside states. All times are those of the ticks."""

from __future__ import annotations

from collections.abc import Callable

from .decider import C, Decider, TickContext
from .states import State
from .traversal import Descent, Rules

SAME_TIME_S = 1e-9
"""Sums of periods are too short by up to this, s."""


class WaitState(State[C]):
    """Ends with the first tick that is ``duration_s`` or more after its beginning.

    Args:
        duration_s: Time of the state, s.
    """

    def __init__(self, duration_s: float) -> None:
        self._duration_s, self._start_s = duration_s, 0.0

    def enter(self, moment: TickContext[C]) -> None:
        """Remember the time."""
        self._start_s = moment.now_s

    def step(self, moment: TickContext[C]) -> State[C] | None:
        """End after the duration."""
        return None if moment.now_s - self._start_s >= self._duration_s - SAME_TIME_S else self


class RunUntil(State[C]):
    """Runs a decider, and all below it, until a condition holds after a tick; so for one tick at least.

    Args:
        decider: Root of the inner path.
        is_over: Returns True at the end.
        rules: The rules for entering and leaving.
    """

    def __init__(
        self, decider: Decider[C], is_over: Callable[[TickContext[C]], bool], rules: Rules = Rules.STRICT
    ) -> None:
        self._descent, self._is_over = Descent(decider, rules), is_over

    def step(self, moment: TickContext[C]) -> State[C] | None:
        """Walk down the inner path once."""
        self._descent.step(moment.context, moment.now_s)
        return None if self._is_over(moment) else self

    def exit(self, moment: TickContext[C]) -> None:
        """Leave the inner path, leaf first."""
        self._descent.leave(moment.context, moment.now_s)


class RunFor(RunUntil[C]):
    """Runs a decider for a time, for one tick at least.

    Args:
        decider: Root of the inner path.
        duration_s: Time of the state, s.
        rules: The rules for entering and leaving.
    """

    def __init__(self, decider: Decider[C], duration_s: float, rules: Rules = Rules.STRICT) -> None:
        self._start_s = 0.0
        super().__init__(
            decider, lambda moment: moment.now_s - self._start_s >= duration_s - SAME_TIME_S, rules
        )

    def enter(self, moment: TickContext[C]) -> None:
        """Remember the time."""
        self._start_s = moment.now_s


class Act(State[C]):
    """Calls a function at every tick until it returns True.

    Args:
        name: Its name in the error.
        action: The function.
        limit_s: Time after which the state raises, s.
    """

    def __init__(self, name: str, action: Callable[[TickContext[C]], bool], limit_s: float) -> None:
        self.name, self._action, self._limit_s, self._start_s = name, action, limit_s, 0.0

    def enter(self, moment: TickContext[C]) -> None:
        """Remember the time."""
        self._start_s = moment.now_s

    def step(self, moment: TickContext[C]) -> State[C] | None:
        """Call the function.

        Raises:
            TimeoutError: It was not done within its limit.
        """
        if self._action(moment):
            return None
        if moment.now_s - self._start_s > self._limit_s:
            raise TimeoutError(f"{self.name} was not done within {self._limit_s} s")
        return self
