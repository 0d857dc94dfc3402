"""Many planning problems at once on a GPU, as ``process_pool.PlanPool`` plans them on all cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType

from handiwork_core.contracts.planning import PlanRequest, PlanResult, ShouldStop, never_stop
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.process_pool import Problem

LANES = 256
"""Problems at a time. Each costs threads, of which a launch has 2^31."""


class CuroboPool:
    """Plans by cuRobo, ``lanes`` problems at a time, each in its own world; until ``close``.

    The CPU engine plans straight lines, held components and motions past another arm, and requests for which cuRobo
    finds no motion. Every result has passed the CPU engine's checks. An arm's solvers are built at its first problem,
    which takes seconds. Once these are warm the same batch gives the same motions; their first pass differs a little.

    Args:
        robot: The robot of all problems.
        world_T_base: The robot's base in the world.
        lanes: Number of problems at a time.
        workers: Number of processes that read problems and judge motions; None is one per core, 1 does both in the
            calling thread. A script needs ``if __name__ == "__main__":`` with more, as ``multiprocessing`` does.

    Raises:
        ValueError: ``lanes`` is below 2, or more than a launch has threads for.
        EngineLost: torch, cuRobo or the GPU cannot be used, or joints follow those of an arm; ``plan`` raises it, too,
            and then the pool is of no use.
    """

    def __init__(
        self, robot: Robot, world_T_base: Pose, lanes: int = LANES, workers: int | None = None
    ) -> None:
        from .curobo.batch_core import BatchCore
        from .curobo.device.cuda import load
        from .curobo.model.robot_config import check_followers

        check_followers(robot)
        if lanes < 2:
            raise ValueError(f"lanes is {lanes}; give 2 or more, or use the engine for one problem at a time")
        cores = len(os.sched_getaffinity(0))
        self.core = BatchCore(robot, world_T_base, load(), lanes, min(workers or cores, lanes))

    def plan(
        self,
        worlds: World | Sequence[World],
        requests: Sequence[PlanRequest],
        should_stop: ShouldStop | None = None,
    ) -> list[PlanResult]:
        """Plan all requests.

        ``should_stop`` is called between passes over ``lanes`` problems; what is not planned by then is CANCELED.

        Args:
            worlds: One world for all requests, or one for each.
            requests: The requests.
            should_stop: Returns True when planning must end; None never stops.

        Returns:
            One result for each request, in their order.

        Raises:
            ValueError: The numbers of worlds and requests differ.
            RuntimeError: A process ended; the pool is then of no use.
        """
        each = [worlds] * len(requests) if isinstance(worlds, World) else list(worlds)
        if len(each) != len(requests):
            raise ValueError(
                f"{len(each)} worlds for {len(requests)} requests; give one for all, or one each"
            )
        problems = [Problem(world, request) for world, request in zip(each, requests, strict=True)]
        return self.core.plan(problems, should_stop or never_stop)

    def close(self) -> None:
        """Free the GPU, and end the processes."""
        self.core.close()

    def __enter__(self) -> CuroboPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
