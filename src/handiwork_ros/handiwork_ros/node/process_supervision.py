"""Supervision of a node's process: it reports to systemd or ``handiwork launch``, and runs a watchdog."""

from __future__ import annotations

from handiwork_core.process.service_notify import ServiceNotifier

from .managed_node import ManagedNode
from .watchdog import Watchdog

LOADING = ("configuring", "activating")
LOADING_FACTOR = 6.0
"""The factor by which the limit is longer while a node loads."""


class Supervision:
    """Begins right before the executor's first turn, and ends with ``close``.

    The limit is the node's parameter ``watchdog_s``, unless the supervisor has set WATCHDOG_USEC; 0 switches the
    watchdog off. While a node loads the limit is ``LOADING_FACTOR`` times as long, because compilers may keep Python's
    lock.

    Args:
        node: The node.
    """

    def __init__(self, node: ManagedNode) -> None:
        self._node, self._notifier = node, ServiceNotifier()
        self._limit_s = node.watchdog_s and (self._notifier.limit_s or node.watchdog_s)
        self._watchdog = Watchdog(node.get_name(), self._limit_now_s) if self._limit_s > 0.0 else None
        self._sent_limit_s = 0.0
        node.on_turn = self._beat
        if self._watchdog is not None:
            self._watchdog.start()
        self._notifier.send("READY=1")
        self._beat()

    def close(self, *, is_end: bool = True) -> None:
        """Stop watching the executor: only the end of the process, or the start of its next node, is limited.

        Args:
            is_end: The process ends; False: it starts its next node.
        """
        self._node.on_turn = lambda: None
        limit_s = LOADING_FACTOR * self._limit_s
        if self._watchdog is not None:
            self._watchdog.close(limit_s)
        if is_end:
            self._notifier.send("STOPPING=1")
        elif self._watchdog is not None:
            self._notifier.send(f"WATCHDOG_USEC={round(1e6 * limit_s)}", "WATCHDOG=1")
        self._notifier.close()

    def _beat(self) -> None:
        first_line = self._node.status_text.partition("\n")[0]
        states = [f"STATUS={self._node.state}: {first_line}"]
        if self._watchdog is not None:
            self._watchdog.beat()
            if (limit_s := self._limit_now_s()) != self._sent_limit_s:
                self._sent_limit_s = limit_s
                states.append(f"WATCHDOG_USEC={round(1e6 * limit_s)}")
            states.append("WATCHDOG=1")
        self._notifier.send(*states)

    def _limit_now_s(self) -> float:
        return self._limit_s * (LOADING_FACTOR if self._node.state in LOADING else 1.0)
