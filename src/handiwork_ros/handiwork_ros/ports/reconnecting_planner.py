"""A Planner port that survives a restart of the planner: it repeats a lost request to the new planner."""

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
    """Repeats a request to a lost planner once it is back.

    Every request carries all that the planner needs, and the arm is at rest while it waits, so the answer of a new
    process is as good as that of the old one.

    Args:
        planner: Takes the requests.
        is_ready: Returns True when the planner is back.
        patience_s: Longest wait for that, s of steady time.
    """

    def __init__(self, planner: Planner, is_ready: Callable[[], bool], patience_s: float) -> None:
        self._planner, self._is_ready, self._patience_s = planner, is_ready, patience_s

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """Plan a motion; see ``Planner.plan``.

        Args:
            request: The planning problem.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's answer.
        """
        return self._patiently(lambda: self._planner.plan(request, should_stop=should_stop), should_stop)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """Check many candidates; see ``Planner.check_candidates``.

        Args:
            request: The candidates.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's answer.
        """
        return self._patiently(
            lambda: self._planner.check_candidates(request, should_stop=should_stop), should_stop
        )

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """Validate a trajectory; see ``Planner.validate``.

        Args:
            arm: Name of the arm.
            trajectory: The path of the arm's joints.
            scene: Obstacles and held objects.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's verdict.
        """
        return self._patiently(
            lambda: self._planner.validate(arm, trajectory, scene, should_stop=should_stop), should_stop
        )

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """Validate the rest of a motion; see ``Planner.validate_rest``. It is called once, because the arm moves.

        Args:
            arm: Name of the arm.
            trajectory: The whole path of the arm's joints.
            scene: Obstacles and held objects.
            rest: The rest of the path, and the world that it is checked against.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's verdict.
        """
        return self._planner.validate_rest(arm, trajectory, scene, rest, should_stop=should_stop)

    def _patiently(self, ask: Callable[[], A], should_stop: ShouldStop) -> A:
        end_s = time.monotonic() + self._patience_s
        while (answer := ask()).code in LOST and not should_stop():
            if not self._wait(end_s, should_stop):
                break
        return answer

    def _wait(self, end_s: float, should_stop: ShouldStop) -> bool:
        """Wait until the planner is ready, at least for one poll as a pause between requests; False if time is up."""
        while not should_stop() and time.monotonic() < end_s:
            time.sleep(POLL_S)  # noqa: TID251 - polls the planner's liveness and the token
            if self._is_ready():
                return True
        return False
