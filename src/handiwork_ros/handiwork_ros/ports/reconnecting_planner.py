"""A Planner port that outlives a planner which is restarted: what was asked of the lost one is asked of the new one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.contracts.ports import Planner
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory

POLL_S = 0.05
LOST = (Code.PLANNER_LOST, Code.NOT_ACTIVE)


class _Answer(Protocol):
    @property
    def code(self) -> Code: ...


A = TypeVar("A", bound=_Answer)


class ReconnectingPlanner:
    """Asks ``planner`` again once ``is_ready`` says that it is back, for ``patience_s`` of steady time at most.

    Every request carries all that the planner needs, and the arm stands still while it waits, so the answer of a new
    process is as good as that of the old one.
    """

    def __init__(self, planner: Planner, is_ready: Callable[[], bool], patience_s: float) -> None:
        self._planner, self._is_ready, self._patience_s = planner, is_ready, patience_s

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``."""
        return self._patiently(lambda: self._planner.plan(request, should_stop=should_stop), should_stop)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``."""
        return self._patiently(
            lambda: self._planner.check_candidates(request, should_stop=should_stop), should_stop
        )

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``."""
        return self._patiently(
            lambda: self._planner.validate(arm, trajectory, scene, should_stop=should_stop), should_stop
        )

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate_rest``; asked once, for the arm moves meanwhile."""
        return self._planner.validate_rest(arm, trajectory, scene, rest, should_stop=should_stop)

    def _patiently(self, ask: Callable[[], A], should_stop: ShouldStop) -> A:
        end_s = time.monotonic() + self._patience_s
        while (answer := ask()).code in LOST and not should_stop():
            if not self._wait(end_s, should_stop):
                break
        return answer

    def _wait(self, end_s: float, should_stop: ShouldStop) -> bool:
        """True once the planner is ready; at least one poll long, so that nobody asks without a pause."""
        while not should_stop() and time.monotonic() < end_s:
            time.sleep(POLL_S)  # noqa: TID251 - polls life signs and the token
            if self._is_ready():
                return True
        return False
