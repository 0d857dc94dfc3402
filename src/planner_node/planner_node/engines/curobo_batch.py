"""Many planning problems at once on a GPU, as ``batch.PlanPool`` does on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from handiwork_core.contracts.planning import PlanRequest, PlanResult, ShouldStop
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.process_pool import Problem

LANES = 16
"""Problems at a time: what was measured. Each costs threads, of which a launch has 2^31."""


class CuroboPool:
    """Plans by cuRobo, ``lanes`` at a time, each in a world of its own; until ``close``.

    Straight lines, held components and ways past another arm, and what cuRobo finds no motion for, are planned by the
    CPU engine. Everything returned has passed the CPU engine's checks. An arm's solvers are built at its first problem,
    which takes seconds. Once these are warm the same batch gives the same motions; their first pass differs a little.

    Raises:
        ValueError: ``lanes`` is below 2, or more than a launch has threads for.
        EngineLost: torch, cuRobo or the GPU cannot be used; also from ``plan``, and then the pool is of no use.
    """

    def __init__(self, robot: Robot, world_T_base: Pose, lanes: int = LANES) -> None:
        from .curobo.batch_core import BatchCore
        from .curobo.device.cuda import load

        if lanes < 2:
            raise ValueError(f"lanes is {lanes}; give 2 or more, or use the engine for one problem at a time")
        self.core = BatchCore(robot, world_T_base, load(), lanes)

    def plan(
        self,
        worlds: World | Sequence[World],
        requests: Sequence[PlanRequest],
        should_stop: ShouldStop | None = None,
    ) -> list[PlanResult]:
        """One result for each request, in order. ``worlds``: one for all, or one for each.

        A stop is looked at between passes over ``lanes`` problems; what is not planned by then is CANCELED.

        Raises:
            ValueError: the numbers of worlds and requests differ.
        """
        each = [worlds] * len(requests) if isinstance(worlds, World) else list(worlds)
        if len(each) != len(requests):
            raise ValueError(
                f"{len(each)} worlds for {len(requests)} requests; give one for all, or one each"
            )
        problems = [Problem(world, request) for world, request in zip(each, requests, strict=True)]
        return self.core.plan(problems, should_stop or _never)

    def close(self) -> None:
        """Free the GPU."""
        self.core.close()

    def __enter__(self) -> CuroboPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _never() -> bool:
    return False
