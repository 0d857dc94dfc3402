"""At most one skill body per arm, whatever the number of action servers that share the arm."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future

from handiwork_core.config import nearest
from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import Progress, Token

BEAT_S = 0.1
"""Period of feedback and of the watchdog, in steady time; feedback is promised five times a second."""

CLOSING_WATCHDOG_S = 1.0


QUEUE_LENGTH = 8
"""Goals that may wait for one arm, beside the one that runs."""


class Policy(Enum):
    """What a new goal does while the arm is busy."""

    REJECT = "reject"
    QUEUE = "queue"
    LATEST_WINS = "preempt"

    @classmethod
    def of(cls, word: str) -> Policy:
        """The policy of a word.

        Raises:
            ValueError: there is none; says which there are.
        """
        try:
            return cls(word)
        except ValueError:
            text = f"{word[:80]!r} is no answer to a busy arm; {nearest(word[:80], [p.value for p in cls])}"
            raise ValueError(text) from None


@dataclass
class Job:
    """One accepted goal. ``answered`` gets its Outcome, or the body's own result; ``skill`` names the arm's holder."""

    skill: str
    token: Token
    answered: Future
    progress: Progress | None = None
    publish: Callable[[Progress], None] = lambda _progress: None
    stop_since: float | None = None
    arm_stop_asked: bool = False
    leases: tuple[ArmLease, ...] = ()
    """All that hold the goal, where it needs several arms; each has a job of its own for it, with one token."""


@dataclass
class ArmLease:
    """Owner of one arm's worker thread and of the goals that run or wait on it; lives as long as its node.

    Everything here runs on the executor's thread, but for the bodies given to ``submit``. ``stop_arm`` is the arm
    port's blocking stop; it is called from a thread of its own when a body does not react to its token for
    ``watchdog_s``. ``arm`` is what refusals call it.
    """

    node: Node
    stop_arm: Callable[[], Outcome]
    watchdog_s: float = 2.0
    closing: bool = False
    jobs: dict[bytes, Job] = field(default_factory=dict)
    holder: str = ""
    idle: Future | None = None
    arm: str = "the arm"

    def __post_init__(self) -> None:
        self._changed = Future(executor=self.node.executor)
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        # A daemon, so that a body which never returns cannot keep the process from ending.
        self._worker = threading.Thread(target=self._serve, name="skill", daemon=True)
        self._worker.start()
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
        """Who holds the arm now, or will first; empty while it is free."""
        return self.holder or next((job.skill for job in self.jobs.values()), "")

    def take(self, key: bytes, skill: str, policy: Policy = Policy.LATEST_WINS) -> Job:
        """Enter a goal; under ``LATEST_WINS`` those before it are told to stop."""
        if policy is Policy.LATEST_WINS:
            self.stop_all(Code.PREEMPTED)
        job = self.jobs[key] = Job(skill, Token(), Future(executor=self.node.executor))
        self._timer.reset()
        return job

    def share(self, key: bytes, job: Job) -> None:
        """Enter a goal that another lease has taken."""
        self.jobs[key] = Job(job.skill, job.token, job.answered, leases=job.leases)
        self._timer.reset()

    def occupy(self, skill: str) -> Future:
        """A body runs on the arm from now on; the future is done when it has returned."""
        self.holder, self.idle = skill, Future(executor=self.node.executor)
        return self.idle

    def vacate(self) -> None:
        """The body has returned."""
        idle, self.idle, self.holder = self.idle, None, ""
        if idle is not None:
            idle.set_result(None)
        self.note_change()

    def give_back(self, key: bytes) -> None:
        """Forget an answered goal."""
        del self.jobs[key]
        self.note_change()
        if not self.jobs:
            self._timer.cancel()

    async def turn(self, key: bytes) -> None:
        """Return when the arm is free and every earlier goal is answered, or when the goal was told to end."""
        while not self.jobs[key].token.is_set() and self.is_waiting(key):
            await self._changed

    def is_waiting(self, key: bytes) -> bool:
        """True while another goal goes first."""
        return self.idle is not None or next(iter(self.jobs)) != key

    def note_change(self) -> None:
        """Let those who wait for their turn look again."""
        changed, self._changed = self._changed, Future(executor=self.node.executor)
        changed.set_result(None)

    def submit(self, body: Callable[[], None]) -> None:
        """Run ``body`` on the worker; it must not raise."""
        self._work.put(body)

    def stop(self, key: bytes, reason: Code) -> None:
        """Tell one goal's body to end, for ``reason`` unless it was told before."""
        if (job := self.jobs.get(key)) is not None:
            for lease in job.leases or (self,):
                lease.jobs[key].token.set(reason)
                lease.jobs[key].stop_since = lease.jobs[key].stop_since or time.monotonic()
                lease.note_change()

    def stop_all(self, reason: Code) -> None:
        """``stop`` for every goal."""
        for key in list(self.jobs):
            self.stop(key, reason)

    def begin_close(self) -> None:
        """Stop what runs; the executor must then be spun until ``is_busy`` is False, so that the results leave."""
        self.closing = True
        # The process ends two seconds after this, and a deaf body's goal must be answered before.
        self.watchdog_s = min(self.watchdog_s, CLOSING_WATCHDOG_S)
        self.stop_all(Code.SHUTDOWN)

    def end_close(self) -> bool:
        """Join the worker. False when a body did not return."""
        self._work.put(None)
        if not self.is_busy:
            self._worker.join()
        self._timer.cancel()
        self._jump.unregister()
        return not self.is_busy

    def _serve(self) -> None:
        while (body := self._work.get()) is not None:
            body()

    def _clock_went_back(self, _jump: object) -> None:
        self.stop_all(Code.TIME_RESET)

    def _beat(self) -> None:
        for job in list(self.jobs.values()):
            if job.answered.done():
                continue
            if job.progress is not None:
                job.publish(job.progress)
            late = 0.0 if job.stop_since is None else time.monotonic() - job.stop_since
            if late > self.watchdog_s and not job.arm_stop_asked:
                job.arm_stop_asked = True
                threading.Thread(target=self._stop_for, args=(job,), name="arm-stop", daemon=True).start()
            elif late > self.watchdog_s + 1.0:
                self._answer_for(job, "the arm's stop did not return either; use the emergency stop")

    def _stop_for(self, job: Job) -> None:
        try:
            end = self.stop_arm()
            said = (
                "the arm was stopped" if end.ok else f"stopping the arm gave {end.code.name}: {end.message}"
            )
        except Exception as error:  # noqa: BLE001 - a port of someone else; the goal must still be answered
            said = f"stopping the arm raised {error!r}"
        self.node.executor.create_task(self._answer_for, job, said)

    def _answer_for(self, job: Job, said: str) -> None:
        """A body that does not react is answered for; the arm stays leased until it returns."""
        if not job.answered.done():
            text = f"skill {job.skill!r} did not react to {job.token.reason.name} for {self.watchdog_s} s; {said}"
            job.answered.set_result(Outcome(Code.UNRESPONSIVE, text))
