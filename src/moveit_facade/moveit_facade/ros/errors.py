"""The border of the handlers: every exception becomes a code and a sentence."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from handiwork_core.model.errors import HandiworkError
from handiwork_ros.node.managed_node import ManagedNode
from moveit_facade.messages.ros.writing import error_code
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of

Handler = Callable[[Any, Any], Awaitable[Any]]


def request_error(node: ManagedNode, error: Exception) -> RequestError:
    """Return the error that a client is sent.

    Args:
        node: Logs the exceptions that are faults of the program.
        error: The exception.
    """
    if isinstance(error, RequestError):
        return error
    if isinstance(error, HandiworkError):
        return error_of(error.outcome, "move_group")
    node.get_logger().error("".join(traceback.format_exception(error)))
    text = f"move_group raised {error!r}; see its log, and report this"
    return RequestError(ErrorCode.CRASH, text)


def require_active(node: ManagedNode) -> None:
    """Refuse a request while the node is not active.

    Args:
        node: The node.

    Raises:
        RequestError: COMMUNICATION_FAILURE.
    """
    if not node.is_active:
        text = f"move_group is not active, its state is {node.state}; wait until handiwork/status says ACTIVE"
        raise RequestError(ErrorCode.COMMUNICATION_FAILURE, text)


def with_error_code(response: Any, error: RequestError) -> Any:
    """Fill the error of a response that has an ``error_code``.

    Args:
        response: The response.
        error: The error.
    """
    response.error_code = error_code(error)
    return response


def guarded(
    node: ManagedNode,
    handler: Callable[[Any, Any], Any],
    fill: Callable[[Any, RequestError], Any] = with_error_code,
) -> Handler:
    """Return a handler of a service that never raises.

    Args:
        node: The node; its log has every refusal, as some responses have no text.
        handler: A plain or async handler.
        fill: Fills the response of a refusal.
    """

    async def handle(request: Any, response: Any) -> Any:
        try:
            require_active(node)
            answer = handler(request, response)
            return await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001 - an exception must not end spin()
            found = request_error(node, error)
            node.get_logger().warning(f"{handler.__name__}: {found.value.name}: {found.outcome.message}")
            return fill(type(response)(), found)

    return handle
