"""The frame of every action: tokens, cancel, and the end of a goal with its reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code
from handiwork_ros.node.managed_node import ManagedNode
from moveit_facade.messages.ros.writing import error_code
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.ros.errors import request_error, require_active

RESULT_S = 60
"""The time for which a result is kept, s."""
Body = Callable[[Any, Token, Any], Awaitable[None]]
"""Handles a goal: its handle, its token, the result to fill. It raises the reason of a failure."""
Refuse = Callable[[Any, RequestError], None]
"""Writes the reason of a failure into a result."""


def with_error(result: Any, error: RequestError) -> None:
    """Write the reason of a failure into a result that has an ``error_code``.

    Args:
        result: The result.
        error: The reason.
    """
    result.error_code = error_code(error)


class GoalFrame:
    """Serves actions whose goals may run at once. Each goal has a token, which a cancel or a stop sets.

    Args:
        node: The node; its state decides whether goals are served.
        host: Hosts the actions.
    """

    def __init__(self, node: ManagedNode, host: Node) -> None:
        self._node, self._host = node, host
        self._tokens: dict[bytes, Token] = {}
        self._servers: list[ActionServer] = []

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

    def serve(self, kind: Any, name: str, body: Body, refuse: Refuse = with_error) -> None:
        """Serve an action.

        Args:
            kind: Type of the action.
            name: Its name.
            body: Handles a goal.
            refuse: Writes the reason of a failure into the result.
        """

        async def execute(handle: Any) -> Any:
            result = kind.Result()
            error = await self._error_of(body, handle, result, name)
            if error is not None:
                refuse(result, error)
            # rclpy sends the result of a goal that has ended: nothing may come between this and the return.
            self._end(handle, error)
            return result

        server = ActionServer(
            self._host,
            kind,
            name,
            execute,
            goal_callback=lambda _goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            callback_group=ReentrantCallbackGroup(),
            result_timeout=RESULT_S,
        )
        self._servers.append(server)

    def _on_accepted(self, handle: Any) -> None:
        self._tokens[bytes(handle.goal_id.uuid)] = Token()
        handle.execute()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        if (token := self._tokens.get(bytes(handle.goal_id.uuid))) is not None:
            token.set(Code.CANCELED, "canceled by its client")
        return CancelResponse.ACCEPT

    async def _error_of(self, body: Body, handle: Any, result: Any, name: str) -> RequestError | None:
        key = bytes(handle.goal_id.uuid)
        try:
            require_active(self._node)
            await body(handle, self._tokens[key], result)
        except Exception as error:  # noqa: BLE001 - rclpy would send an empty result
            found = request_error(self._node, error)
            self._node.get_logger().warning(f"{name}: {found.value.name}: {found.outcome.message}")
            return found
        finally:
            del self._tokens[key]
        return None

    @staticmethod
    def _end(handle: Any, error: RequestError | None) -> None:
        """CANCELED ends a goal that its client stopped; any other failure is ABORTED, also one after a cancel."""
        if error is None:
            handle.succeed()
        elif handle.is_cancel_requested and error.value is ErrorCode.PREEMPTED:
            handle.canceled()
        else:
            handle.abort()
