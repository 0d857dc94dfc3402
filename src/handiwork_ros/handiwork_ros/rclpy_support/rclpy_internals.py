"""Everything that Handiwork uses of rclpy beyond its documented interface, in one place, with a check that it fits.

rclpy keeps no promise about these. ``faults`` says what of them the installed version lacks; a test runs it, and
whoever can do without, such as ``busy_executor.make_busy_executor``, asks it at run time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
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
"""Waits for entities; used as rclpy's executor does."""

InvalidHandle: type[Exception] = getattr(_rclpy, "InvalidHandle", RuntimeError)
"""Raised where something that is used is being destroyed."""

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


class _Mute:
    """Takes the place of the guard that each callback triggers at its end; nobody waits for it meanwhile."""

    def trigger(self) -> None:
        """Wake nobody."""


def version() -> str:
    """Version of rclpy, as its package says, and that of the wheel that it came in."""
    found = [f"{name} {number}" for name in ("rclpy", "ros-rclpy") if (number := _version_of(name))]
    return ", ".join(found) or "rclpy of unknown version"


def _version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def has_pending_task(executor: Executor) -> bool:
    """Whether a task of the executor has not ended."""
    return not all(task.done() for task, _, _ in list(executor._tasks))


def is_shut_down(executor: Executor) -> bool:
    """Whether ``shutdown`` was called."""
    return bool(executor._is_shutdown)


def wakers(executor: Executor) -> tuple[Any, Any]:
    """Guards that end a wait: work from another thread, and a signal."""
    return executor._guard, executor._sigint_gc


@contextmanager
def muted(executor: Executor) -> Iterator[None]:
    """Handlers that are made meanwhile do not wake the executor when they end."""
    guard, executor._guard = executor._guard, _Mute()
    try:
        yield
    finally:
        executor._guard = guard


def is_triggered(guard: Any) -> bool:
    """Whether a guard condition was triggered and not served yet."""
    return bool(guard._executor_triggered)


def note_triggered(guard: Any) -> None:
    """Let the executor's next full wait serve a guard condition that ended a wait here."""
    guard._executor_triggered = True


def takes_message_only(sub: Subscription) -> bool:
    """Whether the callback of a subscription takes the message without its information."""
    return sub._callback_type is Subscription.CallbackType.MessageOnly


def take(sub: Subscription) -> Any:
    """The oldest message of a subscription with its information, or None."""
    with sub.handle:
        return sub.handle.take_message(sub.msg_type, sub.raw)


def destroy_life_cycle(node: LifecycleNodeMixin) -> None:
    """Free the services of a node's life cycle, which ``destroy_node`` leaves out."""
    node._state_machine.destroy_when_not_in_use()


def life_cycle(node: LifecycleNodeMixin) -> Any:
    """Return the state machine of a managed node: its transitions, and what triggers them."""
    return node._state_machine


def event_handle(subscription: Subscription, kind: Any) -> Any:
    """Return the handle of a QoS event of a subscription, to take the event without waiting for it."""
    return _rclpy.EventHandle(subscription.handle, kind)


def goal_handle(client: ActionClient, goal_id: UUID) -> ClientGoalHandle:
    """A handle of a goal whose answer has not come, to cancel it by its id."""
    return ClientGoalHandle(client, goal_id, SimpleNamespace(accepted=True, stamp=None))


@lru_cache(maxsize=1)
def faults() -> tuple[str, ...]:
    """What the installed rclpy lacks of all this; each names the version. Needs no context."""
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
            "the executor does not look at _executor_triggered of guards",
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
            "SingleThreadedExecutor is no Executor with spin_once",
            lambda: issubclass(SingleThreadedExecutor, Executor) and hasattr(Executor, "spin_once"),
        ),
    ]


def _source_of(thing: Any) -> str:
    return inspect.getsource(thing)


def _holds(fits: Callable[[], bool]) -> bool:
    try:
        return fits()
    except Exception:  # noqa: BLE001 - what is gone raises in many ways, and all of them mean that it does not fit
        return False
