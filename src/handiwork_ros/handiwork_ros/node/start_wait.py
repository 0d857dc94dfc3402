"""The limited wait of a starting node for other nodes, after which it gives up and is started again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from handiwork_core.config.dataclass_loader import ConfigError

from .managed_node import ManagedNode

POLL_S = 0.05


class OthersMissingError(ConfigError):
    """The messages of other nodes did not come in time; a later start may succeed."""

    exit_code = 75
    """EX_TEMPFAIL of sysexits.h: the supervisor of the process starts it again any number of times."""


class StartWait:
    """Declares the parameter ``start_timeout_s`` of a node, and waits in its ``on_prepare``.

    A message that was lost on its way to this process reaches the next process, so a limit, an error message and a new
    start by launch are better than an endless wait.

    Args:
        node: The node.
    """

    def __init__(self, node: ManagedNode) -> None:
        self._node = node
        text = "longest wait for other nodes while this one starts [s]; then it ends; 0: without a limit"
        self._limit_s = node.parameter("start_timeout_s", 30.0, text)

    def until_none(self, missing: Callable[[], Sequence[str]], report: Callable[[float, str], None]) -> None:
        """Wait until nothing is missing, or until the node closes.

        Args:
            missing: Returns the names of what has not come yet.
            report: Called with the progress and a text on the missing items.

        Raises:
            OthersMissingError: The time is up; the message names the missing items.
        """
        begin_s = time.monotonic()
        while names := ", ".join(missing()):
            report(0.5, f"waiting for {names}")
            if self._node.closing.wait(POLL_S):
                return
            if 0.0 < self._limit_s < time.monotonic() - begin_s:
                fault = f"{names} did not come within {self._limit_s:g} s; `handiwork status` lists the missing nodes"
                raise OthersMissingError(f"node {self._node.get_name()}", [fault])
