"""A planner port around another one: each request goes through one method, which may ask, compare, keep or draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from handiwork_core.model.trajectory import Trajectory

from .planning import (
    CandidatesRequest,
    CandidatesResult,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from .ports import Planner


@dataclass(frozen=True)
class Validation:
    """The arguments of ``Planner.validate`` and ``validate_rest``; ``rest`` is None for the former."""

    trajectory: Trajectory
    scene: SceneQuery
    rest: PathRest | None = None


Request: TypeAlias = PlanRequest | CandidatesRequest | Validation
A = TypeVar("A", PlanResult, CandidatesResult, Verdict)


class DelegatingPlanner(ABC):
    """``Planner`` whose four methods are one: ``answer``."""

    @abstractmethod
    def answer(
        self, port: str, arm: str, request: Request, ask: Callable[[Planner], A], should_stop: ShouldStop
    ) -> A:
        """Answer a request.

        Args:
            port: Name of the method of ``Planner``.
            arm: Name of the arm.
            request: Its arguments.
            ask: Passes the request on to a planner, and returns its answer.
            should_stop: Turns true when the answer is no longer wanted.

        Returns:
            The answer of that kind.
        """

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: The planning problem.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            The trajectory, or a code with the reason.
        """
        return self.answer(
            "plan", request.arm, request, lambda to: to.plan(request, should_stop=should_stop), should_stop
        )

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: The candidates, with their scenes.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            One verdict per candidate, in order.
        """
        return self.answer(
            "check_candidates",
            request.arm,
            request,
            lambda to: to.check_candidates(request, should_stop=should_stop),
            should_stop,
        )

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``.

        Args:
            arm: Name of the arm.
            trajectory: The motion.
            scene: The interpretation of the world.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            The verdict.
        """
        return self.answer(
            "validate",
            arm,
            Validation(trajectory, scene),
            lambda to: to.validate(arm, trajectory, scene, should_stop=should_stop),
            should_stop,
        )

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate_rest``.

        Args:
            arm: Name of the arm.
            trajectory: The whole motion.
            scene: The interpretation of the world.
            rest: The part that remains, and the age of the world that is needed.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            The verdict.
        """
        return self.answer(
            "validate_rest",
            arm,
            Validation(trajectory, scene, rest),
            lambda to: to.validate_rest(arm, trajectory, scene, rest, should_stop=should_stop),
            should_stop,
        )
