"""The lease that a client holds on an arm while the arm follows its goals. Time is steady time [s]."""

from __future__ import annotations

from collections.abc import Collection

LONGEST_EXTENSION_S = 1.0
"""Largest extension of a timeout while this process itself is held up, s."""
DELAY_MEMORY_S = 5.0
"""Time for which the greatest scheduling delay counts, s."""


class HeartbeatLease:
    """Detects that the holder of an arm's lease has fallen silent.

    A machine that delays this process delays the holder too, so the measured delay of this process is added to the
    timeout, up to ``LONGEST_EXTENSION_S``: a stop begins after ``timeout_s`` plus that at the latest.

    Args:
        timeout_s: Silence after which the lease is lost, s.
        period_s: Period of the calls of ``tick``, s.
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
        """Timeout with the present extension, s."""
        extension = max((delay for _at, delay in self._delays), default=0.0)
        return self._timeout_s + min(extension, LONGEST_EXTENSION_S)

    def is_fresh(self, now_s: float) -> bool:
        """Check whether a holder renews the lease.

        Args:
            now_s: Steady time, s.

        Returns:
            True while the last heartbeat is younger than the timeout.
        """
        return now_s - self._renewed_s <= self.timeout_s

    def renew(self, holder: str, arms: Collection[str], now_s: float) -> None:
        """Take a heartbeat: the holder supervises the motions of ``arms`` and of no others.

        Args:
            holder: Name of the holder.
            arms: Names of the arms.
            now_s: Steady time, s.
        """
        self.holder, self._held, self._renewed_s = holder, frozenset(arms), now_s
        self._provisional.clear()

    def accept(self, arm: str, now_s: float) -> None:
        """Record the begin of a goal; if there is a holder, the goal counts as its own until its next heartbeat.

        Args:
            arm: Name of the arm.
            now_s: Steady time, s.
        """
        if self.is_fresh(now_s):
            self._provisional.add(arm)

    def tick(self, now_s: float) -> frozenset[str]:
        """Record the passing of time; call it every ``period_s``.

        Args:
            now_s: Steady time, s.

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
