"""The engine's state between requests, and the planning of one motion."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import (
    JointGoals,
    PathGoal,
    PlanRequest,
    PoseGoals,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot

from .cartesian_motion import track, track_along
from .constraints.constrained_motion import plan_held
from .postprocessing import timed_free, timed_line, tool_points
from .scene.query import Query, Reader
from .scene.scene import CollisionScene
from .search.carried_clearance import remark
from .search.free_motion import Path
from .search.goal_search import find_pose
from .search.joint_motion import find_joints
from .search.requests import (
    Deadline,
    Failed,
    check_scaling,
    checked_start,
    limits_of,
)


class Core:
    """Robot, world and caches; for one thread at a time."""

    def __init__(self, robot: Robot, world_T_root: Pose) -> None:
        self.robot, self.world_T_root = robot, world_T_root
        self.scene = CollisionScene()
        self._reader = Reader(robot, world_T_root)

    def arm(self, name: str) -> ArmSpec:
        """Return the arm of a name.

        Args:
            name: Name of the arm.

        Raises:
            Failed: BAD_GOAL, there is no such arm.
        """
        try:
            return self.robot.arm(name)
        except KeyError as error:
            raise Failed(Code.BAD_GOAL, str(error.args[0])) from error

    def read(self, arm: ArmSpec, query: SceneQuery) -> Query:
        """Return the query for the kernels.

        Args:
            arm: The arm that moves.
            query: Scene of the request.

        Raises:
            Failed: UNKNOWN_OBJECT, the scene names something that the robot or the world does not have.
        """
        try:
            return self._reader.read(arm, self.scene, query)
        except KeyError as error:
            raise Failed(Code.UNKNOWN_OBJECT, str(error.args[0])) from error

    def plan(self, request: PlanRequest, deadline: Deadline) -> tuple[Trajectory, int]:
        """Plan one motion.

        Args:
            request: Start, goal, scene and limits.
            deadline: Limit of time, and the client's request to stop.

        Returns:
            The trajectory, and the index of the goal that it reaches.

        Raises:
            Failed: no motion was found; it has the reason.
        """
        arm = self.arm(request.arm)
        query = self.read(arm, request.scene)
        check_scaling(request)
        held = request.hold_vec_weight is not None and any(w > 0.0 for w in request.hold_vec_weight)
        if isinstance(request.goal, JointGoals) and not held:
            path, query = find_joints(arm, query, request.start_q, request.goal.q, request.seed, deadline)
            return self._timed(path, query, request, arm, deadline), path.goal
        start, query = checked_start(arm, query, request.start_q)
        deadline.poll()
        if held and isinstance(request.goal, PathGoal):
            text = "hold_vec_weight does not apply to a path, whose poses say what is kept; leave it out"
            raise Failed(Code.UNSUPPORTED, text)
        if held:
            return self._held(request, arm, query, start, deadline)
        if isinstance(request.goal, StraightGoal):
            return self._straight(request, arm, query, start, request.goal, deadline), 0
        if isinstance(request.goal, PathGoal):
            return self._along(request, arm, query, start, request.goal, deadline), 0
        assert isinstance(request.goal, PoseGoals)
        path, goal = find_pose(arm, query, start, request.goal.world_T_ee, request.seed, deadline)
        return self._timed(path, query, request, arm, deadline), goal

    def _timed(
        self, path: Path, query: Query, request: PlanRequest, arm: ArmSpec, deadline: Deadline
    ) -> Trajectory:
        """Return a free path in time, as far from obstacles as the path, or else as the query asks."""
        limits = limits_of(self.robot, arm, request.velocity_scaling, request.acceleration_scaling)
        if path.query is not None:
            try:
                return timed_free(path.points, path.query, limits, arm.joint_names, deadline)
            except Failed as failed:
                if failed.outcome.code is not Code.PLAN_FAILED:
                    raise
        return timed_free(path.points, query, limits, arm.joint_names, deadline)

    def remark(self, request: PlanRequest, trajectory: Trajectory) -> str:
        """Return a sentence when a free motion keeps a carried object nearer to obstacles than it should; else nothing.

        Args:
            request: The request.
            trajectory: Its motion.
        """
        if not request.scene.attached or not isinstance(request.goal, (JointGoals, PoseGoals)):
            return ""
        return remark(self.read(self.arm(request.arm), request.scene), trajectory.q)

    def _straight(
        self,
        request: PlanRequest,
        arm: ArmSpec,
        query: Query,
        start: Array,
        goal: StraightGoal,
        deadline: Deadline,
    ) -> Trajectory:
        path = track(query, arm, start, goal.world_T_ee, goal.max_deviation_m, deadline)
        limits = limits_of(self.robot, arm, request.velocity_scaling, request.acceleration_scaling)
        line = tool_points(path[[0, -1]], query)
        return timed_line(path, line, goal.max_deviation_m, query, limits, arm.joint_names, deadline)

    def _along(
        self,
        request: PlanRequest,
        arm: ArmSpec,
        query: Query,
        start: Array,
        goal: PathGoal,
        deadline: Deadline,
    ) -> Trajectory:
        path = track_along(query, arm, start, goal.world_T_ee, goal.max_deviation_m, deadline)
        limits = limits_of(self.robot, arm, request.velocity_scaling, request.acceleration_scaling)
        line = np.array([tool_points(start[None], query)[0], *(p.translation_m for p in goal.world_T_ee)])
        return timed_line(path, line, goal.max_deviation_m, query, limits, arm.joint_names, deadline)

    def _held(
        self, request: PlanRequest, arm: ArmSpec, query: Query, start: Array, deadline: Deadline
    ) -> tuple[Trajectory, int]:
        limits = limits_of(self.robot, arm, request.velocity_scaling, request.acceleration_scaling)

        def move(goal: StraightGoal) -> Trajectory:
            return self._straight(request, arm, query, start, goal, deadline)

        root_T_base = link_poses(self.robot, dict(request.scene.gripper_m))[arm.base_link]
        return plan_held(request, arm, query, start, self.world_T_root @ root_T_base, limits, move, deadline)
