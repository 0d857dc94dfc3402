"""One skill as one ROS action. For a SingleThreadedExecutor; every method runs on its thread, but for the bodies."""

from __future__ import annotations

import functools
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from handiwork_core.contracts.skill import Progress, Stopped, Token
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.process.event_text import event_text

from .admission import Admission, AdmissionQueue
from .arm_lease import ArmLease, Job, Policy
from .multi_arm_lease import MultiArmLease
from .result_message import Encode, bare_result, filled_result

log = logging.getLogger(__name__)


class Ended(Protocol):
    """What a body returns: anything that has an outcome."""

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        ...


E = TypeVar("E", bound=Ended)
Report = Callable[[Progress], None]


class GoalRejected(Exception):
    """A goal that is answered at once, as it cannot be done, or moves nothing; ``ended`` is what ``encode`` gets.

    Raised by ``SkillBinding.admit``, caught by the action server only.
    """

    def __init__(self, outcome: Outcome, ended: Any = None) -> None:
        super().__init__(outcome.message)
        self.outcome, self.ended = outcome, ended


@dataclass(frozen=True)
class ArmRequest(Generic[E]):
    """A body with the arms that it needs, by name: all of them are held while it runs on the first one's worker."""

    arms: tuple[str, ...]
    body: Callable[[Token, Report], E]


@dataclass(frozen=True)
class SkillBinding(Generic[E]):
    """What the action server needs of a skill.

    ``admit`` checks a goal message, moving nothing, on the thread of an ``AdmissionQueue`` and within its time. It
    returns the body or raises ``GoalRejected``; the body runs on the arm's worker and returns once the arm is at rest.
    ``encode`` makes the result message; its second argument is None where no body ended by itself. ``label`` names the
    holder of the arm; without it the name does.
    A goal's field ``when_busy``, where it has one and it is not empty, goes before the server's policy.
    ``encode_for`` makes the result in place of ``encode`` where it depends on the goal as well; where it fails,
    ``encode`` is asked, and where that fails too, the result holds the outcome alone.
    """

    name: str
    action_type: Any
    admit: Callable[[Any], Callable[[Token, Report], E] | ArmRequest[E]]
    encode: Callable[[Outcome, E | None], Any]
    feedback: Callable[[Progress], Any]
    label: Callable[[Any], str] | None = None
    encode_for: Callable[[Any, Outcome, E | None], Any] | None = None


@dataclass(frozen=True)
class _Admitted(Generic[E]):
    """A goal's verdict: its body with the arms that it holds, or its refusal."""

    hold: MultiArmLease
    body: Callable[[Token, Report], E] | GoalRejected
    policy: Policy = field(default=Policy.REJECT)


