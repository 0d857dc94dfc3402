"""The parts of a network: deciders, their decisions, and the context of a tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from .locks import Locks

C = TypeVar("C")
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Decision:
    """The next child on the path, and the parameters that it gets."""

    child: str
    parameters: object = None


@dataclass(frozen=True, eq=False)
class TickContext(Generic[C]):
    """The arguments of a decider at each call.

    Attributes:
        context: The logical state, which monitors keep up to date.
        now_s: Time of the tick, s, in the clock of the caller of ``Network.tick``.
        parameters: The parameters of the parent's decision.
        decider: The decider that is called.
        locks: The locks of its path.
    """

    context: C
    now_s: float
    parameters: object
    decider: Decider[C]
    locks: Locks

    def given(self, kind: type[P]) -> P:
        """Return the parameters.

        Args:
            kind: Their type.

        Raises:
            TypeError: They are of another type.
        """
        if not isinstance(self.parameters, kind):
            found = type(self.parameters).__name__
            raise TypeError(
                f"decider {self.decider.name!r} needs parameters {kind.__name__}, was given {found}"
            )
        return self.parameters

    def lock(self, limit_s: float) -> None:
        """Keep this decider on the path: the deciders above it do not decide until ``unlock``.

        Args:
            limit_s: Time after which a lock that is still held is an error, more than 0, s.

        Raises:
            ValueError: The limit is not more than 0.
        """
        self.locks.take(self.decider, self.now_s, limit_s)

    def unlock(self) -> None:
        """Let the deciders above decide again, from the next tick on."""
        self.locks.release(self.decider)


class Decider(Generic[C]):
    """A node of the network. One without children, or one that returns None, is the end of the path.

    ``decide`` is called at every tick at which the decider is on the path, and must return at once. ``enter`` is
    called once before, when it comes onto the path, ``exit`` once when it leaves it.

    Args:
        name: Its name in errors and in the text view.
        children: The deciders that can follow it, by name.
    """

    def __init__(self, name: str, children: Mapping[str, Decider[C]] | None = None) -> None:
        self.name = name
        self.children: dict[str, Decider[C]] = dict(children or {})

    def enter(self, moment: TickContext[C]) -> None:
        """Begin; forget the state of the last time.

        Args:
            moment: The context of this tick.
        """

    def decide(self, moment: TickContext[C]) -> Decision | None:
        """Return the child that goes on.

        Args:
            moment: The context of this tick.

        Returns:
            The decision; None ends the path here.
        """
        return None

    def exit(self, moment: TickContext[C]) -> None:
        """End, also when the work is not done.

        Args:
            moment: The context of this tick.
        """
