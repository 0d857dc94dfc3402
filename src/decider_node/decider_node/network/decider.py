"""What a network is made of: deciders, the decisions they take, and what they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from .locks import Locks

C = TypeVar("C")
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Decision:
    """Which child comes next on the path, and what it is given."""

    child: str
    parameters: object = None


@dataclass(frozen=True, eq=False)
class TickContext(Generic[C]):
    """What a decider is told at each call.

    Attributes:
        context: the logical state, which monitors keep up to date.
        now_s: time of the tick [s], in the clock of whoever ticks the network.
        parameters: what the parent's decision gave.
        decider: the decider that is called.
        locks: the locks of the path that it is on.
    """

    context: C
    now_s: float
    parameters: object
    decider: Decider[C]
    locks: Locks

    def given(self, kind: type[P]) -> P:
        """Returns the parameters.

        Raises:
            TypeError: they are of another type.
        """
        if not isinstance(self.parameters, kind):
            found = type(self.parameters).__name__
            raise TypeError(
                f"decider {self.decider.name!r} needs parameters {kind.__name__}, was given {found}"
            )
        return self.parameters

    def lock(self, limit_s: float) -> None:
        """Keeps this decider on the path: what is above it does not decide until ``unlock``."""
        self.locks.take(self.decider, self.now_s, limit_s)

    def unlock(self) -> None:
        """Lets the deciders above decide again, from the next tick on."""
        self.locks.release(self.decider)


class Decider(Generic[C]):
    """A node of the network. One without children, or one that returns None, is the end of the path.

    ``decide`` is called at every tick at which the decider is on the path, and must return at once.
    ``enter`` is called once before, when it comes onto the path, ``exit`` once when it leaves it.
    """

    def __init__(self, name: str, children: Mapping[str, Decider[C]] | None = None) -> None:
        self.name = name
        self.children: dict[str, Decider[C]] = dict(children or {})

    def enter(self, moment: TickContext[C]) -> None:
        """Begins; what is remembered from the last time is forgotten here."""

    def decide(self, moment: TickContext[C]) -> Decision | None:
        """Returns the child that goes on, or None."""
        return None

    def exit(self, moment: TickContext[C]) -> None:
        """Ends, also where the work is not done."""
