"""Many plans in one snapshot of the world: by processes of the CPU engine, or by the engine that the node has."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from handiwork_core.contracts.planning import PlanRequest, PlanResult, ShouldStop
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.process_pool import PlanPool

from .engine_worker import EngineWorker
from .pipeline import PlanningPipeline
from .request_checks import RequestRefused

OUT_OF_TIME = (
    "allowed_planning_time of the batch was used up before this problem was planned; "
    "send fewer problems or more time"
)


@dataclass(frozen=True, slots=True, eq=False)
class BatchResult:
    """The answer to a batch.

    Attributes:
        results: One per problem, in order.
        world_version: Version of the world that all were planned in.
        planning_time_s: Time used, s of steady time.
    """

    results: tuple[PlanResult, ...]
    world_version: int
    planning_time_s: float


class BatchPlanner:
    """Plans batches on a thread of its own with the CPU engine, and on the engine's thread with another one.

    With the CPU engine other requests are served meanwhile. Its processes start at the first batch, and stay.

    Args:
        pipeline: The pipeline of all requests.
        world_T_base: The robot's base in the world.
        workers: Number of processes; 1 plans in this one, 0 is one per core.

    Attributes:
        worker: The thread of batches.
    """

    def __init__(self, pipeline: PlanningPipeline, world_T_base: Pose, workers: int) -> None:
        self._pipeline, self._world_T_base, self._workers = pipeline, world_T_base, workers
        self._pool: PlanPool | None = None
        self.worker = EngineWorker("planner-batches")

    @property
    def is_beside_engine(self) -> bool:
        """True when batches do not need the engine's thread: the CPU engine plans, and has others of its kind."""
        return self._pipeline.engine.name == CpuEngine.name

    def plan(
        self,
        asked: Sequence[PlanRequest | Outcome],
        min_version: int,
        deadline_s: float,
        should_stop: ShouldStop,
    ) -> BatchResult:
        """Plan all problems; call it on ``worker`` if ``is_beside_engine``, else on the engine's thread.

        Args:
            asked: The requests, as ``PlanningPipeline.plan`` takes them; an outcome stands for a problem that was
                refused before, and becomes its result.
            min_version: Oldest version of the world that may be used.
            deadline_s: End of the batch's time by the steady clock, s.
            should_stop: Returns True when planning must end.

        Returns:
            One result per problem. Those that do not fit the world have the reason, those for which no time was left
            PLAN_BUDGET, and those that were stopped CANCELED.

        Raises:
            Refused: There is no world to plan in, or PLANNER_LOST: a process of the pool has ended.
        """
        begun_s = time.monotonic()
        world = self._pipeline.newest_world(min_version)
        checked = [self._ready(one, world) for one in asked]
        ready = [one for one in checked if isinstance(one, PlanRequest)]
        time_over = False

        def must_end() -> bool:
            nonlocal time_over
            time_over = time_over or time.monotonic() >= deadline_s
            return time_over or should_stop()

        def answered(request: PlanRequest, result: PlanResult) -> PlanResult:
            if result.code is Code.CANCELED and time_over and not should_stop():
                result = replace(result, code=Code.PLAN_BUDGET, message=OUT_OF_TIME)
            return self._pipeline.finished(request, result, world)

        planned = iter(self._planned(world, ready, must_end))
        results = tuple(
            one if isinstance(one, PlanResult) else answered(one, next(planned)) for one in checked
        )
        return BatchResult(results, world.version, time.monotonic() - begun_s)

    def close(self, timeout_s: float) -> bool:
        """End the batch under way, then the processes.

        Args:
            timeout_s: Longest wait for the batch, s.

        Returns:
            Whether it has ended in time.
        """
        ended = self.worker.close(timeout_s)
        if ended:
            self._close_pool()
        return ended

    def _ready(self, asked: PlanRequest | Outcome, world: World) -> PlanRequest | PlanResult:
        """Return the request with all that an engine needs, or the result of one that is refused."""
        if isinstance(asked, Outcome):
            return _refused(asked, world, 0)
        try:
            return self._pipeline.ready(asked, world)
        except HandiworkError as error:
            return _refused(error.outcome, world, asked.seed)

    def _planned(
        self, world: World, requests: list[PlanRequest], should_stop: ShouldStop
    ) -> list[PlanResult]:
        if not requests:
            return []
        if not self.is_beside_engine:
            self._pipeline.engine.update_world(world)
            return self._pipeline.engine.plan_batch(requests, should_stop)
        if self._pool is None:
            self._pool = PlanPool(self._pipeline.robot, self._world_T_base, self._workers)
        try:
            return self._pool.plan(world, requests, should_stop)
        except RuntimeError as error:
            self._close_pool()
            text = f"the batch was lost: {error}; send it again, the planner makes new processes for it"
            raise RequestRefused(Code.PLANNER_LOST, text) from error

    def _close_pool(self) -> None:
        if self._pool is not None:
            self._pool.close()
        self._pool = None


def _refused(outcome: Outcome, world: World, seed: int) -> PlanResult:
    return PlanResult(
        outcome.code,
        outcome.message,
        blocking=outcome.blocking,
        world_version=world.version,
        seed=seed,
    )
