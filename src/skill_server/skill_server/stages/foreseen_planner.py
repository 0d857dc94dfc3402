"""A planner port that asks another one about a scene that lies ahead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

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
from handiwork_core.model.trajectory import Trajectory


class ForeseenPlanner(ABC):
    """``Planner`` that changes the scene of each request to what is foreseen, and asks another planner."""

    @property
    @abstractmethod
    def asked(self) -> Planner:
        """The planner that is asked."""

    @abstractmethod
    def foreseen(self, scene: SceneQuery) -> SceneQuery:
        """Return a scene as it will be.

        Args:
            scene: Scene of a request.
        """

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: The planning problem.
            should_stop: True ends the request.
        """
        return self.asked.plan(replace(request, scene=self.foreseen(request.scene)), should_stop=should_stop)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: The candidates.
            should_stop: True ends the request.
        """
        scenes = tuple(self.foreseen(scene) for scene in request.scenes or (SceneQuery(),))
        return self.asked.check_candidates(replace(request, scenes=scenes), should_stop=should_stop)

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``; the robot is not where the motion begins, so only the way is judged.

        Args:
            arm: Name of the arm.
            trajectory: Motion to judge.
            scene: The scene.
            should_stop: True ends the request.
        """
        return self.validate_rest(arm, trajectory, scene, PathRest(0.0), should_stop=should_stop)

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate_rest``.

        Args:
            arm: Name of the arm.
            trajectory: Motion to judge.
            scene: The scene.
            rest: Part of the motion.
            should_stop: True ends the request.
        """
        return self.asked.validate_rest(arm, trajectory, self.foreseen(scene), rest, should_stop=should_stop)
