"""A Planner port that survives a restart of the planner: it repeats a lost request to the new planner."""

from __future__ import annotations

import time
from collections.abc import Callable

from handiwork_core.contracts.delegating import A, DelegatingPlanner, Request
from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.ports import Planner
from handiwork_core.model.outcome import Code

POLL_S = 0.05
STALE_S = 1.0
"""Longest wait for the pose of a new object, which comes on another topic than its geometry, s of steady time."""
REPEATED = (Code.PLANNER_LOST, Code.NOT_ACTIVE, Code.STALE_WORLD)


class ReconnectingPlanner(DelegatingPlanner):
    """Repeats a request to a lost planner once it is back, and to one that has not yet received the newest world.

    Every request carries all that the planner needs, and the arm is at rest while it waits, so the answer of a new
    process is as good as that of the old one.

    Args:
        planner: Takes the requests.
        is_ready: Returns True when the planner is back.
        patience_s: Longest wait for that, s of steady time.
    """

    def __init__(self, planner: Planner, is_ready: Callable[[], bool], patience_s: float) -> None:
        self._planner, self._is_ready, self._patience_s = planner, is_ready, patience_s

    def answer(
        self, port: str, arm: str, request: Request, ask: Callable[[Planner], A], should_stop: ShouldStop
    ) -> A:
        """Ask the planner again and again while it is lost; see ``DelegatingPlanner.answer``.

        Args:
            port: Name of the method; ``validate_rest`` is called once, because the arm moves.
            arm: Not used.
            request: Not used.
            ask: Asks a planner.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's answer.
        """
        if port == "validate_rest":
            return ask(self._planner)
        return self._patiently(lambda: ask(self._planner), should_stop)

    def _patiently(self, ask: Callable[[], A], should_stop: ShouldStop) -> A:
        begin_s = time.monotonic()
        while (answer := ask()).code in REPEATED and not should_stop():
            patience_s = STALE_S if answer.code is Code.STALE_WORLD else self._patience_s
            if not self._wait(begin_s + patience_s, should_stop):
                break
        return answer

    def _wait(self, end_s: float, should_stop: ShouldStop) -> bool:
        """Wait until the planner is ready, at least for one poll as a pause between requests; False if time is up."""
        while not should_stop() and time.monotonic() < end_s:
            time.sleep(POLL_S)  # noqa: TID251 - polls the planner's liveness and the token
            if self._is_ready():
                return True
        return False
