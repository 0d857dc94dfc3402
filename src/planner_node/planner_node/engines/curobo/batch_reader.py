"""The CPU's part of a batch, without a GPU: problems made ready for cuRobo, and motions judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.contracts.planning import PlanRequest, PlanResult, ShouldStop
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from handiwork_planning.planner import Core
from handiwork_planning.process_pool import Problem
from handiwork_planning.search.requests import Deadline, Failed
from handiwork_planning.warm_up import warm_up

from .batch_problem import Lane, OpenProblem
from .model.lane_buffers import LaneScene
from .sphere_set import SphereSet
from .task import is_for_cpu as is_not_for_curobo

Found = tuple[Trajectory, int]


@dataclass(frozen=True, slots=True, eq=False)
class ToRead:
    """Problems to be made ready.

    Attributes:
        bank: 0 or 1: the scenes of a set of problems must last until they are judged, when the next ones are read.
        problems: Place among all problems, lane on the GPU, and the problem.
        is_one_world: Whether all of them have the same world.
    """

    bank: int
    problems: tuple[tuple[int, int, Problem], ...]
    is_one_world: bool


@dataclass(frozen=True, slots=True, eq=False)
class ToJudge:
    """Motions to be judged; a problem without any is planned by the CPU engine.

    Attributes:
        motions: Place of the problem, and its motions, (m, n) each, rad or m, best first.
    """

    motions: tuple[tuple[int, list[Array]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """What the GPU needs of one problem.

    Attributes:
        place: Its index among all problems.
        arm: Name of the arm.
        start: Joint positions at the start, (n,), rad or m.
        end: Joint positions at the end that is tried, (n,), rad or m.
        base_T_ee: The tool's pose there, (7,): x, y, z in m and wxyz.
        scene: Its lane, spheres and obstacles.
    """

    place: int
    arm: str
    start: Array
    end: Array
    base_T_ee: Array
    scene: LaneScene


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """The result of one problem.

    Attributes:
        place: Its index among all problems.
        result: The result.
        is_handed_over: Whether the CPU engine planned it because cuRobo found no good motion.
    """

    place: int
    result: PlanResult
    is_handed_over: bool = False


Work = ToRead | ToJudge
Answer = Ready | Done


class BatchReader:
    """Reads problems and judges motions; for one thread.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
    """

    def __init__(self, robot: Robot, world_T_root: Pose) -> None:
        # A problem's time must not pass while its kernels are loaded.
        warm_up(robot, world_T_root, lambda _share, _text: None)
        self._core = Core(robot, world_T_root)
        self._set = SphereSet(robot, world_T_root, is_fine=False)
        self._lanes: dict[tuple[int, int], Lane] = {}
        self._open: dict[int, OpenProblem] = {}

    def do(self, work: Work, should_stop: ShouldStop) -> list[Answer]:
        """Do a part of a batch.

        Args:
            work: The problems or the motions.
            should_stop: Returns True when planning must end.

        Returns:
            For each problem what the GPU needs, or its result.
        """
        if isinstance(work, ToJudge):
            return [self._judged(place, motions) for place, motions in work.motions]
        return [
            self._read(place, lane, work.bank, 0 if work.is_one_world else lane, problem, should_stop)
            for place, lane, problem in work.problems
        ]

    def forget(self) -> None:
        """Forget the problems that were not judged."""
        self._open.clear()

    def _read(
        self, place: int, lane: int, bank: int, scene: int, problem: Problem, should_stop: ShouldStop
    ) -> Answer:
        at = self._lanes.get((bank, scene))
        if at is None:
            at = self._lanes[bank, scene] = Lane(self._core.world_T_root)
        deadline = Deadline.start(should_stop, problem.request.budget_s)
        try:
            deadline.poll()
            at.enter(self._core, problem.world)
            if is_for_cpu(problem.request):
                return Done(place, self._by_cpu(problem, deadline))
            one = at.read(self._core, self._set, problem, deadline)
        except Failed as failed:
            return Done(place, _failed(failed, problem, deadline))
        self._open[place] = one
        task, group = one.task, one.group
        return Ready(
            place,
            task.arm.name,
            task.start,
            group.ends[0],
            task.goals.base_pose(group.tool),
            LaneScene.of(lane, one.spheres, one.rows),
        )

    def _judged(self, place: int, motions: Sequence[Array]) -> Done:
        one = self._open.pop(place)
        found = one.group.first_taken(one.task.judge, list(motions), one.task.start)
        if found is not None:
            return Done(place, _planned(found, one.problem, one.deadline))
        one.scene.enter(self._core, one.problem.world)
        return Done(place, self._by_cpu(one.problem, one.deadline), is_handed_over=True)

    def _by_cpu(self, problem: Problem, deadline: Deadline) -> PlanResult:
        """Plan in the scene that the core has entered."""
        try:
            return _planned(self._core.plan(problem.request, deadline), problem, deadline)
        except Failed as failed:
            return _failed(failed, problem, deadline)


def is_for_cpu(request: PlanRequest) -> bool:
    """Check whether the CPU engine must plan a request of a batch.

    cuRobo plans no held components in a batch: its criteria are the same for all problems of a batch.

    Args:
        request: The request.

    Returns:
        True for requests that cuRobo never plans, and for those with held components.
    """
    held = request.hold_vec_weight
    return is_not_for_curobo(request) or (held is not None and any(w > 0.0 for w in held))


def _planned(found: Found, problem: Problem, deadline: Deadline) -> PlanResult:
    return PlanResult(
        Code.OK,
        "",
        *found,
        planning_time_s=deadline.used_s,
        world_version=problem.world.version,
        seed=problem.request.seed,
    )


def _failed(failed: Failed, problem: Problem, deadline: Deadline) -> PlanResult:
    return PlanResult(
        failed.outcome.code,
        failed.outcome.message,
        planning_time_s=deadline.used_s,
        blocking=failed.outcome.blocking,
        depth_m=failed.depth_m,
        position_error_m=failed.outcome.position_error_m,
        angle_error_rad=failed.outcome.angle_error_rad,
        world_version=problem.world.version,
        seed=problem.request.seed,
    )
