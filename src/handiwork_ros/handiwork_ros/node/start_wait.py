"""How long a starting node waits for others, before it gives up and is started again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from handiwork_core.config.dataclass_loader import ConfigError

from .managed_node import ManagedNode

POLL_S = 0.05


class OthersMissingError(ConfigError):
    """What other nodes send did not come in time; a later start may find it."""

    exit_code = 75
    """EX_TEMPFAIL of sysexits.h: who supervises the process starts it again without a limit."""


class StartWait:
    """Declares the parameter ``start_timeout_s`` of a node, and waits in its ``on_prepare``.

    A message that got lost on its way to this process comes for sure to the next one, so a limit, an end with a
    sentence, and a new start by launch are better than to wait for ever.
    """

    def __init__(self, node: ManagedNode) -> None:
        self._node = node
        text = "longest wait for other nodes while this one starts [s]; then it ends; 0: without a limit"
        self._limit_s = node.parameter("start_timeout_s", 30.0, text)

    def until_none(self, missing: Callable[[], Sequence[str]], report: Callable[[float, str], None]) -> None:
        """Wait until nothing is missing, or until the node closes.

        Args:
            missing: names what has not come yet.
            report: shows what is waited for.

        Raises:
            OthersMissingError: the time is up; names what has not come.
        """
        begin_s = time.monotonic()
        while names := ", ".join(missing()):
            report(0.5, f"waiting for {names}")
            if self._node.closing.wait(POLL_S):
                return
            if 0.0 < self._limit_s < time.monotonic() - begin_s:
                fault = f"{names} did not come within {self._limit_s:g} s; `handiwork status` shows who is missing"
                raise OthersMissingError(f"node {self._node.get_name()}", [fault])
