"""``control_msgs/action/GripperCommand`` of every gripper, beside the ``ParallelGripperCommand`` of its controller."""

from __future__ import annotations

import math
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from control_msgs.action import GripperCommand
from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.safety.watch import SafetyWatch
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of
from moveit_facade.robot.groups import Group

from .errors import request_error, require_active
from .execution import Execution
from .planning import MotionPlanning

REACHED_M = 0.002
"""Distance of the pads from the wanted opening up to which it is reached, m."""
ONLY = "gripper_action_controller/gripper_cmd"
"""Name of the action of a robot's only gripper, as in MoveIt's configurations."""


def action_names(groups: dict[str, Group]) -> dict[str, Group]:
    """Return the names of the actions: one for each gripper, and the usual one for an only gripper.

    Args:
        groups: The planning groups of the robot.
    """
    grippers = [group for group in groups.values() if not group.is_arm]
    names = {f"{group.name}_action_controller/gripper_cmd": group for group in grippers}
    if len(grippers) == 1:
        names[ONLY] = grippers[0]
    return names


class GripperActions:
    """Moves grippers.

    Args:
        node: The node.
        host: Hosts the actions.
        planning: Reads the measured joints.
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
        self._tokens: dict[bytes, Token] = {}
        self._servers = [
            self._server(host, name, group) for name, group in action_names(planning.groups).items()
        ]

    @property
    def is_busy(self) -> bool:
        """True while a goal runs."""
        return bool(self._tokens)

    def stop_all(self, code: Code, text: str) -> None:
        """End every goal.

        Args:
            code: The cause.
            text: The cause in words.
        """
        for token in self._tokens.values():
            token.set(code, text)

    def _server(self, host: Node, name: str, group: Group) -> ActionServer:
        async def execute(handle: Any) -> Any:
            return await self._run(handle, name, group)

        return ActionServer(
            host,
            GripperCommand,
            name,
            execute,
            goal_callback=lambda _goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            callback_group=ReentrantCallbackGroup(),
            result_timeout=60,
        )

    def _on_accepted(self, handle: Any) -> None:
        self._tokens[bytes(handle.goal_id.uuid)] = Token()
        handle.execute()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        if (token := self._tokens.get(bytes(handle.goal_id.uuid))) is not None:
            token.set(Code.CANCELED, "canceled by its client")
        return CancelResponse.ACCEPT

    async def _run(self, handle: Any, name: str, group: Group) -> Any:
        key, result, is_done = bytes(handle.goal_id.uuid), GripperCommand.Result(), False
        try:
            is_done = await self._move(handle.request.command, group, self._tokens[key], result)
        except Exception as error:  # noqa: BLE001 - rclpy would send an empty result
            found = request_error(self._node, error)
            self._node.get_logger().warning(f"{name}: {found.value.name}: {found.outcome.message}")
        finally:
            del self._tokens[key]
        if is_done:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    async def _move(self, command: Any, group: Group, token: Token, result: Any) -> bool:
        require_active(self._node)
        gripper = group.gripper
        assert gripper is not None
        if not math.isfinite(command.position) or not command.max_effort >= 0.0:
            text = f"command is {command.position} with max_effort {command.max_effort}; send finite numbers"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        if (refusal := self._safety.refusal()) is not None:
            raise error_of(refusal, "move_group")
        if why := self._execution.watch.why_refused():
            raise error_of(Outcome(Code.ROBOT_LOST, why), "move_group")
        outcome = await self._execution.move_gripper(
            group, float(command.position), float(command.max_effort), token
        )
        position = self._planning.reader.measured().positions[gripper.joint]
        gap_m = abs(gripper.width(position) - gripper.width(float(command.position)))
        result.position, result.effort = position, float(command.max_effort)
        result.reached_goal = outcome.ok and gap_m <= REACHED_M
        result.stalled = outcome.ok and not result.reached_goal
        if not outcome.ok:
            self._node.get_logger().warning(f"{group.name}: {outcome.code.name}: {outcome.message}")
        return outcome.ok
