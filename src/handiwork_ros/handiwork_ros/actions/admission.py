"""Checks goals on a thread of their own, one after another, each for a bounded time.

The executor stays free for status, cancels and feedback while a check runs. Python cannot end a thread, so a check that
exceeds its time is abandoned: its goal is refused, and a new thread checks the next goals.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from handiwork_core.intake.silence import processor_wait_s
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.rclpy_support.safe_callbacks import guard

BEAT_S = 0.05
"""The period in which the time of the running check is measured, s of steady time."""

QUEUE_LENGTH = 64
"""The largest number of goals that wait for their check."""


@dataclass(eq=False)
class Admission:
    """One goal whose check is waiting or running.

    Attributes:
        name: Name of the action, for messages.
        check: Checks the goal and returns its verdict.
        done: Called with the verdict once, unless the goal is withdrawn.
        is_open: True until the goal is answered or withdrawn.
    """

    name: str
    check: Callable[[], Any]
    done: Callable[[Any], None]
    is_open: bool = True

    def answer(self, value: Any) -> None:
        """Call ``done`` if the goal is still open, and close it.

        Args:
            value: Argument of ``done``: the return value of ``check``, or an ``Outcome`` that refuses the goal.
        """
        if self.is_open:
            self.is_open = False
            self.done(value)


@dataclass(eq=False)
class _Worker:
    """One thread and the queue of its admissions; None ends it."""

    number: int
    work: queue.SimpleQueue[Admission | None]
    thread_id: int = 0

    @property
    def name(self) -> str:
        return f"goal-check-{self.number}"

    def waited_s(self) -> float:
        """Return the time for which the check, or the calling thread, was ready to run without a processor, s.

        A check also waits for a thread that has Python's lock, and the executor's is the one that takes it often.
        """
        return processor_wait_s(self.thread_id) + processor_wait_s(threading.get_native_id())


class AdmissionQueue:
    """Checks goals in the order of their arrival; shared by all action servers whose goals use the same arms.

    All methods are called on the executor's thread, and ``done`` is called there as well.

    Args:
        node: Its executor calls ``done``.
        limit_s: Longest time of one check, s of steady time. Time in which the executor did not run, or the check
            waited for a processor, does not count, so that a busy computer refuses no goal.
        most_abandoned: Number of abandoned checks from which on every goal is refused.
        on_change: Called with a sentence when all threads hang, and with an empty text when one has returned.
    """

    def __init__(
        self,
        node: Node,
        *,
        limit_s: float = 2.0,
        most_abandoned: int = 4,
        on_change: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._node, self._limit_s, self._most, self._on_change = node, limit_s, most_abandoned, on_change
        self._waiting: deque[Admission] = deque()
        self._running: Admission | None = None
        self._abandoned: dict[Admission, str] = {}
        self._count = 0
        self._worker: _Worker | None = None
        self._looked_s = self._used_s = self._waited_s = 0.0
        self._timer = node.create_timer(
            BEAT_S, guard(node, self._beat), clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._timer.cancel()

    @property
    def is_busy(self) -> bool:
        """True while a goal waits for the end of its check."""
        return bool(self._waiting) or (self._running is not None and self._running.is_open)

    @property
    def abandoned(self) -> tuple[str, ...]:
        """Names of the threads whose checks hang."""
        return tuple(self._abandoned.values())

    @property
    def why_closed(self) -> str:
        """The reason why no goal can be checked; empty while goals can be checked."""
        if len(self._abandoned) < self._most:
            return ""
        names = ", ".join(sorted(self.abandoned))
        return f"{len(self._abandoned)} checks of goals hang ({names}); restart the node"

    def submit(self, name: str, check: Callable[[], Any], done: Callable[[Any], None]) -> Admission:
        """Run ``check`` on the thread, and call ``done`` with its return value or with a refusal.

        A goal is refused at once when too many checks hang or too many goals wait.

        Args:
            name: Name of the action, for messages.
            check: Checks the goal. It must move nothing and must not raise.
            done: Called with the return value of ``check``, or with an ``Outcome`` if ``check`` did not return in time.

        Returns:
            The admission, for ``withdraw``.
        """
        admission = Admission(name, check, done)
        if why := self.why_closed:
            admission.answer(Outcome(Code.UNRESPONSIVE, why, "check"))
        elif len(self._waiting) >= QUEUE_LENGTH:
            text = f"{QUEUE_LENGTH} goals are waiting for their check; send the goal again later"
            admission.answer(Outcome(Code.BUSY, text, "check"))
        else:
            self._waiting.append(admission)
            self._next()
        return admission

    def withdraw(self, admission: Admission) -> None:
        """Give no answer to a goal. A check that already runs is not interrupted.

        Args:
            admission: The goal, as ``submit`` returned it.
        """
        admission.is_open = False
        if admission in self._waiting:
            self._waiting.remove(admission)

    def refuse_all(self, outcome: Outcome) -> None:
        """Refuse every goal that waits for its check, for a server that stops.

        Args:
            outcome: Answer to each of the goals.
        """
        waiting, self._waiting = self._waiting, deque()
        if self._running is not None:
            self._running.answer(outcome)
        for admission in waiting:
            admission.answer(outcome)

    def close(self) -> None:
        """End the thread. A check that already runs is not interrupted."""
        self._timer.cancel()
        if self._worker is not None:
            self._worker.work.put(None)
            self._worker = None

    def _next(self) -> None:
        if self._running is None and self._waiting:
            if self._worker is None:
                self._worker = self._started()
            self._running = self._waiting.popleft()
            self._used_s, self._looked_s = 0.0, time.monotonic()
            self._waited_s = self._worker.waited_s()
            self._timer.reset()
            self._worker.work.put(self._running)

    def _started(self) -> _Worker:
        self._count += 1
        worker = _Worker(self._count, queue.SimpleQueue())
        # A daemon thread, so that a check which never returns cannot keep the process from ending.
        thread = threading.Thread(target=self._serve, args=(worker,), name=worker.name, daemon=True)
        thread.start()
        worker.thread_id = thread.native_id or 0
        return worker

    def _serve(self, worker: _Worker) -> None:
        """Run the checks; in the thread."""
        while (admission := worker.work.get()) is not None:
            value = admission.check()
            executor = self._node.executor
            if executor is None:
                return
            executor.create_task(guard(self._node, functools.partial(self._settle, admission, value)))
            del admission, value

    def _settle(self, admission: Admission, value: Any) -> None:
        """Answer the goal whose check has returned; on the executor's thread."""
        if admission is self._running:
            self._running = None
            admission.answer(value)
        elif (name := self._abandoned.pop(admission, None)) is not None:
            self._node.get_logger().info(f"{name}: the check that was abandoned has returned")
            self._on_change("")
        if self._running is None and not self._waiting:
            self._timer.cancel()
        self._next()

    def _beat(self) -> None:
        if self._worker is None or self._running is None:
            return
        now_s, waited_s = time.monotonic(), self._worker.waited_s()
        # The kernel reports a wait when it is over, so it may be that of earlier beats too. A late beat that was a wait
        # takes nothing from the others: else a check that hangs would never end where most beats are late.
        passed_s = now_s - self._looked_s - (waited_s - self._waited_s)
        self._used_s = max(0.0, self._used_s + min(passed_s, 2.0 * BEAT_S))
        self._looked_s, self._waited_s = now_s, waited_s
        if self._used_s > self._limit_s:
            self._abandon(self._running)

    def _abandon(self, admission: Admission) -> None:
        assert self._worker is not None
        name = self._worker.name
        self._abandoned[admission] = name
        self._worker.work.put(None)
        self._worker = self._running = None
        text = f"checking the goal took longer than {self._limit_s:g} s and was abandoned; check its files and sizes"
        count = f"{len(self._abandoned)} of {self._most} threads hang"
        self._node.get_logger().error(f"{admission.name}: {text} (thread {name}, {count})")
        admission.answer(Outcome(Code.UNRESPONSIVE, text, "check"))
        if why := self.why_closed:
            self._on_change(why)
            self.refuse_all(Outcome(Code.UNRESPONSIVE, why, "check"))
        self._next()
