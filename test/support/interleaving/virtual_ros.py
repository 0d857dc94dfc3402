"""The parts of rclpy that the code under test needs, on the threads and the time of an ``Interleaver``."""

from __future__ import annotations

import inspect
import sys
import uuid
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus

from support.interleaving.interleaver import Interleaver, Queue

HERE = sys.modules[__name__]


class Executor:
    """One thread that runs tasks in order, and coroutines after each event."""

    def __init__(self, run: Interleaver) -> None:
        self._run, self._tasks = run, Queue(run)
        self._is_shutdown = False  # read by rclpy_internals, as of rclpy's own
        self._waiting: list[Any] = []
        run.spawn(self._spin, "executor", daemon=True)

    def create_task(self, callback: Callable[..., Any], *args: Any, **options: Any) -> Any:
        self._tasks.put((callback, args, options))

    def _spin(self) -> None:
        while True:
            callback, args, options = self._tasks.get()
            made = callback(*args, **options)
            if inspect.iscoroutine(made):
                self._waiting.append(made)
            self._resume()

    def _resume(self) -> None:
        """Resume coroutines until none can continue."""
        has_ended = True
        while has_ended:
            has_ended = False
            for coroutine in list(self._waiting):
                try:
                    coroutine.send(None)
                except StopIteration:
                    self._waiting.remove(coroutine)
                    has_ended = True


class Timer:
    """Calls back on the executor once in each period until it is cancelled."""

    def __init__(
        self, run: Interleaver, executor: Executor, period_s: float, call: Callable[[], None]
    ) -> None:
        self._run, self._executor, self._period_s, self._call = run, executor, period_s, call
        self._is_on = True
        run.spawn(self._tick, "timer", daemon=True)

    def cancel(self) -> None:
        self._is_on = False

    def reset(self) -> None:
        self._is_on = True

    def _tick(self) -> None:
        while True:
            self._run.sleep(self._period_s)
            if self._is_on:
                self._executor.create_task(self._call)


class Logger:
    """Keeps the logged texts."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def error(self, text: str) -> None:
        self.said.append(text)

    warning = info = error


class Node:
    """A node with an executor and timers."""

    def __init__(self, run: Interleaver) -> None:
        self.run, self.executor, self.log = run, Executor(run), Logger()

    def get_logger(self) -> Logger:
        return self.log

    def get_name(self) -> str:
        return "virtual"

    def get_clock(self) -> Any:
        now = SimpleNamespace(nanoseconds=int(self.run.now_s * 1e9))
        return SimpleNamespace(
            now=lambda: now, create_jump_callback=lambda *_a, **_o: SimpleNamespace(unregister=lambda: None)
        )

    def create_publisher(self, *_settings: Any) -> Any:
        return SimpleNamespace(get_subscription_count=lambda: 0)

    def create_timer(self, period_s: float, call: Callable[[], None], **_options: Any) -> Timer:
        return Timer(self.run, self.executor, period_s, call)


class GoalHandle:
    """One goal at a server: counts its transitions and keeps its result."""

    def __init__(self, request: Any) -> None:
        self.request, self.goal_id = request, SimpleNamespace(uuid=uuid.uuid4().bytes)
        self.is_cancel_requested, self.status, self.result = False, GoalStatus.STATUS_ACCEPTED, None
        self.feedback: list[Any] = []
        self._server: Any = None

    @property
    def is_active(self) -> bool:
        return self.status == GoalStatus.STATUS_ACCEPTED

    def execute(self) -> None:
        self._server.node.executor.create_task(self._finish)

    async def _finish(self) -> None:
        self.result = await self._server.execute(self)

    def publish_feedback(self, message: Any) -> None:
        assert self.result is None, "feedback after the result"
        self.feedback.append(message)

    def _end(self, status: int) -> None:
        assert self.status == GoalStatus.STATUS_ACCEPTED, "a second end"
        self.status = status

    def succeed(self) -> None:
        self._end(GoalStatus.STATUS_SUCCEEDED)

    def canceled(self) -> None:
        assert self.is_cancel_requested
        self._end(GoalStatus.STATUS_CANCELED)

    def abort(self) -> None:
        self._end(GoalStatus.STATUS_ABORTED)


class ActionServer:
    """Takes goals and cancels as tasks of its node's executor, in place of ``rclpy.action.ActionServer``."""

    def __init__(
        self,
        node: Node,
        _kind: Any,
        _name: str,
        execute: Any,
        *,
        handle_accepted_callback: Any,
        cancel_callback: Any,
        **_options: Any,
    ) -> None:
        self.node, self.execute = node, execute
        self._accepted, self._cancel = handle_accepted_callback, cancel_callback

    def send(self, request: Any) -> GoalHandle:
        """Send a goal; any thread may call it."""
        handle = GoalHandle(request)
        handle._server = self
        self.node.executor.create_task(self._accepted, handle)
        return handle

    def cancel(self, handle: GoalHandle) -> None:
        """Cancel a goal; any thread may call it. It has no effect on a goal that has ended."""

        def cancel() -> None:
            if handle.status == GoalStatus.STATUS_ACCEPTED:
                handle.is_cancel_requested = True
                self._cancel(handle)

        self.node.executor.create_task(cancel)


class Future:
    """A future like ``rclpy.task.Future``, for one executor: it is completed and awaited on the executor's thread."""

    def __init__(self, *, executor: Any = None) -> None:
        self._is_done, self._result = False, None
        self._callbacks: list[Callable[[Any], None]] = []

    def done(self) -> bool:
        return self._is_done

    def result(self) -> Any:
        return self._result

    def set_result(self, result: Any) -> None:
        assert not self._is_done, "a second result"
        self._result, self._is_done = result, True
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        if self._is_done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def __await__(self) -> Any:
        while not self._is_done:
            yield
        return self._result
