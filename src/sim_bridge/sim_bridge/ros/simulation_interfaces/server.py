"""Serves simulation_interfaces: refusals as results, and only the services that the installed definitions have."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.conversions import BadMessage
from handiwork_ros.node.managed_node import ManagedNode

NOT_FOUND, INCORRECT_STATE, FAILED, OK, UNSUPPORTED = 2, 3, 4, 1, 0
"""Codes of Result.msg, equal in all versions."""


class ServiceRefused(HandiworkError):
    """A request that ends with a code and a sentence.

    Args:
        code: Code of Result.msg or of the service.
        message: The sentence.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(Outcome(Code.BAD_GOAL, message))
        self.code = code


class StandardServices:
    """Services of one node. Handlers are coroutines that fill the response, and may raise ``ServiceRefused``.

    Args:
        node: Hosts them.
        definitions: The module ``simulation_interfaces.srv``.
    """

    def __init__(self, node: ManagedNode, definitions: Any) -> None:
        self._node, self._definitions = node, definitions

    def serve(self, kind: str, name: str, handler: Callable[[Any, Any], Any]) -> bool:
        """Create a service when the installed definitions have its type.

        Args:
            kind: Name of the type.
            name: Name of the service.
            handler: Coroutine of request and response.

        Returns:
            Whether they have it.
        """
        found = getattr(self._definitions, kind, None)
        if found is None:
            self._node.get_logger().info(f"simulation_interfaces has no {kind}; {name} is not served")
            return False
        self._node.create_service(found, name, self._guarded(handler))
        return True

    def _guarded(self, handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        async def guarded(request: Any, response: Any) -> Any:
            try:
                if not self._node.is_active:
                    raise ServiceRefused(INCORRECT_STATE, "sim_bridge is not active; activate it first")
                await handler(request, response)
            except ServiceRefused as refused:
                put_result(response, refused.code, str(refused))
            except BadMessage as error:
                put_result(response, FAILED, str(error))
            except Exception as error:  # noqa: BLE001 - the border between the executor and our code
                self._node.get_logger().error(f"{handler.__qualname__} failed:\n{traceback.format_exc()}")
                put_result(response, FAILED, f"{handler.__qualname__} raised {error!r}; see the node's log")
            return response

        return guarded


def put_result(response: Any, code: int, message: str = "") -> None:
    """Write the result of a response that has one.

    Args:
        response: The response.
        code: Code of the result.
        message: Explanation; empty for none.
    """
    if hasattr(response, "result"):
        response.result.result, response.result.error_message = code, message
