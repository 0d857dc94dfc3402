"""State machines inside a decider, for actions that take many ticks, one step after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from .decider import C, Decider, Decision, TickContext


class State(Generic[C]):
    """One state. ``step`` returns itself to go on, another state to change, None at its end."""

    def enter(self, moment: TickContext[C]) -> None:
        """Begin.

        Args:
            moment: The context of this tick.
        """

    def step(self, moment: TickContext[C]) -> State[C] | None:
        """Go on by one tick.

        Args:
            moment: The context of this tick.

        Returns:
            The state itself to go on, another state to change, None at the end.
        """
        return None

    def exit(self, moment: TickContext[C]) -> None:
        """End, also when the state is interrupted.

        Args:
            moment: The context of this tick.
        """


class SequenceDecider(State[C]):
    """States one after the other. The next one is entered in the tick in which the last one ends.

    Args:
        states: The states in order.
        loops: True to begin again with the first state after the last.
    """

    def __init__(self, states: Sequence[State[C]], *, loops: bool = False) -> None:
        self._states, self._loops = tuple(states), loops
        self._index, self._current = 0, None if not states else states[0]

    def enter(self, moment: TickContext[C]) -> None:
        """Begin with the first state, also after an interruption."""
        self._go(0, moment)

    def step(self, moment: TickContext[C]) -> State[C] | None:
        """Step the current state."""
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
        """End the current state."""
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
    """A leaf that runs a state from its beginning each time it comes onto the path; at its end it idles.

    Args:
        name: Name of the decider.
        state: The first state.
    """

    def __init__(self, name: str, state: State[C]) -> None:
        super().__init__(name)
        self._first = state
        self._current: State[C] | None = None

    @property
    def is_done(self) -> bool:
        """True when the state has come to its end, or was never begun."""
        return self._current is None

    def enter(self, moment: TickContext[C]) -> None:
        """Begin with the first state."""
        self._current = self._first
        self._current.enter(moment)

    def decide(self, moment: TickContext[C]) -> Decision | None:
        """Step the state; a change of state takes effect in the next tick."""
        if self._current is not None:
            following = self._current.step(moment)
            if following is not self._current:
                self._current.exit(moment)
                self._current = following
                if following is not None:
                    following.enter(moment)
        return None

    def exit(self, moment: TickContext[C]) -> None:
        """End the state."""
        if self._current is not None:
            self._current.exit(moment)
            self._current = None


class Lock(State[C]):
    """Keeps its machine on the path until ``Unlock``.

    Args:
        limit_s: Longest time of the lock, s.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s

    def enter(self, moment: TickContext[C]) -> None:
        """Take the lock."""
        moment.lock(self._limit_s)


class Unlock(State[C]):
    """Lets the deciders above its machine decide again."""

    def enter(self, moment: TickContext[C]) -> None:
        """Release the lock."""
        moment.unlock()


class Write(State[C]):
    """Writes the context once.

    Args:
        function: Takes the context.
    """

    def __init__(self, function: Callable[[C], None]) -> None:
        self._function = function

    def enter(self, moment: TickContext[C]) -> None:
        """Call the function."""
        self._function(moment.context)
