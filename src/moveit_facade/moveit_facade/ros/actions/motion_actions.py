"""The actions ``move_action`` and ``execute_trajectory``, and the topic ``trajectory_execution_event``."""

from __future__ import annotations

from typing import Any

from std_msgs.msg import String

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.safe_callbacks import guard
from moveit_facade.messages.ros.trajectory_reading import trajectory_of
from moveit_facade.messages.ros.writing import robot_state, success
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.robot.groups import Group, checked_group
from moveit_facade.ros.planning import MotionPlanning, Plan
from moveit_facade.ros.scene_keeper import Scene
from moveit_facade.scene.client_scene import ClientScene
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import DisplayTrajectory, RobotState, RobotTrajectory

from .controlled_motion import ControlledMotion, check, motion_error
from .goal_frame import GoalFrame


class MotionActions:
    """Plans and executes motions. Goals may run at once; the newest on a controller replaces the one before.

    Args:
        node: Hosts the topics.
        frame: Serves the actions.
        planning: Plans.
        motion: Executes.
        replans: Number of new plans for ``replan`` without a number of its own.
    """

    def __init__(
        self,
        node: ManagedNode,
        frame: GoalFrame,
        planning: MotionPlanning,
        motion: ControlledMotion,
        replans: int,
    ) -> None:
        self._node, self._planning, self._motion = node, planning, motion
        self._replans = replans
        self._display = node.create_publisher(DisplayTrajectory, "display_planned_path", 10)
        node.create_subscription(String, "trajectory_execution_event", guard(node, self._on_event), 10)
        frame.serve(MoveGroup, "move_action", self._move)
        frame.serve(ExecuteTrajectory, "execute_trajectory", self._execute)

    def show(self, plan: Plan) -> None:
        """Publish a plan for display.

        Args:
            plan: The plan.
        """
        if self._display.get_subscription_count():
            message = DisplayTrajectory(model_id=self._planning.robot.name, trajectory=[plan.trajectory])
            message.trajectory_start = robot_state(plan.start.positions)
            self._display.publish(message)

    def _on_event(self, msg: String) -> None:
        if msg.data != "stop":
            text = f"trajectory_execution_event: {msg.data[:80]!r} is not known; send 'stop'"
            self._node.get_logger().warning(text)
            return
        self._motion.execution.stop_all(Code.PREEMPTED, "stopped by trajectory_execution_event")

    async def _move(self, handle: Any, token: Token, result: Any) -> None:
        goal, options = handle.request, handle.request.planning_options
        _refuse_unserved(options)
        if not options.plan_only and goal.request.start_state.joint_state.name:
            text = (
                "start_state is ignored, as in MoveIt: a motion that is executed starts at the present state"
            )
            self._node.get_logger().warning(text)
            goal.request.start_state = RobotState(is_diff=True)
        if not options.plan_only:  # a plan starts where the arm is at rest
            await self._motion.execution.rest(checked_group(self._planning.groups, goal.request.group_name))
        keeper = self._planning.keeper
        known, (scene, extra) = keeper.scene.objects, self._scene_of(options.planning_scene_diff)
        if extra is not None:
            await keeper.tell(known, extra)
        try:
            for attempt in range(1 + self._attempts(options)):
                if attempt:
                    await self._planning.planner.pause(float(options.replan_delay))
                handle.publish_feedback(MoveGroup.Feedback(state="PLANNING"))
                plan = await self._planning.plan(goal.request, scene)
                self._fill_plan(result, plan)
                check(token)
                if options.plan_only:
                    break
                handle.publish_feedback(MoveGroup.Feedback(state="MONITOR"))
                outcome = await self._follow_plan(plan, token)
                if outcome.ok:
                    result.executed_trajectory = result.planned_trajectory
                    break
                if outcome.code is not Code.OBJECT_MOVED or attempt == self._attempts(options):
                    raise motion_error(outcome)
        finally:
            if extra is not None:
                await keeper.tell(extra, known)
        handle.publish_feedback(MoveGroup.Feedback(state="IDLE"))
        result.error_code = success()

    def _scene_of(self, diff: Any) -> tuple[Scene | None, Any]:
        """Return the scene of a request with a diff, and the objects that the planner must know for it."""
        keeper = self._planning.keeper
        world, state = diff.world, diff.robot_state
        matrix = diff.allowed_collision_matrix
        octomap = world.octomap.octomap.id or world.octomap.octomap.data
        parts = (world.collision_objects, octomap, state.attached_collision_objects)
        others = (matrix.entry_names, matrix.default_entry_names, diff.link_padding, diff.link_scale)
        if not any(len(part) for part in (*parts, *others)):
            return None, None
        diff.is_diff = True
        scene = keeper.with_message(keeper.scene, diff)
        known, objects = keeper.scene.objects, scene.objects
        if objects is known:
            return scene, None
        # What the diff removes stays an obstacle of others, and is left out of this request alone.
        everything = {**known.objects, **objects.objects}
        return scene, ClientScene(everything, objects.attached, objects.octomap or known.octomap)

    def _fill_plan(self, result: Any, plan: Plan) -> None:
        result.trajectory_start = robot_state(plan.start.positions)
        result.planned_trajectory = plan.trajectory
        result.planning_time = plan.planning_time_s
        self.show(plan)

    async def _follow_plan(self, plan: Plan, token: Token) -> Outcome:
        group, trajectory = self._read(plan.trajectory)
        return await self._motion.follow(group, trajectory, plan.query, token)

    async def _execute(self, handle: Any, token: Token, result: Any) -> None:
        group, trajectory = self._read(handle.request.trajectory)
        planning = self._planning
        start = planning.reader.measured()
        query = planning.query(group.arm, start, planning.keeper.scene)
        handle.publish_feedback(ExecuteTrajectory.Feedback(state="MONITOR"))
        outcome = await self._motion.follow(group, trajectory, query, token)
        if not outcome.ok:
            raise motion_error(outcome)
        result.error_code = success()

    def _read(self, trajectory: RobotTrajectory) -> tuple[Group, Trajectory]:
        planning = self._planning
        measured = planning.reader.measured().positions
        return trajectory_of(trajectory, planning.groups, planning.mimics, measured)

    def _attempts(self, options: Any) -> int:
        if not options.replan:
            return 0
        return int(options.replan_attempts) or self._replans


def _refuse_unserved(options: Any) -> None:
    if options.look_around:
        text = "planning_options.look_around is true, and the robot has no sensor to point; send false"
        raise RequestError(ErrorCode.UNRECOGNIZED_GOAL_TYPE, text)
    if not 0.0 <= options.replan_delay <= 60.0 or not 0 <= options.replan_attempts <= 100:
        text = (
            f"planning_options.replan_delay is {options.replan_delay}, replan_attempts {options.replan_attempts}; "
            "send 0 to 60 s and 0 to 100"
        )
        raise RequestError(ErrorCode.INVALID_MOTION_PLAN, text)
