"""The lease that a client holds on an arm while the arm follows its goals. Time is steady time [s]."""

from __future__ import annotations

from collections.abc import Collection

LONGEST_EXTENSION_S = 1.0
"""By so much at most a timeout grows where this process itself is held up."""
DELAY_MEMORY_S = 5.0
"""The greatest scheduling delay of so long ago still counts."""


class HeartbeatLease:
    """Tells whether the holder of an arm's lease has fallen silent.

    A machine that delays this process delays the holder too, so the measured delay of this process is added to the
    timeout, up to ``LONGEST_EXTENSION_S``: a stop begins after ``timeout_s`` plus that at the latest.

    Args:
        timeout_s: silence after which the lease is lost.
        period_s: how often ``tick`` is called.
    """

    def __init__(self, timeout_s: float, period_s: float) -> None:
        self._timeout_s, self._period_s = timeout_s, period_s
        self._renewed_s = self._ticked_s = float("-inf")
        self._held: frozenset[str] = frozenset()
        self._provisional: set[str] = set()
        self._delays: list[tuple[float, float]] = []
        self.holder = ""

    @property
    def timeout_s(self) -> float:
        """Timeout with the present extension [s]."""
        extension = max((delay for _at, delay in self._delays), default=0.0)
        return self._timeout_s + min(extension, LONGEST_EXTENSION_S)

    def is_fresh(self, now_s: float) -> bool:
        """True while a holder renews."""
        return now_s - self._renewed_s <= self.timeout_s

    def renew(self, holder: str, arms: Collection[str], now_s: float) -> None:
        """Take a heartbeat: the holder supervises the motions of ``arms`` and of no others."""
        self.holder, self._held, self._renewed_s = holder, frozenset(arms), now_s
        self._provisional.clear()

    def accept(self, arm: str, now_s: float) -> None:
        """A goal for ``arm`` begins; while a holder is there the goal counts as its own until its next heartbeat."""
        if self.is_fresh(now_s):
            self._provisional.add(arm)

    def tick(self, now_s: float) -> frozenset[str]:
        """Note the passing of time; call it every ``period_s``.

        Returns:
            The arms whose lease is lost now; each is named once.
        """
        delay = max(0.0, now_s - self._ticked_s - self._period_s) if self._ticked_s > float("-inf") else 0.0
        self._ticked_s = now_s
        self._delays = [(at, d) for at, d in self._delays if now_s - at <= DELAY_MEMORY_S]
        if delay > 0.0:
            self._delays.append((now_s, delay))
        if self.is_fresh(now_s):
            return frozenset()
        lost = self._held | self._provisional
        self._held, self._provisional = frozenset(), set()
        return lost
