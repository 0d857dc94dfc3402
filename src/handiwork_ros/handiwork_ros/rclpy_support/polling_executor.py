"""An executor for nodes that a topic wakes a hundred times a second: its waits take half of the time of rclpy's."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from rclpy.event_handler import EventHandler
from rclpy.executors import Executor
from rclpy.logging import get_logger
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from rclpy.waitable import NumberOfEntities

from . import rclpy_internals as internals
from .node_executor import LateWakingExecutor, NodeExecutor

POLL_S = 0.1
"""The period in which services, clients and actions are checked while topics and timers are busy, s."""

FULL_S = 1.0
"""The longest wait of QoS events for a full turn of rclpy, s: a node has dozens of them, and they are rare."""


class _Turns:
    """Waits for topics and timers repeatedly, and serves them, until a guard condition or a coroutine callback ends it.

    The entities that rclpy collects, holds and wraps for every single callback are collected and held once.
    """

    def __init__(self, executor: PollingExecutor, nodes: list[Any], held: ExitStack) -> None:
        subs = [s for node in nodes for s in node.subscriptions if executor.can_execute(s)]
        timers = [t for node in nodes for t in node.timers if executor.can_execute(t)]
        self._guards = [*(guard for node in nodes for guard in node.guards), *internals.wakers(executor)]
        for entity in (*subs, *timers, *self._guards):
            held.enter_context(entity.handle)
        context = executor.context.handle
        held.enter_context(context)
        self._set = waiting = internals.WaitSet(len(subs), len(self._guards), len(timers), 0, 0, 0, context)
        self._parts = [
            *((waiting.add_subscription, sub.handle) for sub in subs),
            *((waiting.add_guard_condition, guard.handle) for guard in self._guards),
            *((waiting.add_timer, timer.handle) for timer in timers),
        ]
        self._subs = {sub.handle.pointer: sub for sub in subs}
        self._timers = {timer.handle.pointer: timer for timer in timers}
        self.is_woken = False
        self.is_plain = not any(inspect.iscoroutinefunction(e.callback) for e in (*subs, *timers))

    def take(self, limit_s: float) -> bool:
        """Wait once and serve the ready entities; False if there were none. A guard condition sets ``is_woken``."""
        waiting = self._set
        waiting.clear_entities()
        for add, handle in self._parts:
            add(handle)
        waiting.wait(int(limit_s * 1e9))
        guards = waiting.get_ready_entities("guard_condition")
        if guards:
            self.is_woken = True
            for guard in self._guards:
                if guard.handle.pointer in guards:
                    internals.note_triggered(guard)
        timers, subs = waiting.get_ready_entities("timer"), waiting.get_ready_entities("subscription")
        served = [_serve(self._timers[pointer], _call_timer) for pointer in timers]
        served += [_serve(self._subs[pointer], _call_subscription) for pointer in subs]
        return bool(served) and all(served)


class PollingExecutor(LateWakingExecutor):
    """Serves topics and timers itself, and at intervals, or when no message comes, all entities as rclpy does.

    Args:
        options: Options of ``NodeExecutor``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._full_s = float("-inf")

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Serve topics and timers for a while; if another entity is ready, or none is, wait as rclpy does.

        Args:
            timeout_sec: Longest wait, s; None: without a limit.
        """
        limit_s = POLL_S if timeout_sec is None else min(POLL_S, max(0.0, timeout_sec))
        if self._has_other_work() or not self._serve_for(limit_s):
            self._full_s = time.monotonic() + FULL_S
            super().spin_once(timeout_sec)

    def _has_other_work(self) -> bool:
        """Check whether a task, or an entity that is neither topic nor timer, must be served now."""
        nodes = self.get_nodes()
        if time.monotonic() >= self._full_s or internals.pending_tasks(self):
            return True
        if any(internals.is_triggered(guard) for node in nodes for guard in node.guards):
            return True
        with ExitStack() as held:
            try:
                return _is_any_ready(self, nodes, held)
            except internals.InvalidHandle:  # an entity is being destroyed
                return True

    def _serve_for(self, limit_s: float) -> bool:
        """Serve topics and timers for a time; return False if another entity ended it, or none was ready."""
        end_s = time.monotonic() + limit_s
        with ExitStack() as held:
            try:
                turns = _Turns(self, self.get_nodes(), held)
            except internals.InvalidHandle:
                return False
            has_served = False
            while turns.is_plain and self.context.ok() and not internals.is_shut_down(self):
                left_s = end_s - time.monotonic()
                if left_s <= 0.0:
                    return has_served
                has_come = turns.take(left_s)
                if turns.is_woken or not has_come:
                    return has_served and not turns.is_woken and time.monotonic() >= end_s
                has_served = True
        return False


def make_busy_executor(**options: Any) -> Executor:
    """Make a ``PollingExecutor``, or rclpy's own with a warning if the installed rclpy does not fit.

    Args:
        options: Options of ``NodeExecutor``.

    Returns:
        The executor.
    """
    if faults := internals.faults():
        text = f"nodes wait with rclpy's own executor, which takes twice the time: {'; '.join(faults)}"
        get_logger("handiwork").warning(text)
        return NodeExecutor(**options)
    return PollingExecutor(**options)


def _is_any_ready(executor: PollingExecutor, nodes: list[Any], held: ExitStack) -> bool:
    """Check without waiting whether a service, client or action is ready."""
    services = [s for node in nodes for s in node.services if executor.can_execute(s)]
    clients = [c for node in nodes for c in node.clients if executor.can_execute(c)]
    known = [w for node in nodes for w in node.waitables if executor.can_execute(w)]
    # QoS events keep their index in rclpy's wait set, which may still be in use.
    waitables = [waitable for waitable in known if not isinstance(waitable, EventHandler)]
    if not (services or clients or waitables):
        return False
    for entity in (*(e.handle for e in (*services, *clients)), *waitables, executor.context.handle):
        held.enter_context(entity)
    count = NumberOfEntities(num_clients=len(clients), num_services=len(services))
    for waitable in waitables:
        count += waitable.get_num_entities()
    looked = internals.WaitSet(*(getattr(count, name) for name in count.__slots__), executor.context.handle)
    looked.clear_entities()
    for service in services:
        looked.add_service(service.handle)
    for client in clients:
        looked.add_client(client.handle)
    for waitable in waitables:
        waitable.add_to_wait_set(looked)
    looked.wait(0)
    return bool(looked.get_ready_entities("service") or looked.get_ready_entities("client")) or any(
        waitable.is_ready(looked) for waitable in waitables
    )


def _serve(entity: Any, call: Callable[[Any], None]) -> bool:
    """Call an entity within its callback group; return False if the group does not allow it now."""
    group = entity.callback_group
    if not group.can_execute(entity) or not group.beginning_execution(entity):
        return False
    try:
        call(entity)
    finally:
        group.ending_execution(entity)
    return True


def _call_timer(timer: Timer) -> None:
    if timer.handle.is_timer_ready():
        timer.handle.call_timer()
        timer.callback()


def _call_subscription(sub: Subscription) -> None:
    found = internals.take(sub)
    if found is not None:
        sub.callback(*(found[:1] if internals.takes_message_only(sub) else found))
