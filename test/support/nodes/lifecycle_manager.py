"""A lifecycle manager like that of nav2: it brings nodes through their states by the standard services alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.node import Node
from rclpy.task import Future

from support.nodes.ros_stage import wait_for

CONFIGURE, CLEANUP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE


class LifecycleManager:
    """Calls the nodes of the given names from a node that another executor spins."""

    def __init__(self, node: Node, names: Sequence[str], *, answer_s: float = 60.0) -> None:
        self.names, self._answer_s = names, answer_s
        self._change = {n: node.create_client(ChangeState, f"{n}/change_state") for n in names}
        self._get = {n: node.create_client(GetState, f"{n}/get_state") for n in names}
        self.events: dict[str, list[str]] = {n: [] for n in names}
        for name in names:
            node.create_subscription(TransitionEvent, f"{name}/transition_event", self._note(name), 100)

    def _note(self, name: str) -> Any:
        return lambda event: self.events[name].append(event.goal_state.label)

    def wait_ready(self) -> None:
        """Wait until every service is matched in both directions."""
        clients = (*self._change.values(), *self._get.values())
        wait_for(lambda: all(client.service_is_ready() for client in clients), self._answer_s)
        for name in self.names:
            wait_for(lambda name=name: self._state_or_none(name) is not None, self._answer_s)

    def _state_or_none(self, name: str) -> str | None:
        """Return the state; None when the answer is lost, as to a client that the server does not know yet."""
        asked = self._get[name].call_async(GetState.Request())
        try:
            wait_for(asked.done, 1.0)
        except AssertionError:
            return None
        return str(asked.result().current_state.label)

    def state(self, name: str) -> str:
        """Return the answer of ``get_state``."""
        asked = self._get[name].call_async(GetState.Request())
        wait_for(asked.done, self._answer_s)
        return str(asked.result().current_state.label)

    def states(self) -> set[str]:
        """Return the states of all nodes."""
        return {self.state(name) for name in self.names}

    def ask(self, name: str, transition: int = 0, label: str = "") -> Future:
        """Call ``change_state`` without waiting."""
        request = ChangeState.Request(transition=Transition(id=transition, label=label))
        return self._change[name].call_async(request)

    def change(self, name: str, transition: int = 0, label: str = "") -> bool:
        """Call ``change_state`` and wait for its answer."""
        asked = self.ask(name, transition, label)
        wait_for(asked.done, self._answer_s)
        return bool(asked.result().success)

    def change_all(self, transition: int = 0, label: str = "") -> None:
        """Change one node after the other, backwards for transitions that shut down, as nav2's manager does."""
        goes_up = transition in (CONFIGURE, ACTIVATE)
        for name in self.names if goes_up else reversed(self.names):
            assert self.change(name, transition, label), f"{name} refused {transition or label}"
