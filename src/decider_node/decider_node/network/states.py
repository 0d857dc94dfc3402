"""State machines inside a decider: what goes on over many ticks, one step after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from .decider import C, Decider, Decision, TickContext


class State(Generic[C]):
    """One state. ``step`` returns itself to go on, another state to change, None at its end."""

    def enter(self, moment: TickContext[C]) -> None:
        """Begins."""

    def step(self, moment: TickContext[C]) -> State[C] | None:
        """Goes on by one tick."""
        return None

    def exit(self, moment: TickContext[C]) -> None:
        """Ends, also where the state is interrupted."""


class SequenceDecider(State[C]):
    """States one after the other. The next one is entered in the tick in which the last one ends."""

    def __init__(self, states: Sequence[State[C]], *, loops: bool = False) -> None:
        self._states, self._loops = tuple(states), loops
        self._index, self._current = 0, None if not states else states[0]

    def enter(self, moment: TickContext[C]) -> None:
        """Begins with the first state, also after an interruption."""
        self._go(0, moment)

    def step(self, moment: TickContext[C]) -> State[C] | None:
        """MotionSteps the state whose turn it is."""
        if self._current is None:
            return None
        following = self._current.step(moment)
        if following is not None:
            self._current = following
            return self
        self._current.exit(moment)
        self._go(self._index + 1, moment)
        return self if self._current is not None else None

    def exit(self, moment: TickContext[C]) -> None:
        """Ends the state whose turn it is."""
        if self._current is not None:
            self._current.exit(moment)
            self._current = None

    def _go(self, index: int, moment: TickContext[C]) -> None:
        if self._loops and self._states:
            index %= len(self._states)
        self._index = index
        self._current = self._states[index] if index < len(self._states) else None
        if self._current is not None:
            self._current.enter(moment)


class StateMachineDecider(Decider[C]):
    """A leaf that runs a state from its beginning each time it comes onto the path; at its end it idles."""

    def __init__(self, name: str, state: State[C]) -> None:
        super().__init__(name)
        self._first = state
        self._current: State[C] | None = None

    @property
    def is_done(self) -> bool:
        """Tells whether the state has come to its end, or was never begun."""
        return self._current is None

    def enter(self, moment: TickContext[C]) -> None:
        """Begins with the first state."""
        self._current = self._first
        self._current.enter(moment)

    def decide(self, moment: TickContext[C]) -> Decision | None:
        """MotionSteps the state; a change of state shows in the next tick."""
        if self._current is not None:
            following = self._current.step(moment)
            if following is not self._current:
                self._current.exit(moment)
                self._current = following
                if following is not None:
                    following.enter(moment)
        return None

    def exit(self, moment: TickContext[C]) -> None:
        """Ends the state."""
        if self._current is not None:
            self._current.exit(moment)
            self._current = None


class Lock(State[C]):
    """Keeps its machine on the path until ``Unlock``, for ``limit_s`` at most."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s

    def enter(self, moment: TickContext[C]) -> None:
        """Takes the lock."""
        moment.lock(self._limit_s)


class Unlock(State[C]):
    """Lets the deciders above its machine decide again."""

    def enter(self, moment: TickContext[C]) -> None:
        """Releases the lock."""
        moment.unlock()


class Write(State[C]):
    """Writes the context once."""

    def __init__(self, function: Callable[[C], None]) -> None:
        self._function = function

    def enter(self, moment: TickContext[C]) -> None:
        """Writes."""
        self._function(moment.context)
