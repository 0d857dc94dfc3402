"""Moves the fingers in a thread, since the port of a gripper waits for the end of each motion."""

from __future__ import annotations

import threading
from collections import deque

from handiwork_core.contracts.ports import Clock, Gripper
from handiwork_core.contracts.skill import Stopped
from handiwork_core.model.outcome import Code

CHANGED_M = 0.004
"""A motion under way goes on to its end while the wanted opening changes by less, m."""


class FingerThread:
    """The newest opening that is due counts: one that differs ends the motion before.

    Args:
        gripper: The gripper.
        clock: The clock of the robot's world.
    """

    def __init__(self, gripper: Gripper, clock: Clock) -> None:
        self._gripper, self._clock = gripper, clock
        self._wake = threading.Condition()
        self._asked = deque[tuple[float, float]]()
        self._done: float | None = None
        self._is_over = False
        self._fault = ""
        self._thread = threading.Thread(target=self._work, name="policy fingers", daemon=True)
        self._thread.start()

    def fault(self) -> str:
        """Return why a motion failed; empty for nothing."""
        return self._fault

    def move(self, width_m: float, at_s: float) -> None:
        """Move at a time; does not wait.

        Args:
            width_m: Opening, m.
            at_s: The time, s of the robot's world; not before that of the opening before.
        """
        with self._wake:
            self._asked.append((at_s, width_m))
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
        try:
            while (width_m := self._next()) is not None:
                outcome = self._gripper.move(width_m, should_stop=self._is_old)
                if not outcome.ok and outcome.code is not Code.CANCELED:
                    self._fault = f"the gripper failed: {outcome.message}"
                    return
        except Stopped:
            return
        except Exception as error:  # noqa: BLE001 - a fault of a port ends the run, not the thread alone
            self._fault = f"the gripper failed ({type(error).__name__}: {error}); please report this"

    def _next(self) -> float | None:
        """Wait until another opening is due, and return it; None at the end."""
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._is_over or self._asked)
                if self._is_over:
                    return None
                wait_s = self._asked[0][0] - self._clock.now_s()
            if wait_s > 0.0:
                self._clock.sleep(wait_s, should_stop=lambda: self._is_over)
            with self._wake:
                before, count = self._done, self._count_due()
                if count:
                    self._done = [self._asked.popleft() for _ in range(count)][-1][1]
                if self._done != before and not self._is_over:
                    return self._done

    def _count_due(self) -> int:
        now_s = self._clock.now_s()
        return sum(at_s <= now_s for at_s, _width_m in self._asked)

    def _is_old(self) -> bool:
        with self._wake:
            count, done = self._count_due(), self._done
            newest = self._asked[count - 1][1] if count else done
            return self._is_over or newest is None or done is None or abs(newest - done) > CHANGED_M
