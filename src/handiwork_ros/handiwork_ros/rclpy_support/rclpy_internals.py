"""All uses of rclpy beyond its documented interface, in one place, with a check that the installed version fits.

rclpy does not promise to keep these. ``faults`` lists those that the installed version lacks; a test calls it, and
users with an alternative, such as ``polling_executor.make_busy_executor``, call it at run time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import metadata
from types import SimpleNamespace
from typing import Any

from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import EventHandler
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.lifecycle import LifecycleNode, LifecycleNodeMixin
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.waitable import NumberOfEntities
from unique_identifier_msgs.msg import UUID

WaitSet: Any = getattr(_rclpy, "WaitSet", None)
"""The wait set of rclpy; used in the same way as rclpy's executor does."""

InvalidHandle: type[Exception] = getattr(_rclpy, "InvalidHandle", RuntimeError)
"""Raised when an entity is used while it is being destroyed."""

WAIT_SET = (
    "add_client",
    "add_guard_condition",
    "add_service",
    "add_subscription",
    "add_timer",
    "clear_entities",
    "get_ready_entities",
    "wait",
)
ENTITIES = {
    "num_subscriptions",
    "num_guard_conditions",
    "num_timers",
    "num_clients",
    "num_services",
    "num_events",
}


def version() -> str:
    """Return the version of rclpy, as its package states it, and that of the wheel that contains it."""
    found = [f"{name} {number}" for name in ("rclpy", "ros-rclpy") if (number := _version_of(name))]
    return ", ".join(found) or "rclpy of unknown version"


def _version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def pending_tasks(executor: Executor) -> int:
    """Return the number of tasks of the executor that have not ended.

    Args:
        executor: The executor.
    """
    return sum(not task.done() for task, _, _ in list(executor._tasks))


def is_shut_down(executor: Executor) -> bool:
    """Check whether ``shutdown`` of the executor was called.

    Args:
        executor: The executor.
    """
    return bool(executor._is_shutdown)


def wakers(executor: Executor) -> tuple[Any, Any]:
    """Return the guard conditions that end a wait: one for work from another thread, one for a signal.

    Args:
        executor: The executor.
    """
    return executor._guard, executor._sigint_gc


class _LateGuard:
    """Wakes the executor unless ``is_in_time`` says that it looks at all entities again anyway."""

    def __init__(self, guard: Any, is_in_time: Callable[[], bool]) -> None:
        self._guard, self._is_in_time = guard, is_in_time

    def trigger(self) -> None:
        """Wake the executor."""
        if not self._is_in_time():
            self._guard.trigger()


@contextmanager
def waking_late(executor: Executor, is_in_time: Callable[[], bool]) -> Iterator[None]:
    """Make handlers that wake the executor only when they end later than in the turn that began them.

    Args:
        executor: The executor.
        is_in_time: Returns whether that turn has not ended.

    Yields:
        Nothing.
    """
    guard, executor._guard = executor._guard, _LateGuard(executor._guard, is_in_time)
    try:
        yield
    finally:
        executor._guard = guard


def is_triggered(guard: Any) -> bool:
    """Check whether a guard condition was triggered and not served yet.

    Args:
        guard: The guard condition.
    """
    return bool(guard._executor_triggered)


def note_triggered(guard: Any) -> None:
    """Let the executor's next full wait serve a guard condition that ended a wait here.

    Args:
        guard: The guard condition.
    """
    guard._executor_triggered = True


def takes_message_only(sub: Subscription) -> bool:
    """Check whether the callback of a subscription takes the message without its information.

    Args:
        sub: The subscription.
    """
    return sub._callback_type is Subscription.CallbackType.MessageOnly


def take(sub: Subscription) -> Any:
    """Take the oldest message of a subscription.

    Args:
        sub: The subscription.

    Returns:
        The message and its information; None if there is none.
    """
    with sub.handle:
        return sub.handle.take_message(sub.msg_type, sub.raw)


def destroy_life_cycle(node: LifecycleNodeMixin) -> None:
    """Destroy the services of a node's life cycle, which ``destroy_node`` leaves out.

    Args:
        node: The node.
    """
    node._state_machine.destroy_when_not_in_use()


def life_cycle(node: LifecycleNodeMixin) -> Any:
    """Return the state machine of a managed node, with its transitions and the methods that trigger them.

    Args:
        node: The node.
    """
    return node._state_machine


def event_handle(subscription: Subscription, kind: Any) -> Any:
    """Return the handle of a QoS event of a subscription, to take the event without waiting for it.

    Args:
        subscription: The subscription.
        kind: Type of the event.
    """
    return _rclpy.EventHandle(subscription.handle, kind)


