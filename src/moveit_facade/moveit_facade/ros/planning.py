"""Motion plan requests of MoveIt as requests of the planner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseArray
from handiwork_msgs.srv import PlanToJoints, PlanToPoses
from std_msgs.msg import Header

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.voxels.voxel_map import UNMODELLED
from handiwork_ros import conversions as to
from moveit_facade.constraints.evaluation import evaluate, worst
from moveit_facade.constraints.goals import Situation, further_configurations, goals_of
from moveit_facade.constraints.held import hold_weights, path_fault
from moveit_facade.constraints.types import ConstraintSet
from moveit_facade.messages.ros.constraint_reading import constraint_set
from moveit_facade.messages.ros.writing import joint_trajectory, robot_trajectory
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of
from moveit_facade.paths.gripper_motion import gripper_rows
from moveit_facade.robot.groups import Group, checked_group, groups_of, mimics_of
from moveit_facade.scene.client_scene import ClientScene
from moveit_msgs.msg import RobotTrajectory

from .planner_calls import PlannerCalls
from .robot_reading import RobotReader, StartState
from .scene_keeper import Scene, SceneKeeper

WORLD = Header(frame_id="world")
DEFAULT_BUDGET_S, LONGEST_BUDGET_S = 5.0, 300.0
"""Planning time of a request without one, and the greatest that the planner takes, s."""
MOST_SETS = 100
"""Greatest number of alternatives of one goal."""
ROWS_CHECKED = 100
"""Configurations of a path at which path constraints are checked."""
FURTHER = frozenset({Code.NO_IK, Code.GOAL_IN_COLLISION, Code.JOINT_LIMIT})
"""Causes for which another configuration within the tolerances may help."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A planned motion.

    Attributes:
        group: Its group.
        start: Where it starts.
        trajectory: The motion.
        query: The scene with which it was planned.
        planning_time_s: Time that the planner took, s.
    """

    group: Group
    start: StartState
    trajectory: RobotTrajectory
    query: SceneQuery
    planning_time_s: float


@dataclass(frozen=True, eq=False)
class Problem:
    """A request that was read.

    Attributes:
        group: The group of the arm.
        situation: The robot at the start.
        start: The start.
        options: Options of the planner without held components.
        goals: The alternatives of the goal.
        path: The path constraints.
        known: The objects that the planner knows.
        extra: Those that it has to know for this plan; None if it does.
    """

    group: Group
    situation: Situation
    start: StartState
    options: to.PlanOptions
    goals: tuple[ConstraintSet, ...]
    path: ConstraintSet = field(default_factory=ConstraintSet)
    known: ClientScene = field(default_factory=ClientScene)
    extra: ClientScene | None = None


class MotionPlanning:
    """Answers motion plan requests.

    Args:
        robot: The robot.
        reader: Reads states of the robot.
        keeper: The scene.
        planner: The planner.
        default_scaling: Share of the limits for a scaling factor of 0.
    """

    def __init__(
        self,
        robot: Robot,
        reader: RobotReader,
        keeper: SceneKeeper,
        planner: PlannerCalls,
        default_scaling: float,
    ) -> None:
        self.robot, self.reader, self.keeper, self.planner = robot, reader, keeper, planner
        self.groups = groups_of(robot)
        self._default_scaling = default_scaling
        self.mimics = frozenset(j.name for j in robot.joints.values() if j.mimic is not None)

    async def plan(self, msg: Any, scene: Scene | None = None) -> Plan:
        """Plan a motion.

        Args:
            msg: ``moveit_msgs/msg/MotionPlanRequest``.
            scene: The scene of this request; None for that of all.

        Raises:
            RequestError: The reason why there is no plan.
            BadMessage: A number is not finite, or a list is too long.
        """
        group = checked_group(self.groups, msg.group_name)
        self._refuse_unserved(msg)
        if not msg.goal_constraints:
            text = "goal_constraints is empty; send at least one set of constraints"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        to.at_most("goal_constraints", len(msg.goal_constraints), MOST_SETS, "sets")
        start = self.reader.start_state(msg.start_state)
        scene = scene or self.keeper.scene
        frames = self.reader.frames(start, scene.objects)
        goals = tuple(
            constraint_set(one, frames, f"goal_constraints[{i}]", self.mimics)
            for i, one in enumerate(msg.goal_constraints)
        )
        path = constraint_set(msg.path_constraints, frames, "path_constraints", self.mimics)
        speed = self.scaling(msg.max_velocity_scaling_factor, "max_velocity_scaling_factor")
        if not group.is_arm:
            return self._gripper_plan(group, start, goals, path, speed)
        known = scene.objects
        scene, extra = self.with_start(scene, start)
        options = to.PlanOptions(
            group.arm.name,
            None,
            self.query(group.arm, start, scene),
            None,
            self._budget_s(msg.allowed_planning_time),
            speed,
            self.scaling(msg.max_acceleration_scaling_factor, "max_acceleration_scaling_factor"),
        )
        options = replace(options, start=_start_joints(group, start))
        situation = Situation(self.robot, group.arm, frames.world_T_root, start.positions)
        problem = Problem(group, situation, start, options, goals, path, known, extra)
        return await self.solve(problem)

    async def solve(self, problem: Problem) -> Plan:
        """Return the plan of a problem; objects of the request alone are there as long as that takes.

        Args:
            problem: The problem.

        Raises:
            RequestError: The reason why there is no plan.
        """
        if problem.extra is None:
            return await self._solve(problem)
        await self.keeper.tell(problem.known, problem.extra)
        try:
            return await self._solve(problem)
        finally:
            await self.keeper.tell(problem.extra, problem.known)

    def query(self, arm: ArmSpec, start: StartState, scene: Scene) -> SceneQuery:
        """Return the scene of a request for the planner.

        Args:
            arm: The arm that moves.
            start: State of the robot.
            scene: The planning scene.
        """
        # The planner does not know the objects that are not there any more, and knows those of clients by their name.
        bodies = [*start.world.objects, *scene.objects.objects]
        removed = set(self.keeper.scene.objects.objects) - set(scene.objects.objects)
        gripper = {}
        if arm.gripper is not None and arm.gripper.joint:
            gripper[arm.gripper.joint] = start.positions[arm.gripper.joint]
        if not start.is_measured:
            gripper.update(
                (name, value)
                for name, value in start.positions.items()
                if name not in arm.joint_names and self.robot.joints[name].mimic is None
            )
        attached = tuple(
            Attachment(name, body.link, body.link_T_object)
            for name, body in scene.objects.attached.items()
            if self.keeper.scene.objects.attached.get(name) is not body
        )
        ignored = frozenset(removed - set(start.world.objects))
        if self.keeper.scene.objects.octomap is not None and scene.objects.octomap is None:
            ignored |= {UNMODELLED}  # the request's own diff has removed it
        return SceneQuery(ignored, attached, scene.allowed(self.robot, bodies), tuple(gripper.items()))

    def with_start(self, scene: Scene, start: StartState) -> tuple[Scene, ClientScene | None]:
        """Return the scene with the objects that a start state has attached.

        Args:
            scene: The scene.
            start: The start state.

        Returns:
            The scene, and the objects that the planner has to know for this request; None for none.

        Raises:
            RequestError: See ``SceneKeeper.attached_in``.
        """
        objects = scene.objects
        for i, msg in enumerate(start.attached):
            field_name = f"start_state.attached_collision_objects[{i}]"
            objects = self.keeper.attached_in(replace(scene, objects=objects), msg, field_name, start)
        known = scene.objects
        scene = replace(scene, objects=objects)
        if all(known.objects.get(name) is item for name, item in objects.objects.items()):
            return scene, None
        return scene, replace(known, objects=objects.objects)

    def scaling(self, value: float, name: str) -> float:
        """Return a scaling factor: 0 means the default, more than 1 means 1, as in MoveIt.

        Args:
            value: The factor.
            name: Its name in errors.

        Raises:
            RequestError: It is negative or not finite.
        """
        if not math.isfinite(value) or value < 0.0:
            text = f"{name} is {value}; send a number above 0 and at most 1, or 0 for the default"
            raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)
        return min(value, 1.0) if value > 0.0 else self._default_scaling

    def _budget_s(self, value: float) -> float:
        if not math.isfinite(value) or value < 0.0:
            text = f"allowed_planning_time is {value}; send seconds of at least 0, where 0 means {DEFAULT_BUDGET_S:g}"
            raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)
        return min(value, LONGEST_BUDGET_S) if value > 0.0 else DEFAULT_BUDGET_S

    def _refuse_unserved(self, msg: Any) -> None:
        if msg.trajectory_constraints.constraints or msg.reference_trajectories:
            text = "trajectory_constraints and reference_trajectories are not served; send goal_constraints"
            raise RequestError(ErrorCode.UNRECOGNIZED_GOAL_TYPE, text)
        if msg.max_cartesian_speed and not (
            math.isfinite(msg.max_cartesian_speed) and msg.max_cartesian_speed <= 0.0
        ):
            text = (
                f"max_cartesian_speed is {msg.max_cartesian_speed}; a limit of the speed of a link is not served, "
                "lower max_velocity_scaling_factor"
            )
            raise RequestError(ErrorCode.UNRECOGNIZED_GOAL_TYPE, text)

    async def _solve(self, problem: Problem) -> Plan:
        if not problem.path.is_empty:
            self._check_path_start(problem)
        goals = goals_of(problem.goals, problem.situation)
        if problem.path.is_empty:
            return await self._reach(problem, goals, None)
        try:  # a path that satisfies wide constraints anyway needs nothing to be held
            return await self._reach(problem, goals, None)
        except RequestError as error:
            weights = hold_weights(problem.path, problem.situation)
            if weights is None or error.value not in (ErrorCode.PLANNING_FAILED, ErrorCode.TIMED_OUT):
                raise
        return await self._reach(problem, goals, weights)

    async def _reach(self, problem: Problem, goals: Any, weights: tuple[float, ...] | None) -> Plan:
        """Try the poses, then the configurations of the goal, and then others within its tolerances."""
        options, last = replace(problem.options, hold_vec_weight=weights), None
        if goals.world_T_ee:
            found, last = await self._ask_poses(problem, options, goals.world_T_ee)
            if found is not None:
                return found
        if len(goals.q):
            found, last = await self._ask_joints(problem, options, goals.q)
            if found is not None:
                return found
        assert last is not None
        if not goals.is_exact and to.code_from_msg(last.outcome.code) in FURTHER:
            rows = further_configurations(problem.goals, problem.situation)
            if len(rows):
                found, last = await self._ask_joints(problem, options, rows)
                if found is not None:
                    return found
        raise self._failure(last)

    async def _ask_poses(
        self, problem: Problem, options: Any, poses: Sequence[Pose]
    ) -> tuple[Plan | None, Any]:
        array = PoseArray(header=WORLD, poses=[to.pose_to_msg(pose) for pose in poses])
        request = PlanToPoses.Request(options=to.options_to_msg(options), goals=array)
        return await self._ask(problem, "plan_to_poses", request, options.budget_s)

    async def _ask_joints(self, problem: Problem, options: Any, rows: Array) -> tuple[Plan | None, Any]:
        request = PlanToJoints.Request(options=to.options_to_msg(options), goals=np.ravel(rows).tolist())
        return await self._ask(problem, "plan_to_joints", request, options.budget_s)

    async def _ask(
        self, problem: Problem, name: str, request: Any, budget_s: float
    ) -> tuple[Plan | None, Any]:
        """Return the checked plan, or None and the planner's answer."""
        result = (await self.planner.ask(name, request, budget_s)).result
        if result.outcome.code != Code.OK:
            return None, result
        points = result.trajectory.points
        end = np.array(points[-1].positions)
        self._check_end(problem, end)
        if not problem.path.is_empty:
            stride = max(1, len(points) // ROWS_CHECKED)
            rows = [np.array(point.positions) for point in [*points[::stride], points[-1]]]
            fault = path_fault(problem.path, problem.situation, rows)
            if fault is not None:
                text = f"no path was found that satisfies path_constraints: {fault[1].text}"
                raise RequestError(
                    ErrorCode.PLANNING_FAILED, f"{text}; widen the tolerance", "path_constraints"
                )
        trajectory = robot_trajectory(result.trajectory)
        plan = Plan(
            problem.group, problem.start, trajectory, problem.options.scene, float(result.planning_time)
        )
        return plan, result

    def _check_end(self, problem: Problem, q: Array) -> None:
        """Refuse a plan whose end satisfies none of the sets: it would be called a success."""
        joints = {**problem.start.positions, **dict(zip(problem.group.joint_names, q.tolist(), strict=True))}
        faults = []
        for one in problem.goals:
            fault = worst(evaluate(one, joints, problem.situation.link_poses(one.links, q)))
            if fault is None:
                return
            faults.append(fault)
        text = f"the plan would end outside of the goal's tolerances: {faults[0].text}; widen them"
        raise RequestError(ErrorCode.GOAL_CONSTRAINTS_VIOLATED, text, "goal_constraints")

    def _check_path_start(self, problem: Problem) -> None:
        links = problem.situation.link_poses(problem.path.links)
        fault = worst(evaluate(problem.path, problem.start.positions, links))
        if fault is not None:
            text = (
                f"the start violates path_constraints: {fault.text}; move there first, or widen the tolerance"
            )
            raise RequestError(ErrorCode.START_STATE_VIOLATES_PATH_CONSTRAINTS, text, "path_constraints")

    def _failure(self, result: Any) -> RequestError:
        """Return the error of a plan that failed, with bodies and depth in its sentence."""
        outcome = to.outcome_from_msg(result.outcome)
        error = error_of(outcome, "planner_node")
        depth_m = float(result.depth)
        if outcome.blocking is not None and math.isfinite(depth_m) and "mm" not in error.outcome.message:
            pair = outcome.blocking
            text = f"{error.outcome.message}; {pair.a!r} is {1e3 * depth_m:.1f} mm inside {pair.b!r}"
            return RequestError(error.value, text, error.source)
        return error

    def _gripper_plan(
        self,
        group: Group,
        start: StartState,
        goals: Sequence[ConstraintSet],
        path: ConstraintSet,
        speed: float,
    ) -> Plan:
        gripper, name = group.gripper, group.joint_names[0]
        assert gripper is not None
        if not path.is_empty or any(one.positions or one.orientations for one in goals):
            text = f"group {group.name!r} is a gripper: send joint constraints of {name!r} alone"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        wanted = [joint for one in goals for joint in one.joints if joint.joint == name]
        if not wanted or any(joint.joint != name for one in goals for joint in one.joints):
            text = f"goal_constraints of group {group.name!r} must constrain {name!r} and no joint of another group"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        joint, goal = self.robot.joints[name], wanted[0]
        low, high = sorted((gripper.position(gripper.min_width_m), gripper.position(gripper.max_width_m)))
        position = float(np.clip(goal.position, low, high))
        if position - goal.position > goal.above + 1e-6 or goal.position - position > goal.below + 1e-6:
            text = f"joint {name!r} at {goal.position:.4f} leaves the gripper's range {low:.4f} to {high:.4f}"
            raise RequestError(ErrorCode.GOAL_STATE_INVALID, text)
        times, q, qd, qdd = gripper_rows(joint, start.positions[name], position, speed)
        follow = mimics_of(self.robot, name)
        columns = [(1.0, 0.0), *follow.values()]
        scale, shift = np.array([c[0] for c in columns]), np.array([c[1] for c in columns])
        message = joint_trajectory((name, *follow), (times, q * scale + shift, qd * scale, qdd * scale))
        return Plan(group, start, robot_trajectory(message), SceneQuery(), 0.0)


def _start_joints(group: Group, start: StartState) -> JointState:
    return JointState(0.0, {name: start.positions[name] for name in group.joint_names})
