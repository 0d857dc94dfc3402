"""An executor for nodes that a topic wakes a hundred times a second: it waits in half of rclpy's time."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.subscription import Subscription
from rclpy.timer import Timer

FULL_WAIT_S = 0.1
"""Services and QoS events are looked at this often; while nothing else comes, at once."""


class _Mute:
    """Stands in for the guard that each callback triggers at its end; here nobody waits meanwhile."""

    def trigger(self) -> None:
        """Wake nobody."""


class _Turns:
    """Topics and timers, waited for and served again and again. Everything else ends it, as what is not plain does.

    What rclpy gathers, holds and wraps for every single callback is gathered and held once.
    """

    def __init__(self, executor: BusyExecutor, nodes: list[Any], held: ExitStack) -> None:
        self._subs = [s for node in nodes for s in node.subscriptions if executor.can_execute(s)]
        self._timers = [t for node in nodes for t in node.timers if executor.can_execute(t)]
        self._clients = [client for node in nodes for client in node.clients]
        self._guards = [*(guard for node in nodes for guard in node.guards), *executor.wakers()]
        for entity in (*self._subs, *self._timers, *self._clients, *self._guards):
            held.enter_context(entity.handle)
        context = executor.context.handle
        held.enter_context(context)
        counts = len(self._subs), len(self._guards), len(self._timers), len(self._clients)
        self._set = _rclpy.WaitSet(*counts, 0, 0, context)
        self.is_plain = not any(inspect.iscoroutinefunction(e.callback) for e in (*self._subs, *self._timers))

    def take(self, limit_s: float) -> bool:
        """Wait once and serve what has come; False when it was something else, or nothing."""
        waiting = self._set
        waiting.clear_entities()
        for entities, add in (
            (self._subs, waiting.add_subscription),
            (self._guards, waiting.add_guard_condition),
            (self._timers, waiting.add_timer),
            (self._clients, waiting.add_client),
        ):
            for entity in entities:
                add(entity.handle)
        waiting.wait(int(limit_s * 1e9))
        timers, subs = waiting.get_ready_entities("timer"), waiting.get_ready_entities("subscription")
        guards, clients = waiting.get_ready_entities("guard_condition"), waiting.get_ready_entities("client")
        for guard in self._guards:
            if guard.handle.pointer in guards:
                guard._executor_triggered = True  # so that the full wait triggers it again
        served = [_serve(t, _call_timer) for t in self._timers if t.handle.pointer in timers]
        served += [_serve(s, _call_subscription) for s in self._subs if s.handle.pointer in subs]
        return all(served) and bool(served) and not guards and not clients


class BusyExecutor(SingleThreadedExecutor):
    """Serves topics and timers, and now and then, and whenever something else wakes it, all as rclpy does."""

    _guard: Any  # of rclpy: ends a wait

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._full_s = float("-inf")

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Serve topics and timers for a while, then wait for everything and serve one of what has come."""
        left_s = self._full_s + FULL_WAIT_S - time.monotonic()
        if left_s > 0.0 and all(task.done() for task, _, _ in list(self._tasks)):
            self._serve_for(left_s if timeout_sec is None else min(left_s, max(0.0, timeout_sec)))
        super().spin_once(timeout_sec)
        self._full_s = time.monotonic()

    def wakers(self) -> tuple[Any, Any]:
        """Guards that end a wait: work from another thread, and a signal."""
        return self._guard, self._sigint_gc

    def _serve_for(self, limit_s: float) -> None:
        end_s = time.monotonic() + limit_s
        with ExitStack() as held:
            try:
                turns = _Turns(self, self.get_nodes(), held)
            except _rclpy.InvalidHandle:  # something is being destroyed
                return
            while turns.is_plain and self._context.ok() and not self._is_shutdown:
                left_s = end_s - time.monotonic()
                if left_s <= 0.0 or not turns.take(left_s):
                    return

    def _make_handler(self, *args: Any, **options: Any) -> Any:
        # The handler triggers the guard that it finds here, which would end the next wait before it has begun.
        guard, self._guard = self._guard, _Mute()
        try:
            return super()._make_handler(*args, **options)
        finally:
            self._guard = guard


def _serve(entity: Any, call: Callable[[Any], None]) -> bool:
    """Call back within the entity's group; False when that may not be now."""
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
    found = sub.handle.take_message(sub.msg_type, sub.raw)
    if found is not None:
        only = sub._callback_type is Subscription.CallbackType.MessageOnly
        sub.callback(*(found[:1] if only else found))
