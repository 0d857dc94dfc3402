"""Allows at most one skill body per arm, for any number of action servers that share the arm."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import Code, Outcome

BEAT_S = 0.1
"""The period of feedback and of the watchdog, s of steady time; feedback is promised five times a second."""

CLOSING_WATCHDOG_S = 1.0
"""The longest watchdog time while the node shuts down, s."""
RETURN_S = 1.0
"""The time that a body has to return once its arm was brought to rest, s; on a busy machine it may only be late."""
STOP_AGAIN_S = 1.0
"""The pause before a failed stop of an arm is repeated, s; otherwise its lease would stay busy for ever."""

QUEUE_LENGTH = 8
"""The number of goals that may wait for one arm, in addition to the one that runs."""


class Policy(Enum):
    """The treatment of a new goal while the arm is busy."""

    REJECT = "reject"
    QUEUE = "queue"
    LATEST_WINS = "preempt"

    @classmethod
    def of(cls, word: str) -> Policy:
        """Return the policy with a name.

        Args:
            word: ``reject``, ``queue`` or ``preempt``.

        Returns:
            The policy.

        Raises:
            ValueError: There is no policy of this name; the message lists the names.
        """
        try:
            return cls(word)
        except ValueError:
            text = f"{word[:80]!r} is no policy for a busy arm; {nearest(word[:80], [p.value for p in cls])}"
            raise ValueError(text) from None


@dataclass
class Job:
    """One accepted goal.

    Attributes:
        skill: The holder of the arm, as messages name it.
        token: Stops the goal's body.
        answered: Its result is the Outcome of the goal, or the value that the body returned.
        progress: The newest progress; None before the first.
        publish: Sends progress to the client as feedback.
        stop_since: Steady time of the first request to stop, s; None before it.
        arm_stop_asked: True once the arm is being stopped because the body did not react.
    """

    skill: str
    token: Token
    answered: Future
    progress: Progress | None = None
    publish: Callable[[Progress], None] = lambda _progress: None
    stop_since: float | None = None
    arm_stop_asked: bool = False
    leases: tuple[ArmLease, ...] = ()
    """All leases that hold the goal, if it needs several arms; each has its own job for it, with the same token."""
    parts: list[Job] = field(default_factory=list)
    """The jobs of one goal, shared by all of them; in the order of the leases."""
    occupied: Future | None = None
    """Done when the body has returned or was abandoned; None before it has begun."""
    has_returned: bool = False
    """True once the body has returned; set in the first of the parts."""
    returned: Any = None
    """The end of a body that returned after its token was revoked, unless it is OK; kept in the first of the parts."""
    is_at_rest: bool = False
    """True once the arm was brought to rest because the body did not react."""
    rest_since: float | None = None
    """Steady time at which all arms were brought to rest, s; kept in the first of the parts."""


@dataclass
class ArmLease:
    """Owner of one arm's worker thread and of the goals that run or wait on it; lives as long as its node.

    All methods run on the executor's thread; only the bodies given to ``submit`` run on the worker. When a body does
    not react to its token for ``watchdog_s``, the token is revoked, so that the body's ports refuse it, and only then
    the arm is stopped, from a separate thread. A body that returns within ``RETURN_S`` of the arm's rest was only late,
    and its end is that of the goal. Any other is abandoned then, and a new worker takes the next goal.

    Attributes:
        node: Its executor runs the lease.
        stop_arm: The blocking stop of the arm's port.
        watchdog_s: Longest time from a request to stop until the body returns, s of steady time.
        closing: True once ``begin_close`` was called.
        jobs: The goals that run or wait, by key, in the order of their arrival.
        holder: Name of the goal whose body runs; empty if none runs.
        idle: Done when the running body has returned or was abandoned; None if none runs.
        arm: Name of the arm in the texts of refusals.
        on_abandon: Called when a body is abandoned.
    """

    node: Node
    stop_arm: Callable[[], Outcome]
    watchdog_s: float = 2.0
    closing: bool = False
    jobs: dict[bytes, Job] = field(default_factory=dict)
    holder: str = ""
    idle: Future | None = None
    arm: str = "the arm"
    on_abandon: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._changed = Future(executor=self.node.executor)
        self._work: queue.SimpleQueue[Callable[[], None] | None]
        self._worker: threading.Thread
        self._start_worker()
        self._closed = threading.Event()
        self._timer = self.node.create_timer(
            BEAT_S, self._beat, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._timer.cancel()
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = self.node.get_clock().create_jump_callback(back, post_callback=self._clock_went_back)

    @property
    def is_busy(self) -> bool:
        """True while a goal is unanswered or a body has not returned."""
        return bool(self.jobs) or self.idle is not None

    @property
    def is_full(self) -> bool:
        """True when no further goal may wait."""
        return len(self.jobs) > QUEUE_LENGTH

    def owner(self) -> str:
        """Return the name of the goal that holds the arm now or will hold it next; empty while the arm is free."""
        return self.holder or next((job.skill for job in self.jobs.values()), "")

    def take(self, key: bytes, skill: str, policy: Policy = Policy.LATEST_WINS) -> Job:
        """Enter a goal; under ``LATEST_WINS`` stop the earlier goals.

        Args:
            key: Id of the goal.
            skill: Holder of the arm, as messages name it.
            policy: Treatment of the earlier goals. The caller checks ``is_busy`` and ``is_full`` for the other
                policies.

        Returns:
            The job of the goal.
        """
        if policy is Policy.LATEST_WINS:
            self.stop_all(Code.PREEMPTED)
        job = self.jobs[key] = Job(skill, Token(), Future(executor=self.node.executor))
        job.parts.append(job)
        self._timer.reset()
        return job

    def share(self, key: bytes, job: Job) -> None:
        """Enter a goal that another lease has taken.

        Args:
            key: Id of the goal.
            job: The job that the other lease made.
        """
        self.jobs[key] = Job(job.skill, job.token, job.answered, leases=job.leases, parts=job.parts)
        job.parts.append(self.jobs[key])
        self._timer.reset()

    def occupy(self, job: Job) -> None:
        """Note that the body of a job runs on the arm from now on.

        Args:
            job: The job.
        """
        self.holder = job.skill
        job.occupied = self.idle = Future(executor=self.node.executor)

    def vacate(self, job: Job) -> None:
        """Note that the body of a job has returned. A body that was abandoned does not hold the arm any more.

        Args:
            job: The job.
        """
        if job.occupied is None or not self.is_occupied_by(job):
            return
        self.idle, self.holder = None, ""
        job.occupied.set_result(None)
        self.note_change()

    def is_occupied_by(self, job: Job) -> bool:
        """Check whether the body of a job holds the arm. An abandoned body does not.

        Args:
            job: The job.
        """
        return self.idle is not None and self.idle is job.occupied

    def give_back(self, key: bytes) -> None:
        """Forget an answered goal.

        Args:
            key: Id of the goal.
        """
        del self.jobs[key]
        self.note_change()
        if not self.jobs:
            self._timer.cancel()

    async def turn(self, key: bytes) -> None:
        """Wait until no other goal is before this one, or until the goal is stopped.

        Args:
            key: Id of the goal.
        """
        while not self.jobs[key].token.is_set() and self.is_waiting(key):
            await self._changed

    def is_waiting(self, key: bytes) -> bool:
        """Check whether another goal runs or waits before this one.

        Args:
            key: Id of the goal.
        """
        return self.idle is not None or next(iter(self.jobs)) != key

    def note_change(self) -> None:
        """Wake up the goals that wait for their turn."""
        changed, self._changed = self._changed, Future(executor=self.node.executor)
        changed.set_result(None)

    def submit(self, body: Callable[[], None]) -> None:
        """Run a function on the worker.

        Args:
            body: The function; it must not raise.
        """
        self._work.put(body)

    def stop(self, key: bytes, reason: Code, detail: str = "") -> None:
        """Stop the body of one goal. The first reason that a goal is given stays.

        Args:
            key: Id of the goal; an unknown one is ignored.
            reason: Code of the goal's outcome.
            detail: Explanation of the reason for a person.
        """
        if (job := self.jobs.get(key)) is not None:
            for lease in job.leases or (self,):
                lease.jobs[key].token.set(reason, detail)
                lease.jobs[key].stop_since = lease.jobs[key].stop_since or time.monotonic()
                lease.note_change()

    def stop_all(self, reason: Code, detail: str = "") -> None:
        """Stop the bodies of all goals.

        Args:
            reason: See ``stop``.
            detail: See ``stop``.
        """
        for key in list(self.jobs):
            self.stop(key, reason, detail)

    def begin_close(self) -> None:
        """Stop all goals; the executor must then be spun until ``is_busy`` is False, so that the results are sent."""
        self.closing = True
        # The process ends two seconds after this; the goal of a body that does not react must be answered before.
        self.watchdog_s = min(self.watchdog_s, CLOSING_WATCHDOG_S)
        self.stop_all(Code.SHUTDOWN)

    def end_close(self) -> bool:
        """Join the worker.

        Returns:
            False if a body has not returned; its worker is then not joined.
        """
        self._closed.set()
        self._work.put(None)
        if not self.is_busy:
            self._worker.join()
        self._timer.cancel()
        self._jump.unregister()
        return not self.is_busy

    def _start_worker(self) -> None:
        self._work = queue.SimpleQueue()
        # A daemon thread, so that a body which never returns cannot keep the process from ending.
        self._worker = threading.Thread(target=_serve, args=(self._work,), name="skill", daemon=True)
        self._worker.start()

    def _clock_went_back(self, _jump: object) -> None:
        self.stop_all(Code.TIME_RESET)

    def _beat(self) -> None:
        for job in list(self.jobs.values()):
            if job.answered.done():
                continue
            if job.progress is not None:
                job.publish(job.progress)
            late = 0.0 if job.stop_since is None else time.monotonic() - job.stop_since
            rest_since = job.parts[0].rest_since
            if rest_since is not None:
                if self.closing or time.monotonic() - rest_since > RETURN_S:
                    self._end_stopped(job, "the arm was stopped")
            elif late > self.watchdog_s and not job.arm_stop_asked:
                # All arms at once: the first stop answers the goal, and an answered goal has no beats any more.
                for lease, part in zip(job.leases or (self,), job.parts, strict=True):
                    lease._begin_stop(part)
            elif late > self.watchdog_s + 1.0:
                self._answer_for(job, "the arm's stop did not return either; use the emergency stop")

    def _begin_stop(self, job: Job) -> None:
        if not job.arm_stop_asked:
            job.arm_stop_asked = True
            job.token.revoke()  # before the stop, so that no command of this body can follow the stop
            threading.Thread(target=self._stop_for, args=(job,), name="arm-stop", daemon=True).start()

    def _stop_for(self, job: Job) -> None:
        """Repeat the stop until the arm is at rest; in a separate thread."""
        executor, is_at_rest = self.node.executor, False
        while not is_at_rest:
            is_at_rest, said = self._stop_once()
            executor.create_task(self._on_stop, job, said, is_at_rest)
            if self._closed.wait(0.0 if is_at_rest else STOP_AGAIN_S):
                return

    def _stop_once(self) -> tuple[bool, str]:
        try:
            end = self.stop_arm()
        except Exception as error:  # noqa: BLE001 - plug-in code; the goal must be answered in any case
            return False, f"stopping the arm raised {error!r}"
        said = "the arm was stopped" if end.ok else f"stopping the arm gave {end.code.name}: {end.message}"
        return end.ok, said

    def _on_stop(self, job: Job, said: str, is_at_rest: bool) -> None:
        job.is_at_rest, first = is_at_rest, job.parts[0]
        if not is_at_rest:
            self._answer_for(job, said)
        if not all(part.is_at_rest for part in job.parts):
            return
        first.rest_since = time.monotonic()
        if first.has_returned or job.answered.done() or self.closing:
            self._end_stopped(job, said)

    def note_return(self, job: Job, end: Any) -> None:
        """Note that the body of a job whose token is revoked has returned; its goal ends once its arms are at rest.

        Args:
            job: The job.
            end: The end of the body.
        """
        first, outcome = job.parts[0], end if isinstance(end, Outcome) else end.outcome
        if not outcome.ok:  # an OK would rest on an arm that was stopped
            first.returned = end
        if first.rest_since is not None:
            self._end_stopped(job, "the arm was stopped")

    def _end_stopped(self, job: Job, said: str) -> None:
        """End a goal whose arms were brought to rest, with the end of its body if it has returned. Repeatable."""
        leases, first = job.leases or (self,), job.parts[0]
        if first.returned is not None and not job.answered.done():
            job.answered.set_result(first.returned)
        self._answer_for(job, said)
        if not leases[0].is_occupied_by(first):
            return
        if not first.has_returned:
            text = f"skill {job.skill!r} did not return; it is abandoned, and {self.arm} is free again"
            self.node.get_logger().error(text)
            leases[0].replace_worker()
        for lease, part in zip(leases, job.parts, strict=True):
            lease.on_abandon()
            lease.vacate(part)

    def replace_worker(self) -> None:
        """Leave the worker to the body that does not return, and start another one for the next goals."""
        self._work.put(None)
        self._start_worker()

    def _answer_for(self, job: Job, said: str) -> None:
        """Answer the goal of a body that does not react; the arm stays leased until it rests or the body returns."""
        if not job.answered.done():
            text = f"skill {job.skill!r} did not react to {job.token.reason.name} for {self.watchdog_s} s; {said}"
            job.answered.set_result(Outcome(Code.UNRESPONSIVE, text))


def _serve(work: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (body := work.get()) is not None:
        body()