def goal_handle(client: ActionClient, goal_id: UUID) -> ClientGoalHandle:
    """Return a handle of a goal without an answer, to cancel it by its id.

    Args:
        client: Client of the action.
        goal_id: Id of the goal.
    """
    return ClientGoalHandle(client, goal_id, SimpleNamespace(accepted=True, stamp=None))


def take_feedback(client: ActionClient, own: Mapping[bytes, Callable[[Any], None]]) -> None:
    """Call the callbacks of all feedback that has arrived, on the executor's thread.

    rclpy takes one message of feedback in a turn, and the result in the first: a client that was held up would have the
    result before the feedback that was sent before it.

    Args:
        client: Client of the action.
        own: Callbacks of goals by their ids, which the client may have forgotten with their results.
    """
    callbacks = {**client._feedback_callbacks, **own}
    kind = client._action_type.Impl.FeedbackMessage
    while (message := client._client_handle.take_feedback(kind)) is not None:
        if callback := callbacks.get(bytes(message.goal_id.uuid)):
            callback(message)


@lru_cache(maxsize=1)
def faults() -> tuple[str, ...]:
    """Return the parts of all this that the installed rclpy lacks; each sentence names the version.

    It needs no context.
    """
    found = [text for text, fits in _checks() if not _holds(fits)]
    return tuple(f"{version()}: {text}" for text in found)


def _checks() -> list[tuple[str, Callable[[], bool]]]:
    source = _source_of
    return [
        (
            "WaitSet lacks a method that waiting needs",
            lambda: all(hasattr(WaitSet, name) for name in WAIT_SET),
        ),
        ("InvalidHandle is gone", lambda: InvalidHandle is not RuntimeError),
        (
            "NumberOfEntities counts other entities than the wait set takes",
            lambda: set(NumberOfEntities.__slots__) == ENTITIES,
        ),
        (
            "Executor does not keep its state in _tasks, _guard, _sigint_gc and _is_shutdown",
            lambda: all(
                f"self.{name}" in source(Executor.__init__)
                for name in ("_tasks", "_guard", "_sigint_gc", "_is_shutdown")
            ),
        ),
        ("Executor has no _make_handler", lambda: callable(Executor._make_handler)),
        (
            "handlers do not trigger the executor's guard at their end",
            lambda: "gc.trigger()" in source(Executor._make_handler),
        ),
        (
            "the executor does not read _executor_triggered of guards",
            lambda: "_executor_triggered" in source(Executor._wait_for_ready_callbacks),
        ),
        (
            "Subscription has no _callback_type of CallbackType.MessageOnly",
            lambda: (
                "_callback_type" in source(Subscription) and hasattr(Subscription.CallbackType, "MessageOnly")
            ),
        ),
        (
            "CallbackGroup has other methods than can_execute, beginning_execution, ending_execution",
            lambda: all(
                hasattr(CallbackGroup, name)
                for name in ("can_execute", "beginning_execution", "ending_execution")
            ),
        ),
        (
            "waitables have no is_ready, add_to_wait_set or get_num_entities",
            lambda: all(
                hasattr(EventHandler, name) for name in ("is_ready", "add_to_wait_set", "get_num_entities")
            ),
        ),
        ("nodes do not list their guards", lambda: hasattr(Node, "guards") and hasattr(Node, "waitables")),
        (
            "LifecycleNode keeps no _state_machine",
            lambda: (
                "self._state_machine" in source(LifecycleNode)
                or any("self._state_machine" in source(base) for base in LifecycleNode.__mro__[1:-1])
            ),
        ),
        (
            "ClientGoalHandle takes other arguments than action_client, goal_id, goal_response",
            lambda: (
                list(inspect.signature(ClientGoalHandle.__init__).parameters)[1:]
                == ["action_client", "goal_id", "goal_response"]
            ),
        ),
        (
            "ActionClient takes its feedback in another way",
            lambda: all(
                part in source(ActionClient)
                for part in (
                    "self._client_handle.take_feedback(",
                    "self._action_type.Impl.FeedbackMessage",
                    "self._feedback_callbacks[",
                )
            ),
        ),
        (
            "SingleThreadedExecutor is no Executor with spin_once",
            lambda: issubclass(SingleThreadedExecutor, Executor) and hasattr(Executor, "spin_once"),
        ),
    ]


def _source_of(thing: Any) -> str:
    return inspect.getsource(thing)


def _holds(fits: Callable[[], bool]) -> bool:
    try:
        return fits()
    except Exception:  # noqa: BLE001 - a missing part raises in many ways, all of which mean that it does not fit
        return False