class SkillActionServer(Generic[E]):
    """Every goal is accepted, so that a refusal can carry its cause: one that is bad or finds the arm busy is aborted.

    ``node`` hosts the action and must be spun by the lease's executor; it may differ from the lease's node. ``arms``
    are the leases by arm, for bodies that say which they need; ``lease`` is that of the others. Goals are checked in
    ``admission``, which action servers share where their goals meet on an arm: so they enter it in the order they came.
    """

    def __init__(
        self,
        lease: ArmLease,
        door: SkillBinding[E],
        admission: AdmissionQueue,
        *,
        node: Node | None = None,
        policy: Policy = Policy.REJECT,
        result_timeout_s: int = 60,
        arms: Mapping[str, ArmLease] | None = None,
    ) -> None:
        self._lease, self._door, self._policy = lease, door, policy
        self._arms = arms or {}
        self._admission = admission
        self._checked: dict[bytes, Admission] = {}
        self._goals: dict[bytes, _Admitted[E]] = {}
        self.server = ActionServer(
            node or lease.node,
            door.action_type,
            door.name,
            self._execute,
            goal_callback=lambda _goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            result_timeout=result_timeout_s,
        )

    def _on_accepted(self, handle: Any) -> None:
        """The goal stays in the state ACCEPTED until it has been checked."""
        key, goal = bytes(handle.goal_id.uuid), handle.request
        self._checked[key] = self._admission.submit(
            self._door.name, lambda: self._check(goal), lambda found: self._on_checked(handle, found)
        )
        if key in self._goals:
            del self._checked[key]

    def _on_checked(self, handle: Any, found: Any) -> None:
        """Look at the arms and take them in one executor turn, so that no second goal comes in between."""
        key, goal = bytes(handle.goal_id.uuid), handle.request
        self._checked.pop(key, None)
        admitted = self._admit(goal, GoalRejected(found) if isinstance(found, Outcome) else found)
        if not isinstance(admitted.body, GoalRejected):
            label = self._door.label
            holder = label(goal) if label else self._door.name
            admitted.hold.take(key, holder, admitted.policy)
            arms = ",".join(lease.arm for lease in admitted.hold.leases)
            self._log("goal taken", key, skill=holder, arms=arms)
        self._goals[key] = admitted
        handle.execute()

    def _check(self, goal: Any) -> Callable[[Token, Report], E] | ArmRequest[E] | GoalRejected:
        """What the skill says to a goal; on the thread of the admissions."""
        try:
            self._policy_of(goal)
            return self._door.admit(goal)
        except GoalRejected as refusal:
            return refusal
        except Exception as error:  # broad on purpose: the border of plug-in code
            log.exception("%s: looking at a goal failed", self._door.name)
            text = f"looking at the goal raised {error!r}; see the skill server's log"
            return GoalRejected(Outcome(Code.INTERNAL, text))

    def _admit(
        self, goal: Any, body: Callable[[Token, Report], E] | ArmRequest[E] | GoalRejected
    ) -> _Admitted[E]:
        """Which arms a goal that was checked gets, or why none."""
        hold = MultiArmLease((self._lease,))
        if isinstance(body, GoalRejected):
            return _Admitted(hold, body)
        try:
            policy = self._policy_of(goal)
        except GoalRejected as refusal:
            return _Admitted(hold, refusal)
        if isinstance(body, ArmRequest):
            hold, body = MultiArmLease(tuple(self._arms[arm] for arm in body.arms)), body.body
        if busy := hold.refusal(policy):
            return _Admitted(hold, GoalRejected(Outcome(Code.BUSY, busy)))
        return _Admitted(hold, body, policy)

    def _policy_of(self, goal: Any) -> Policy:
        if self._lease.closing:
            text = "the skill server is shutting down; send the goal again once it is back"
            raise GoalRejected(Outcome(Code.SHUTDOWN, text))
        word = getattr(goal, "when_busy", "")
        try:
            return Policy.of(word) if word else self._policy
        except ValueError as error:
            outcome = Outcome(Code.BAD_GOAL, f"when_busy: {error}", "check", "when_busy")
            raise GoalRejected(outcome) from error

    def _on_cancel(self, handle: Any) -> CancelResponse:
        key = bytes(handle.goal_id.uuid)
        if key in self._goals:
            self._goals[key].hold.first.stop(key, Code.CANCELED)
        elif (admission := self._checked.get(key)) is not None:
            text = f"{self._door.name} was canceled before its goal had been checked; nothing moved"
            admission.answer(Outcome(Code.CANCELED, text))
            self._admission.withdraw(admission)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        """First the result, then the transition, then return: nothing may come between the last two."""
        begun_s = time.monotonic()
        try:
            outcome, run = await self._outcome(handle)
        except Exception as error:  # broad on purpose: rclpy would send an empty result
            log.exception("%s: a goal ended in an error of the server", self._door.name)
            outcome, run = Outcome(Code.INTERNAL, f"the skill server raised {error!r}; see its log"), None
        sent, result = self._encode(handle.request, outcome, run)
        self._log_end(bytes(handle.goal_id.uuid), sent, time.monotonic() - begun_s)
        try:
            _end(handle, sent)
        except Exception as error:  # broad on purpose: the middleware may refuse any transition
            log.exception("%s: the goal could not be ended as %s", self._door.name, sent.code.name)
            text = f"{sent.code.name}: {sent.message}; ending the goal raised {error!r}"
            if handle.is_active:
                handle.abort()
            return bare_result(self._door.action_type, Outcome(Code.INTERNAL, text, sent.stage))
        return result

    async def _outcome(self, handle: Any) -> tuple[Outcome, E | None]:
        """Return how a goal ended, once its arm is at rest; nothing of the goal is kept."""
        key = bytes(handle.goal_id.uuid)
        admitted = self._goals[key]
        try:
            if isinstance(admitted.body, GoalRejected):
                return admitted.body.outcome, admitted.body.ended
            try:
                return await self._run(key, handle, admitted.hold, admitted.body)
            finally:
                admitted.hold.give_back(key)
        finally:
            del self._goals[key]

    def _log_end(self, key: bytes, outcome: Outcome, lasted_s: float) -> None:
        is_good = outcome.code in (Code.OK, Code.CANCELED)
        self._log(
            "goal ended",
            key,
            is_warning=not is_good,
            code=outcome.code.name,
            stage=outcome.stage,
            field=outcome.field_name,
            duration_s=lasted_s,
            message="" if is_good else outcome.message,
        )

    def _log(self, event: str, key: bytes, *, is_warning: bool = False, **fields: str | float) -> None:
        """Log one event of a goal, with its id, as words that programs can read."""
        logger = self._lease.node.get_logger()
        text = event_text(event, goal=key.hex(), action=self._door.name, **fields)
        if is_warning:  # rclpy remembers the severity of each line that logs
            logger.warning(text)
        else:
            logger.info(text)

    def _encode(self, goal: Any, outcome: Outcome, run: E | None) -> tuple[Outcome, Any]:
        """Return the outcome that is sent and the result message with it."""
        door, make = self._door, self._door.encode_for
        whole: Encode = (
            (lambda one: door.encode(one, run)) if make is None else lambda one: make(goal, one, run)
        )
        plain: Encode = lambda one: door.encode(one, None)  # noqa: E731 - beside its like
        return filled_result(door.name, door.action_type, outcome, (whole, plain))

    async def _run(
        self, key: bytes, handle: Any, hold: MultiArmLease, body: Callable[[Token, Report], E]
    ) -> tuple[Outcome, E | None]:
        job = hold.first.jobs[key]
        job.publish = lambda progress: handle.publish_feedback(self._door.feedback(progress))
        if hold.is_waiting(key):
            _note(job, Progress("queued", 0, 1, 0.0))
        await hold.turn(key)
        if job.token.is_set():
            return _ended_from_outside(job), None
        job.progress = None
        executor, told = self._lease.node.executor, deque[Progress]()

        def report(progress: Progress) -> None:
            told.append(progress)
            executor.create_task(tell)

        def tell() -> None:
            # Two tasks of one turn are served in no order, so each tells all that there is.
            while told:
                _note(job, told.popleft())

        def work() -> None:
            end = _call(body, job, report)
            executor.create_task(functools.partial(finish, end))

        def finish(end: E | Outcome) -> None:
            tell()
            job.parts[0].has_returned = True
            if job.token.is_revoked:  # the lease answers and frees the arm once that rests
                return
            hold.vacate(job)
            if not job.answered.done():
                job.answered.set_result(end)

        hold.run(key, work)
        end = await job.answered
        return (end, None) if isinstance(end, Outcome) else (end.outcome, end)


