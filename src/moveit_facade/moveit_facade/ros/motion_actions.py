"""The actions ``move_action`` and ``execute_trajectory``, and the topic ``trajectory_execution_event``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from std_msgs.msg import String

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.safety.watch import SafetyWatch
from moveit_facade.messages.ros.trajectory_reading import trajectory_of
from moveit_facade.messages.ros.writing import error_code, robot_state, success
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of
from moveit_facade.robot.groups import Group
from moveit_facade.scene.client_scene import ClientScene
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import DisplayTrajectory, RobotState, RobotTrajectory

from .errors import request_error, require_active
from .execution import Execution
from .planning import MotionPlanning, Plan
from .scene_keeper import Scene

RESULT_S = 60
"""The time for which a result is kept, s."""
REPLANS = 5
"""Attempts of ``replan`` without a number, as in MoveIt."""
Body = Callable[[Any, Token, Any], Awaitable[None]]


class MotionActions:
    """Plans and executes motions. Goals may run at once; the newest on a controller replaces the one before.

    Args:
        node: Hosts the topics.
        host: Hosts the actions.
        planning: Plans.
        execution: Executes.
        safety: Refuses motions while the robot is stopped.
    """

    def __init__(
        self,
        node: ManagedNode,
        host: Node,
        planning: MotionPlanning,
        execution: Execution,
        safety: SafetyWatch,
    ) -> None:
        self._node, self._planning, self._execution, self._safety = node, planning, execution, safety
        self._mimics = frozenset(j.name for j in planning.robot.joints.values() if j.mimic is not None)
        self._tokens: dict[bytes, Token] = {}
        self._display = node.create_publisher(DisplayTrajectory, "display_planned_path", 10)
        node.create_subscription(String, "trajectory_execution_event", guard(node, self._on_event), 10)
        self._servers = [
            self._server(host, MoveGroup, "move_action", self._move),
            self._server(host, ExecuteTrajectory, "execute_trajectory", self._execute),
        ]

    @property
    def is_busy(self) -> bool:
        """True while a goal runs."""
        return bool(self._tokens)

    def stop_all(self, code: Code, text: str) -> None:
        """End every goal, with its arm at rest.

        Args:
            code: The cause that the goals report.
            text: The cause in words.
        """
        for token in self._tokens.values():
            token.set(code, text)

    def show(self, plan: Plan) -> None:
        """Publish a plan for display.

        Args:
            plan: The plan.
        """
        if self._display.get_subscription_count():
            message = DisplayTrajectory(model_id=self._planning.robot.name, trajectory=[plan.trajectory])
            message.trajectory_start = robot_state(plan.start.positions)
            self._display.publish(message)

    def _server(self, host: Node, kind: Any, name: str, body: Body) -> ActionServer:
        async def execute(handle: Any) -> Any:
            return await self._run(handle, kind, name, body)

        return ActionServer(
            host,
            kind,
            name,
            execute,
            goal_callback=lambda _goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            callback_group=ReentrantCallbackGroup(),
            result_timeout=RESULT_S,
        )

    def _on_accepted(self, handle: Any) -> None:
        self._tokens[bytes(handle.goal_id.uuid)] = Token()
        handle.execute()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        if (token := self._tokens.get(bytes(handle.goal_id.uuid))) is not None:
            token.set(Code.CANCELED, "canceled by its client")
        return CancelResponse.ACCEPT

    def _on_event(self, msg: String) -> None:
        if msg.data != "stop":
            text = f"trajectory_execution_event: {msg.data[:80]!r} is not known; send 'stop'"
            self._node.get_logger().warning(text)
            return
        self._execution.stop_all(Code.PREEMPTED, "stopped by trajectory_execution_event")

    async def _run(self, handle: Any, kind: Any, name: str, body: Body) -> Any:
        """Make the result, then end the goal, then return; nothing may come between the last two steps."""
        key, result = bytes(handle.goal_id.uuid), kind.Result()
        token = self._tokens[key]
        try:
            require_active(self._node)
            await body(handle, token, result)
        except Exception as error:  # noqa: BLE001 - rclpy would send an empty result
            found = request_error(self._node, error)
            self._node.get_logger().warning(f"{name}: {found.value.name}: {found.outcome.message}")
            result.error_code = error_code(found)
        finally:
            del self._tokens[key]
        if result.error_code.val == ErrorCode.SUCCESS:
            handle.succeed()
        elif handle.is_cancel_requested and result.error_code.val == ErrorCode.PREEMPTED:
            handle.canceled()
        else:
            handle.abort()
        return result

    async def _move(self, handle: Any, token: Token, result: Any) -> None:
        goal, options = handle.request, handle.request.planning_options
        _refuse_unserved(options)
        if not options.plan_only and goal.request.start_state.joint_state.name:
            text = (
                "start_state is ignored, as in MoveIt: a motion that is executed starts at the present state"
            )
            self._node.get_logger().warning(text)
            goal.request.start_state = RobotState(is_diff=True)
        keeper = self._planning.keeper
        known, (scene, extra) = keeper.scene.objects, self._scene_of(options.planning_scene_diff)
        if extra is not None:
            await keeper.tell(known, extra)
        try:
            for attempt in range(1 + _replans(options)):
                if attempt:
                    await self._planning.planner.pause(float(options.replan_delay))
                handle.publish_feedback(MoveGroup.Feedback(state="PLANNING"))
                plan = await self._planning.plan(goal.request, scene)
                self._fill_plan(result, plan)
                _check(token)
                if options.plan_only:
                    break
                handle.publish_feedback(MoveGroup.Feedback(state="MONITOR"))
                outcome = await self._follow_plan(plan, token)
                if outcome.ok:
                    result.executed_trajectory = result.planned_trajectory
                    break
                if outcome.code is not Code.OBJECT_MOVED or attempt == _replans(options):
                    raise _motion_error(outcome)
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
        parts = (world.collision_objects, world.octomap.octomap.data, state.attached_collision_objects)
        others = (matrix.entry_names, matrix.default_entry_names, diff.link_padding, diff.link_scale)
        if not any(len(part) for part in (*parts, *others)):
            return None, None
        diff.is_diff = True
        scene = keeper.with_message(keeper.scene, diff)
        known, objects = keeper.scene.objects, scene.objects
        if objects is known:
            return scene, None
        # What the diff removes stays an obstacle of others, and is left out of this request alone.
        return scene, ClientScene({**known.objects, **objects.objects}, objects.attached)

    def _fill_plan(self, result: Any, plan: Plan) -> None:
        result.trajectory_start = robot_state(plan.start.positions)
        result.planned_trajectory = plan.trajectory
        result.planning_time = plan.planning_time_s
        self.show(plan)

    async def _follow_plan(self, plan: Plan, token: Token) -> Outcome:
        group, trajectory = self._read(plan.trajectory)
        return await self._follow(group, trajectory, plan.query, token)

    async def _execute(self, handle: Any, token: Token, result: Any) -> None:
        group, trajectory = self._read(handle.request.trajectory)
        planning = self._planning
        start = planning.reader.measured()
        query = planning.query(group.arm, start, planning.keeper.scene)
        handle.publish_feedback(ExecuteTrajectory.Feedback(state="MONITOR"))
        outcome = await self._follow(group, trajectory, query, token)
        if not outcome.ok:
            raise _motion_error(outcome)
        result.error_code = success()

    def _read(self, trajectory: RobotTrajectory) -> tuple[Group, Trajectory]:
        measured = self._planning.reader.measured().positions
        return trajectory_of(trajectory, self._planning.groups, self._mimics, measured)

    async def _follow(self, group: Group, trajectory: Trajectory, query: SceneQuery, token: Token) -> Outcome:
        _check(token)
        if (refusal := self._safety.refusal()) is not None:
            return refusal
        if why := self._execution.watch.why_refused():
            return Outcome(Code.ROBOT_LOST, why)
        if group.is_arm:
            return await self._execution.follow(group, trajectory, query, token)
        return await self._execution.move_gripper(group, float(trajectory.q[-1, 0]), 0.0, token)


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


def _replans(options: Any) -> int:
    if not options.replan:
        return 0
    return int(options.replan_attempts) or REPLANS


def _check(token: Token) -> None:
    """Raise the reason of a token that was set: nothing has moved then."""
    if token.is_set():
        text = token.detail or "stopped"
        raise error_of(Outcome(token.reason, f"{text} before the motion began"), "move_group")


def _motion_error(outcome: Outcome) -> RequestError:
    error = error_of(outcome, "trajectory_execution")
    if outcome.code in (Code.CANCELED, Code.PREEMPTED, Code.SHUTDOWN):
        text = f"{outcome.message}; the arm is at rest"
        return RequestError(ErrorCode.PREEMPTED, text, error.source)
    if outcome.code is Code.TRAJECTORY_REFUSED:
        return RequestError(
            ErrorCode.INVALID_MOTION_PLAN, error.outcome.message, "planner/validate_trajectory"
        )
    return error
