"""One walk down the network, and the deciders that enter and leave the path by it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Generic

from .decider import C, Decider, Decision, TickContext
from .errors import CycleFound, DeciderFailed, LockNotReleased, MissingChild, NetworkError
from .locks import Locks


class Rules(enum.Enum):
    """The rules for entering and leaving.

    ``STRICT``: a decider that leaves the path always gets its exit, one that stays never does, and a lock ends with
    its decider's session. ``CORTEX``: the same calls as in Isaac Cortex, for comparisons. There a path that becomes
    shorter gives no exit, one that becomes longer than before gives an exit to all that stay, and reset gives none
    and keeps the locks.
    """

    STRICT = "strict"
    CORTEX = "cortex"


@dataclass(frozen=True, eq=False)
class PathEntry(Generic[C]):
    """A decider on the path, and the last parameters from its parent."""

    decider: Decider[C]
    parameters: object


class Descent(Generic[C]):
    """The path below one root. It begins empty.

    Args:
        root: The first decider of the path.
        rules: The rules for entering and leaving.

    Raises:
        CycleFound: A decider is below itself.
    """

    def __init__(self, root: Decider[C], rules: Rules = Rules.STRICT) -> None:
        refuse_cycles(root)
        self.root, self.rules, self.locks = root, rules, Locks()
        self._path: list[PathEntry[C]] = []

    @property
    def path(self) -> tuple[Decider[C], ...]:
        """The deciders on the path, root first."""
        return tuple(placed.decider for placed in self._path)

    @property
    def locked_at(self) -> int | None:
        """Depth of the lock that counts, which is that nearest to the root; None: nothing is locked."""
        for depth, placed in enumerate(self._path):
            if placed.decider in self.locks:
                return depth
        return None

    def step(self, context: C, now_s: float) -> None:
        """Walk down once, from the root or from the locked decider.

        Args:
            context: The logical state.
            now_s: Time of the tick, s.

        Raises:
            NetworkError: A decider failed or decided wrongly. ``leave`` must follow.
        """
        start = self.locked_at
        if start is not None:
            self._refuse_old_lock(self._path[start].decider, now_s)
        depth = start or 0
        old, self._path = self._path, self._path[:depth]
        next_one = PathEntry(self.root, None) if start is None else old[start]
        branched = False
        while True:
            if not branched and (depth >= len(old) or old[depth].decider is not next_one.decider):
                branched = True
                self._leave_old(old, depth, context, now_s)
            decision = self._visit(next_one, branched, context, now_s)
            depth += 1
            if decision is None:
                break
            next_one = self._child(next_one.decider, decision)
        if not branched and self.rules is Rules.STRICT:
            self._exit_all(old[depth:], context, now_s)

    def leave(self, context: C, now_s: float) -> None:
        """Empty the path, with all exits.

        Args:
            context: The logical state.
            now_s: Time of the tick, s.

        Raises:
            DeciderFailed: An exit raised; the others were called all the same.
        """
        path, self._path = self._path, []
        try:
            self._exit_all(path, context, now_s)
        finally:
            self.locks.clear()

    def drop(self) -> None:
        """Empty the path without exits and with the locks kept, as Cortex does at a reset."""
        self._path = []

    def moment(self, placed: PathEntry[C], context: C, now_s: float) -> TickContext[C]:
        """Return the context of this tick for a decider on the path.

        Args:
            placed: The decider with its parameters.
            context: The logical state.
            now_s: Time of the tick, s.
        """
        return TickContext(context, now_s, placed.parameters, placed.decider, self.locks)

    def _visit(self, placed: PathEntry[C], is_new: bool, context: C, now_s: float) -> Decision | None:
        moment = self.moment(placed, context, now_s)
        self._path.append(placed)
        try:
            if is_new:
                placed.decider.enter(moment)
            return placed.decider.decide(moment)
        except NetworkError:
            raise
        except Exception as error:
            raise DeciderFailed(placed.decider.name, "enter or decide", error) from error

    def _child(self, parent: Decider[C], decision: Decision) -> PathEntry[C]:
        child = parent.children.get(decision.child)
        if child is None:
            raise MissingChild(parent.name, decision.child, parent.children)
        if any(placed.decider is child for placed in self._path):
            raise CycleFound([*(placed.decider.name for placed in self._path), child.name])
        return PathEntry(child, decision.parameters)

    def _leave_old(self, old: list[PathEntry[C]], depth: int, context: C, now_s: float) -> None:
        """Call the exits of the deciders that the new path does not have, leaf first."""
        stays = depth if self.rules is Rules.STRICT or depth < len(old) else 0
        self._exit_all(old[stays:], context, now_s)

    def _exit_all(self, leaving: list[PathEntry[C]], context: C, now_s: float) -> None:
        """Call every exit, also after one has raised; the first error is raised at the end."""
        first: DeciderFailed | None = None
        for placed in reversed(leaving):
            try:
                placed.decider.exit(self.moment(placed, context, now_s))
            except Exception as error:  # noqa: BLE001 # the other deciders must still be left
                first = first or DeciderFailed(placed.decider.name, "exit", error)
            if self.rules is Rules.STRICT:
                self.locks.release(placed.decider)
        if first is not None:
            raise first

    def _refuse_old_lock(self, decider: Decider[C], now_s: float) -> None:
        held = self.locks.held(decider)
        if held is not None and self.rules is Rules.STRICT and now_s - held.since_s > held.limit_s:
            raise LockNotReleased(decider.name, now_s - held.since_s, held.limit_s)


def refuse_cycles(root: Decider[C]) -> None:
    """Check everything below a root.

    Args:
        root: The first decider.

    Raises:
        CycleFound: A decider is below itself.
    """
    done: set[int] = set()

    def look(decider: Decider[C], above: tuple[Decider[C], ...]) -> None:
        if any(decider is other for other in above):
            raise CycleFound([*(other.name for other in above), decider.name])
        if id(decider) not in done:
            for child in decider.children.values():
                look(child, (*above, decider))
            done.add(id(decider))

    look(root, ())