def _call(body: Callable[[Token, Report], E], job: Job, report: Report) -> E | Outcome:
    """Run on the worker; whatever happens becomes an answer."""
    try:
        return body(job.token, report)
    except Stopped:
        return Outcome(job.token.reason, f"skill {job.skill!r} was stopped")
    except Exception as error:  # broad on purpose: the border of plug-in code
        log.exception("skill %s failed unexpectedly", job.skill)
        return Outcome(Code.INTERNAL, f"skill {job.skill!r} raised {error!r}; see the skill server's log")


def _end(handle: Any, outcome: Outcome) -> None:
    """Make the transition of a goal that its outcome asks for."""
    if outcome.code is Code.OK:
        handle.succeed()
    elif outcome.code is Code.CANCELED and handle.is_cancel_requested:
        handle.canceled()
    else:
        handle.abort()


def _note(job: Job, progress: Progress) -> None:
    """Publish a stage's start; the lease's beat repeats it. Nothing goes out once the goal is answered."""
    if not job.answered.done():
        job.progress = progress
        job.publish(progress)


def _ended_from_outside(job: Job) -> Outcome:
    why = f": {job.token.detail}" if job.token.detail else ""
    return Outcome(job.token.reason, f"skill {job.skill!r} was ended before it started; nothing moved{why}")
