"""The actions of arms and grippers. Goals go to the controllers' thread; results return by ``create_task``."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from action_msgs.msg import GoalStatus
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future

from control_msgs.action import FollowJointTrajectory
from handiwork_core.control.control_thread import ControlThread
from handiwork_core.control.drivers import ArmDriver
from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_core.control.goal_slot import Goal, GoalSlot
from handiwork_core.control.gripper_controller import GripperGoal, GripperResult
from handiwork_core.control.trajectory_controller import Ending, TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.robot.robot import ArmSpec, BaseSpec, GripperSpec
from handiwork_core.safety.lease import HeartbeatLease
from handiwork_ros.actions.action_events import ActionEvents
from handiwork_ros.controllers.feedback import feedback_to_msg
from handiwork_ros.conversions.gripper import gripper_action, gripper_result
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.safe_callbacks import guard

from .goal_messages import read_gripper, read_trajectory

RESULT_TIMEOUT_S = 30
"""The time for which a result is kept, s."""

G = TypeVar("G")
R = TypeVar("R", TrajectoryResult, GripperResult)


class SlotServer(Generic[G, R]):
    """An action server for one goal slot. A goal with faults is accepted, then aborted with the reason.

    Args:
        node: Hosts the server.
        loop: Returns the control thread that owns the slot.
        slot: Returns the slot that takes the goals.
        on_begin: Called when a goal begins, so that its client's lease holds from then on.
        action: Type and name of the action.
        read: Converts the goal message to a goal; raises ValueError with a sentence for a person.
        refuse: Makes the result of a goal that could not be read or begun.
        write: Converts the result to its message.
        progress: Returns the feedback message, called on the controllers' thread; None: the action has no feedback.
    """

    def __init__(
        self,
        node: ManagedNode,
        loop: Callable[[], ControlThread],
        slot: Callable[[], GoalSlot[G, R]],
        on_begin: Callable[[], None],
        action: tuple[Any, str],
        read: Callable[[Any], G],
        refuse: Callable[[str], R],
        write: Callable[[R], Any],
        progress: Callable[[], Any] | None = None,
    ) -> None:
        self._node, self._loop = node, loop
        self._slot: Callable[[], GoalSlot[G, R]] = slot
        self._read: Callable[[Any], G] = read
        self._refuse: Callable[[str], R] = refuse
        self._write: Callable[[R], Any] = write
        self._on_begin, self._progress = on_begin, progress
        self._goals: dict[bytes, Goal[G, R]] = {}
        kind, name = action
        self._events = ActionEvents(node, kind, name)
        self.server = ActionServer(
            node,
            kind,
            name,
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=self._on_cancel,
            result_timeout=RESULT_TIMEOUT_S,
        )

    @property
    def idle(self) -> bool:
        """True while no client waits for a result."""
        return not self._goals

    def _on_goal(self, _request: Any) -> GoalResponse:
        return GoalResponse.ACCEPT if self._node.is_active else GoalResponse.REJECT

    def _on_cancel(self, handle: Any) -> CancelResponse:
        goal = self._goals.get(bytes(handle.goal_id.uuid))
        if goal is not None:
            goal.canceled = True
            self._loop().submit(lambda: guard(self._node, self._slot().cancel)(goal))
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        key = bytes(handle.goal_id.uuid)
        self._events.goal(handle)
        ended: Future = Future()
        executor = self._node.executor
        try:
            goal: Goal[G, R] = Goal(
                self._read(handle.request),
                lambda result: executor.create_task(ended.set_result, result),
                self._feedback_of(handle),
            )
        except ValueError as error:
            refused = self._write(self._refuse(str(error)))
            self._events.result(handle, GoalStatus.STATUS_ABORTED, refused)
            handle.abort()
            return refused
        self._goals[key] = goal
        self._on_begin()
        if handle.is_cancel_requested:
            goal.canceled = True
        if self._node.is_active:
            self._loop().submit(lambda: self._begin(goal))
        else:  # deactivated since the goal was accepted: its loop has ended and would never answer
            text = f"{self._node.get_name()} was deactivated before the goal began"
            goal.done(self._slot().driver.unstarted(Ending.ABORTED, text))
        result: R = await ended
        del self._goals[key]
        message = self._write(result)
        if result.ending is Ending.SUCCEEDED:
            self._events.result(handle, GoalStatus.STATUS_SUCCEEDED, message)
            handle.succeed()
        elif result.ending is Ending.CANCELED and handle.is_cancel_requested:
            self._events.result(handle, GoalStatus.STATUS_CANCELED, message)
            handle.canceled()
        else:
            self._events.result(handle, GoalStatus.STATUS_ABORTED, message)
            if result.message:
                self._node.get_logger().warning(result.message)
            handle.abort()
        return message

    def _feedback_of(self, handle: Any) -> Callable[[], None] | None:
        """Return the function with which the controllers' thread sends feedback to a goal's client."""
        progress, executor = self._progress, self._node.executor
        if progress is None:
            return None

        def publish(message: Any) -> None:
            if handle.is_active:
                handle.publish_feedback(message)

        return lambda: executor.create_task(guard(self._node, publish), progress()) and None

    def _begin(self, goal: Goal[G, R]) -> None:
        """Begin a goal, or end it with the reason why it cannot begin; on the controllers' thread."""
        if goal.canceled:
            goal.done(self._slot().driver.unstarted(Ending.CANCELED, "canceled by the client"))
            return
        try:
            self._slot().submit(goal)
        except Exception as error:  # noqa: BLE001 an exception must end this goal only, not the thread
            name = self._node.get_name()
            self._node.get_logger().error(f"a goal could not begin:\n{traceback.format_exc()}")
            goal.done(self._refuse(f"{name}: the goal could not begin: {error!r}; see the node's log"))


