"""Wrappers that keep a failing callback from ending ``spin()``, and with it the whole node."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.conversions import outcome_to_msg


def guard(node: Node, callback: Callable[..., None]) -> Callable[..., None]:
    """Wrap a callback of a subscription, timer or clock jump; an exception is logged with its traceback.

    Args:
        node: Logs the exception.
        callback: The callback.

    Returns:
        The wrapped callback.
    """

    def guarded(*args: Any) -> None:
        try:
            callback(*args)
        except Exception:  # noqa: BLE001 - an exception must not end spin()
            node.get_logger().error(f"{_name(callback)} failed:\n{traceback.format_exc()}")

    return guarded


def guard_service(node: Node, handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Wrap the handler of a service; an exception becomes the response's outcome.

    Args:
        node: Logs unexpected exceptions.
        handler: A plain or async handler. The outcome of a ``HandiworkError`` is sent; any other exception is sent as
            INTERNAL.

    Returns:
        The wrapped handler.
    """

    async def guarded(request: Any, response: Any) -> Any:
        try:
            answer = handler(request, response)
            return await answer if inspect.isawaitable(answer) else answer
        except HandiworkError as error:
            return with_outcome(response, error.outcome)
        except Exception as error:  # noqa: BLE001 - an exception must not end spin()
            node.get_logger().error(f"{_name(handler)} failed:\n{traceback.format_exc()}")
            text = f"{node.get_name()}: {_name(handler)} raised {error!r}; see the node's log"
            return with_outcome(response, Outcome(Code.INTERNAL, text))

    return guarded


def with_outcome(response: Any, outcome: Outcome) -> Any:
    """Fill a response's outcome, in the response itself or in its ``result``.

    Args:
        response: The response; it is changed.
        outcome: The outcome.

    Returns:
        The response.
    """
    holder = response if hasattr(response, "outcome") else response.result
    holder.outcome = outcome_to_msg(outcome)
    return response


def _name(callback: Callable[..., Any]) -> str:
    inner = getattr(callback, "func", callback)  # of functools.partial
    return getattr(inner, "__qualname__", repr(inner))
