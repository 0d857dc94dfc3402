"""The names of Isaac Cortex's decider framework, for networks that are ported: the classes of this package under them.

The semantics are those of ``Rules.CORTEX`` when ``DfNetwork`` makes the network. Deciders receive a ``TickContext``
where those of Cortex read ``self.context`` and ``self.params``; a wait and a time limit use the time of the ticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from .decider import Decider, Decision
from .network import Monitor, Network
from .priority import Option, Selector
from .states import Lock, SequenceDecider, State, StateMachineDecider, Unlock, Write
from .timed import RunFor, WaitState
from .traversal import Rules

C = TypeVar("C")

DfDecider = Decider
DfAction = Decider
DfDecision = Decision
DfState = State
DfStateSequence = SequenceDecider
DfStateMachineDecider = StateMachineDecider
DfTimedDeciderState = RunFor
DfWaitState = WaitState
DfWriteContextState = Write
DfRldsNode = Option


def DfSetLockState(set_locked_to: bool, limit_s: float = 15.0) -> State[C]:
    """Return a state that locks the path, or releases it.

    Args:
        set_locked_to: True to lock.
        limit_s: Longest time of the lock, s; Cortex has none.
    """
    return Lock(limit_s) if set_locked_to else Unlock()


def DfNetwork(root: Decider[C], context: C, monitors: Sequence[Monitor[C]] = ()) -> Network[C]:
    """Return a network that calls everything in the order of Cortex.

    Args:
        root: The root decider.
        context: The logical state.
        monitors: Run before every tick, in this order.
    """
    return Network(root, context, monitors, rules=Rules.CORTEX)


def DfRldsDecider(name: str, nodes: Sequence[Option[C]]) -> Selector[C]:
    """Return a decider that takes the node of highest priority that holds, as Cortex compares them.

    Args:
        name: Name of the decider.
        nodes: In the order in which ``append_rlds_node`` would add them: the last one has the highest priority.
    """
    return Selector(name, tuple(reversed(nodes)), Rules.CORTEX)
