"""Moves the fingers in a thread, since the port of a gripper waits for the end of each motion."""

from __future__ import annotations

import threading

from handiwork_core.contracts.ports import Gripper
from handiwork_core.contracts.skill import Stopped
from handiwork_core.model.outcome import Code

CHANGED_M = 0.004
"""A motion under way goes on to its end while the wanted opening changes by less, m."""


class FingerThread:
    """The newest opening counts: one that differs ends the motion before.

    Args:
        gripper: The gripper.
    """

    def __init__(self, gripper: Gripper) -> None:
        self._gripper = gripper
        self._wake = threading.Condition()
        self._wanted: float | None = None
        self._done: float | None = None
        self._is_over = False
        self._fault = ""
        self._thread = threading.Thread(target=self._work, name="policy fingers", daemon=True)
        self._thread.start()

    def fault(self) -> str:
        """Return why a motion failed; empty for nothing."""
        return self._fault

    def move(self, width_m: float) -> None:
        """Begin to move; does not wait.

        Args:
            width_m: Opening, m.
        """
        with self._wake:
            self._wanted = width_m
            self._wake.notify_all()

    def close(self, timeout_s: float) -> bool:
        """End the motion under way, and the thread.

        Args:
            timeout_s: Longest wait, s of steady time.

        Returns:
            True once the fingers are at rest.
        """
        with self._wake:
            self._is_over = True
            self._wake.notify_all()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (width_m := self._next()) is not None:
            try:
                outcome = self._gripper.move(width_m, should_stop=self._is_old)
            except Stopped:
                return
            except Exception as error:  # noqa: BLE001 - a fault of a port ends the run, not the thread alone
                self._fault = f"the gripper failed ({type(error).__name__}: {error}); please report this"
                return
            if not outcome.ok and outcome.code is not Code.CANCELED:
                self._fault = f"the gripper failed: {outcome.message}"
                return

    def _next(self) -> float | None:
        """Wait for another opening, and return it; None at the end."""
        with self._wake:
            self._wake.wait_for(lambda: self._is_over or self._wanted != self._done)
            self._done = self._wanted
            return None if self._is_over else self._wanted

    def _is_old(self) -> bool:
        wanted, done = self._wanted, self._done
        return self._is_over or wanted is None or done is None or abs(wanted - done) > CHANGED_M
