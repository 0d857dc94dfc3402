"""One request made ready for cuRobo: its start, its goal configurations, and the checks of what is found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import (
    JointGoals,
    PathGoal,
    PlanRequest,
    PoseGoals,
    StraightGoal,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.planner import Core
from handiwork_planning.scene.query import Query
from handiwork_planning.search.goal_configurations import joint_goals, pose_goals
from handiwork_planning.search.requests import (
    Deadline,
    Failed,
    checked_start,
    limits_of,
)

from .attempts import Goals
from .trajectory_check import HeldComponents, Judge


def is_for_cpu(request: PlanRequest) -> bool:
    """Check whether the CPU engine must plan the request: lines, paths, and motions past another arm.

    Args:
        request: The request.
    """
    return isinstance(request.goal, StraightGoal | PathGoal) or bool(request.scene.others)


@dataclass(frozen=True, slots=True, eq=False)
class CuroboTask:
    """One request made ready for cuRobo.

    Attributes:
        request: The request.
        arm: The arm that plans.
        query: The reading for which cuRobo's spheres are made. That of the goals allows contact with what is near them.
        start: Joint positions at the start, (n,), rad or m.
        goals: The goal configurations.
        judge: The checks of motions.
    """

    request: PlanRequest
    arm: ArmSpec
    query: Query
    start: Array
    goals: Goals
    judge: Judge

    @property
    def home(self) -> Array:
        """The arm's joint positions at home, (n,), rad or m."""
        return np.array(self.arm.home_q)

    @classmethod
    def of(cls, core: Core, request: PlanRequest, deadline: Deadline) -> CuroboTask:
        """Read a request. The CPU engine finds the goal configurations: exact, within limits and free.

        Args:
            core: The world and the robot.
            request: The request.
            deadline: Limit of its time.

        Returns:
            The request made ready.

        Raises:
            Failed: Start, goal or a number is invalid, with the nearest miss; or the time is used up.
        """
        arm = core.arm(request.arm)
        start, query = checked_start(arm, core.read(arm, request.scene), request.start_q)
        deadline.poll()
        _check_scalings(request)
        held = HeldComponents.of(request, query, start, core.world_T_root)
        if held is not None and isinstance(request.goal, PoseGoals):
            held.check_goals(request.goal.world_T_ee)
        judged = query.grazing_at(request.goal.q) if isinstance(request.goal, JointGoals) else query
        goals = _goals(core, request, arm, judged, start, deadline, held)
        limits = limits_of(core.robot, arm, request.velocity_scaling, request.acceleration_scaling)
        return cls(request, arm, query, start, goals, Judge(judged, limits, arm.joint_names, held))


def _goals(
    core: Core,
    request: PlanRequest,
    arm: ArmSpec,
    query: Query,
    start: Array,
    deadline: Deadline,
    held: HeldComponents | None,
) -> Goals:
    root_T_world = core.world_T_root.inverse()
    if isinstance(request.goal, JointGoals):
        q, owner = joint_goals(arm, query, request.goal.q)
        if held is not None:
            held.check_configurations(q, query)
        return Goals(q, owner, root_T_world, query)
    assert isinstance(request.goal, PoseGoals)
    seeds = np.array([start, arm.home_q])
    q, owner = pose_goals(query, request.goal.world_T_ee, seeds, request.seed, deadline)
    return Goals(q, owner, root_T_world, query)


def _check_scalings(request: PlanRequest) -> None:
    for name in ("velocity_scaling", "acceleration_scaling"):
        scaling = getattr(request, name)
        if not 0.0 < scaling <= 1.0:
            raise Failed(Code.BAD_NUMBER, f"{name} is {scaling}; give a number above 0 and at most 1")