def arm_server(
    node: ManagedNode,
    loop: Callable[[], ControlThread],
    arm: ArmSpec | BaseSpec,
    lease: HeartbeatLease,
    controller: str = "",
) -> SlotServer[TrajectoryGoal, TrajectoryResult]:
    """Make the server of ``<arm>_controller/follow_joint_trajectory``; a mobile base has one, too.

    Args:
        node: Hosts the server.
        loop: Returns the control thread that owns the arm.
        arm: Description of the arm or base.
        lease: Notes when a goal of the arm begins.
        controller: Prefix of the action's name; empty: the arm's own.

    Returns:
        The server.
    """

    def write(result: TrajectoryResult) -> Any:
        return FollowJointTrajectory.Result(error_code=int(result.code), error_string=result.message)

    return SlotServer(
        node,
        loop,
        lambda: loop().arms[arm.name],
        lambda: lease.accept(arm.name, time.monotonic()),
        (FollowJointTrajectory, f"{controller or arm.controller}/follow_joint_trajectory"),
        read_trajectory,
        lambda message: TrajectoryResult(Ending.ABORTED, ErrorCode.INVALID_GOAL, message),
        write,
        lambda: feedback_to_msg(ArmDriver(loop().plant, arm.name).progress()),
    )


def gripper_server(
    node: ManagedNode, loop: Callable[[], ControlThread], gripper: GripperSpec, lease: HeartbeatLease
) -> SlotServer[GripperGoal, GripperResult]:
    """Make the server of the gripper's action; a stall is a success with ``stalled`` set.

    Args:
        node: Hosts the server.
        loop: Returns the control thread that owns the gripper.
        gripper: Description of the gripper.
        lease: Notes when a goal of the gripper begins.

    Returns:
        The server.
    """

    def write(result: GripperResult) -> Any:
        return gripper_result(gripper, float(result.position), stalled=result.stalled, reached=result.reached)

    return SlotServer(
        node,
        loop,
        lambda: loop().grippers[gripper.name],
        lambda: lease.accept(gripper.name, time.monotonic()),
        (gripper_action(gripper), gripper.action_name),
        lambda request: read_gripper(request, gripper),
        lambda message: GripperResult(
            Ending.ABORTED, float("nan"), stalled=False, reached=False, message=message
        ),
        write,
    )
