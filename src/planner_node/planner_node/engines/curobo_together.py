"""Both arms of a robot in one motion, planned on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.planning import PathGoal, PlanRequest, ShouldStop, StraightGoal
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot


@dataclass(frozen=True, slots=True, eq=False)
class TogetherResult:
    """The motions of both arms, or the reason why there are none.

    Attributes:
        code: OK, or the kind of failure.
        message: Explanation of a failure.
        trajectories: One for each arm, with the same times; present exactly when ``code`` is OK.
        goal_indices: Index of the goal that each arm reaches.
        planning_time_s: Time used.
    """

    code: Code
    message: str = ""
    trajectories: tuple[Trajectory, ...] = ()
    goal_indices: tuple[int, ...] = ()
    planning_time_s: float = 0.0


class CuroboTogether:
    """Free motions of two arms that begin and end together, by cuRobo; until ``close``.

    Each arm's motion has passed the CPU engine's checks, and the arms stay 5 mm apart at every moment.

    Args:
        robot: The robot.
        world_T_base: The robot's base in the world.
        arms: Names of the two arms.

    Raises:
        KeyError: The robot has no such arm.
        EngineLost: torch, cuRobo or the GPU cannot be used; ``plan`` raises it, too, and then this object is of no use.
    """

    def __init__(self, robot: Robot, world_T_base: Pose, arms: tuple[str, str]) -> None:
        from .curobo.device.cuda import load
        from .curobo.dual_arm import TogetherCore
        from .curobo.model.robot_config import check_followers

        check_followers(robot)
        self._core = TogetherCore(robot, world_T_base, load(), arms)

    def update_world(self, world: World) -> None:
        """Take a new snapshot.

        Args:
            world: The snapshot.
        """
        self._core.scene.update(world)

    def plan(self, requests: tuple[PlanRequest, PlanRequest], should_stop: ShouldStop) -> TogetherResult:
        """Plan a motion for each arm. The first request's budget and seed are used.

        Goals are poses or joints; straight lines, held components and arms besides these two are not supported.

        Args:
            requests: One request for each arm, in the order in which the arms were named.
            should_stop: Returns True when planning must end.

        Returns:
            The motions in the same order, or the reason why there are none.

        Raises:
            EngineLost: The GPU failed.
        """
        from handiwork_planning.search.requests import Deadline, Failed

        deadline = Deadline.start(should_stop, requests[0].budget_s)
        why_not = self._why_not(requests)
        if why_not:
            return TogetherResult(Code.UNSUPPORTED, why_not)
        try:
            trajectories, goals = self._core.plan_both(requests, deadline)
        except Failed as failed:
            return TogetherResult(
                failed.outcome.code, failed.outcome.message, planning_time_s=deadline.used_s
            )
        return TogetherResult(Code.OK, "", trajectories, tuple(goals), deadline.used_s)

    def close(self) -> None:
        """Free the GPU."""
        self._core.close()

    def _why_not(self, requests: tuple[PlanRequest, PlanRequest]) -> str:
        named, mine = [request.arm for request in requests], [arm.name for arm in self._core.arms]
        if named != mine:
            return f"requests are for arms {named}, and these plan together: {mine}"
        for request in requests:
            if isinstance(request.goal, StraightGoal | PathGoal) or request.hold_vec_weight is not None:
                return f"arm {request.arm!r}: lines, paths and held components are planned one arm at a time"
            if request.scene.others:
                return f"arm {request.arm!r}: scene.others names arms; both are known, leave it empty"
        return ""
