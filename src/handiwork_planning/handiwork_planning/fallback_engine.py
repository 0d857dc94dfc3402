"""An engine for a device that may fail: the goal ends with a named cause; then the engine or a spare is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    Engine,
    IkRequest,
    IkResult,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World

R = TypeVar("R")
Make = Callable[[], Engine]
Say = Callable[[str], None]


class EngineLost(Exception):
    """The engine's device failed.

    Attributes:
        cause: The failure in words.
        is_fatal: The device cannot be used again in this process.
    """

    def __init__(self, cause: str, *, is_fatal: bool = False) -> None:
        super().__init__(cause)
        self.cause, self.is_fatal = cause, is_fatal


class FallbackEngine(Engine):
    """Delegates to the engine that ``make`` builds.

    When that engine raises EngineLost the request ends with PLANNER_LOST and the cause. The next request goes to a new
    engine or, if there is a ``spare``, to that one from then on. After a fatal loss without a spare ``give_up`` is
    called: the process has to be started again.
    """

    def __init__(self, make: Make, spare: Make | None, say: Say, give_up: Say) -> None:
        self._make, self._spare, self._say, self._give_up = make, spare, say, give_up
        self._world: World | None = None
        self._engine: Engine | None = None
        self._build(make)

    @property
    def engine(self) -> Engine | None:
        """The engine that requests go to now; None between a loss and the next request."""
        return self._engine

    def update_world(self, world: World) -> None:
        """See ``Engine.update_world``; a loss here is reported by the request that follows."""
        self._world = world
        if self._engine is not None:
            try:
                self._engine.update_world(world)
            except EngineLost as lost:
                self._lose(lost)

    def plan(self, request: PlanRequest, should_stop: ShouldStop) -> PlanResult:
        """See ``Engine.plan``."""
        return self._ask(
            lambda engine: engine.plan(request, should_stop),
            lambda text: PlanResult(Code.PLANNER_LOST, text, seed=request.seed),
        )

    def plan_batch(self, requests: Sequence[PlanRequest], should_stop: ShouldStop) -> list[PlanResult]:
        """See ``Engine.plan_batch``. Where the engine plans in turn, a loss costs the one request that met it."""
        if self._engine is None or type(self._engine).plan_batch is Engine.plan_batch:
            return super().plan_batch(requests, should_stop)
        return self._ask(
            lambda engine: engine.plan_batch(requests, should_stop),
            lambda text: [PlanResult(Code.PLANNER_LOST, text, seed=request.seed) for request in requests],
        )

    def check_candidates(self, request: CandidatesRequest, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Engine.check_candidates``."""
        none = CandidateVerdict(Code.PLANNER_LOST, np.zeros((0, 0)))
        return self._ask(
            lambda engine: engine.check_candidates(request, should_stop),
            lambda text: CandidatesResult(Code.PLANNER_LOST, text, (none,) * len(request.candidates)),
        )

    def solve_ik(self, request: IkRequest, should_stop: ShouldStop) -> IkResult:
        """See ``Engine.solve_ik``."""
        count, dof = len(request.world_T_ee), np.atleast_2d(request.seed_q).shape[1]
        nothing = IkResult(
            (Code.PLANNER_LOST,) * count,
            np.full((count, dof), np.nan),
            np.full(count, np.inf),
            np.full(count, np.inf),
        )
        return self._ask(lambda engine: engine.solve_ik(request, should_stop), lambda _text: nothing)

    def explain(self, arm: str, q: Array, scene: SceneQuery) -> Verdict:
        """See ``Engine.explain``."""
        return self._ask(
            lambda engine: engine.explain(arm, q, scene), lambda text: Verdict(Code.PLANNER_LOST, text)
        )

    def validate(
        self,
        arm: str,
        trajectory: Trajectory,
        scene: SceneQuery,
        start_q: Array,
        rest: PathRest | None = None,
    ) -> Verdict:
        """See ``Engine.validate``."""
        return self._ask(
            lambda engine: engine.validate(arm, trajectory, scene, start_q, rest),
            lambda text: Verdict(Code.PLANNER_LOST, text),
        )

    def close(self) -> None:
        """Close the engine, if there is one."""
        if self._engine is not None:
            self._engine.close()
        self._engine = None

    def _build(self, make: Make) -> Engine:
        engine = make()
        # The planner node reads both from the engine that it has.
        self.name, self.capabilities = engine.name, engine.capabilities  # type: ignore[misc]
        if self._world is not None:
            engine.update_world(self._world)
        self._engine = engine
        return engine

    def _ask(self, work: Callable[[Engine], R], lost_result: Callable[[str], R]) -> R:
        try:
            return work(self._engine or self._build(self._make))
        except EngineLost as lost:
            return lost_result(self._lose(lost))

    def _lose(self, lost: EngineLost) -> str:
        """Drop the engine, and return the message for the goal."""
        name, self._engine = getattr(self, "name", "planning"), None
        if self._spare is not None:
            self._make, self._spare = self._spare, None
            text = f"engine {name!r} is lost: {lost.cause}; from now on its spare plans"
        elif lost.is_fatal:
            text = f"engine {name!r} is lost: {lost.cause}; the planner must be started again"
            self._give_up(text)
        else:
            text = f"engine {name!r} is lost: {lost.cause}; the next request builds it again"
        self._say(text)
        return text
