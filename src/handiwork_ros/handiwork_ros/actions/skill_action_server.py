"""Offers one skill as one ROS action. For a SingleThreadedExecutor: only the bodies run on another thread."""

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
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.process.event_text import event_text

from .admission import Admission, AdmissionQueue
from .arm_lease import ArmLease, Job, Policy
from .multi_arm_lease import MultiArmLease
from .result_message import Encode, bare_result, filled_result
from .time_allowance import TimeAllowance, allowance_fault, allowance_s

log = logging.getLogger(__name__)


class Ended(Protocol):
    """A value that a body returns: anything that has an outcome."""

    @property
    def outcome(self) -> Outcome:
        """The outcome of the body."""
        ...


E = TypeVar("E", bound=Ended)
Report = Callable[[Progress], None]


class GoalRejected(HandiworkError):
    """A goal that is answered at once, because it cannot be done or needs no motion.

    Raised by ``SkillBinding.admit``, caught by the action server only.

    Args:
        outcome: Answer to the goal.
        ended: Second argument of ``SkillBinding.encode``; None if there is no result.
    """

    def __init__(self, outcome: Outcome, ended: Any = None) -> None:
        super().__init__(outcome)
        self.ended = ended


@dataclass(frozen=True)
class ArmRequest(Generic[E]):
    """A body with the arms that it needs.

    Attributes:
        arms: Names of the arms. All of them are held while the body runs on the first one's worker.
        body: The body.
    """

    arms: tuple[str, ...]
    body: Callable[[Token, Report], E]


@dataclass(frozen=True)
class SkillBinding(Generic[E]):
    """The connection between a skill and its action.

    Attributes:
        name: Name of the action.
        action_type: Type of the action. A goal's field ``time_allowance`` limits its time; a field ``when_busy`` that
            is not empty replaces the server's policy.
        admit: Checks a goal message on the thread of an ``AdmissionQueue`` and within its time, and moves nothing. It
            returns the body or raises ``GoalRejected``. The body runs on the arm's worker and returns once the arm is
            at rest.
        encode: Makes the result message; its second argument is None if the body did not end by itself.
        feedback: Makes the feedback message.
        label: Returns the holder of the arm for a goal message; without it the holder is ``name``.
        encode_for: Makes the result in place of ``encode`` if it depends on the goal message as well. If it fails,
            ``encode`` is called, and if that fails too, the result holds the outcome alone.
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
    """Action server of one skill. It accepts every goal, so that a refusal can carry its cause.

    A goal that is malformed or finds the arm busy is aborted.

    Args:
        lease: Lease of the bodies that do not name their arms.
        binding: The skill.
        admission: Checks the goals. Action servers whose goals use the same arm share it, so that the goals enter the
            lease in the order of their arrival.
        node: Hosts the action; the lease's executor must spin it. None: the lease's node.
        policy: Treatment of a goal while its arm is busy.
        result_timeout_s: Time for which a result is kept, s.
        arms: Leases by arm, for bodies that name the arms that they need.
    """

    def __init__(
        self,
        lease: ArmLease,
        binding: SkillBinding[E],
        admission: AdmissionQueue,
        *,
        node: Node | None = None,
        policy: Policy = Policy.REJECT,
        result_timeout_s: int = 60,
        arms: Mapping[str, ArmLease] | None = None,
    ) -> None:
        self._lease, self._binding, self._policy = lease, binding, policy
        self._arms = arms or {}
        self._admission = admission
        self._checked: dict[bytes, Admission] = {}
        self._goals: dict[bytes, _Admitted[E]] = {}
        self._allowances: dict[bytes, TimeAllowance] = {}
        self.server = ActionServer(
            node or lease.node,
            binding.action_type,
            binding.name,
            self._execute,
            goal_callback=lambda _goal: GoalResponse.ACCEPT,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            result_timeout=result_timeout_s,
        )

    def _on_accepted(self, handle: Any) -> None:
        """Submit a goal for its check; it stays in the state ACCEPTED until then."""
        key, goal = bytes(handle.goal_id.uuid), handle.request
        self._checked[key] = self._admission.submit(
            self._binding.name, lambda: self._check(goal), lambda found: self._on_checked(handle, found)
        )
        if key in self._goals:
            del self._checked[key]

    def _on_checked(self, handle: Any, found: Any) -> None:
        """Check and take the arms in one turn of the executor, so that no second goal comes in between."""
        key, goal = bytes(handle.goal_id.uuid), handle.request
        self._checked.pop(key, None)
        admitted = self._admit(goal, GoalRejected(found) if isinstance(found, Outcome) else found)
        if not isinstance(admitted.body, GoalRejected):
            label = self._binding.label
            holder = label(goal) if label else self._binding.name
            admitted.hold.take(key, holder, admitted.policy)
            arms = ",".join(lease.arm for lease in admitted.hold.leases)
            self._log("goal taken", key, skill=holder, arms=arms)
            self._allowances[key] = TimeAllowance(
                self._lease.node,
                allowance_s(goal),
                lambda why: admitted.hold.first.stop(key, Code.TIMED_OUT, why),
            )
        self._goals[key] = admitted
        handle.execute()

    def _check(self, goal: Any) -> Callable[[Token, Report], E] | ArmRequest[E] | GoalRejected:
        """Return the skill's verdict on a goal; on the thread of the admissions."""
        try:
            self._policy_of(goal)
            if fault := allowance_fault(goal):
                return GoalRejected(fault)
            return self._binding.admit(goal)
        except GoalRejected as refusal:
            return refusal
        except Exception as error:  # broad on purpose: plug-in code
            log.exception("%s: the check of a goal failed", self._binding.name)
            text = f"the check of the goal raised {error!r}; see the skill server's log"
            return GoalRejected(Outcome(Code.INTERNAL, text))

    def _admit(
        self, goal: Any, body: Callable[[Token, Report], E] | ArmRequest[E] | GoalRejected
    ) -> _Admitted[E]:
        """Return the arms of a checked goal, or its refusal."""
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
            text = f"{self._binding.name} was canceled before its goal had been checked; nothing moved"
            admission.answer(Outcome(Code.CANCELED, text))
            self._admission.withdraw(admission)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        """Make the result, then end the goal, then return; nothing may come between the last two steps."""
        begun_s = time.monotonic()
        try:
            outcome, run = await self._outcome(handle)
        except Exception as error:  # broad on purpose: rclpy would send an empty result
            log.exception("%s: a goal ended in an error of the server", self._binding.name)
            outcome, run = Outcome(Code.INTERNAL, f"the skill server raised {error!r}; see its log"), None
        sent, result = self._encode(handle.request, outcome, run)
        self._log_end(bytes(handle.goal_id.uuid), sent, time.monotonic() - begun_s)
        try:
            _end(handle, sent)
        except Exception as error:  # broad on purpose: the middleware may refuse any transition
            log.exception("%s: the goal could not be ended as %s", self._binding.name, sent.code.name)
            text = f"{sent.code.name}: {sent.message}; ending the goal raised {error!r}"
            if handle.is_active:
                handle.abort()
            return bare_result(self._binding.action_type, Outcome(Code.INTERNAL, text, sent.stage))
        return result

    async def _outcome(self, handle: Any) -> tuple[Outcome, E | None]:
        """Return the outcome of a goal once its arm is at rest, and forget the goal."""
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
            if allowance := self._allowances.pop(key, None):
                allowance.close()

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
        """Log one event of a goal, with its id, in a form that programs can parse."""
        logger = self._lease.node.get_logger()
        text = event_text(event, goal=key.hex(), action=self._binding.name, **fields)
        if is_warning:  # two calls, because rclpy allows one severity for each calling line
            logger.warning(text)
        else:
            logger.info(text)

    def _encode(self, goal: Any, outcome: Outcome, run: E | None) -> tuple[Outcome, Any]:
        """Return the outcome that is sent and the result message with it."""
        binding, make = self._binding, self._binding.encode_for
        whole: Encode = (
            (lambda one: binding.encode(one, run)) if make is None else lambda one: make(goal, one, run)
        )
        plain: Encode = lambda one: binding.encode(one, None)  # noqa: E731 - parallel to ``whole``
        return filled_result(binding.name, binding.action_type, outcome, (whole, plain))

    async def _run(
        self, key: bytes, handle: Any, hold: MultiArmLease, body: Callable[[Token, Report], E]
    ) -> tuple[Outcome, E | None]:
        job = hold.first.jobs[key]
        job.publish = lambda progress: handle.publish_feedback(self._binding.feedback(progress))
        if hold.is_waiting(key):
            _note(job, Progress("queued", 0, 1, 0.0))
        await hold.turn(key)
        if job.token.is_set():
            return _ended_from_outside(job), None
        job.progress = None
        executor, pending = self._lease.node.executor, deque[Progress]()

        def report(progress: Progress) -> None:
            pending.append(progress)
            executor.create_task(publish_pending)

        def publish_pending() -> None:
            # The executor runs two tasks of one turn in any order, so each publishes everything that is pending.
            while pending:
                _note(job, pending.popleft())

        def work() -> None:
            end = _call(body, job, report)
            executor.create_task(functools.partial(finish, end))

        def finish(end: E | Outcome) -> None:
            publish_pending()
            job.parts[0].has_returned = True
            if job.token.is_revoked:  # the lease answers, and frees the arm once the arm is at rest
                return
            hold.vacate(job)
            if not job.answered.done():
                job.answered.set_result(end)

        hold.run(key, work)
        end = await job.answered
        return (end, None) if isinstance(end, Outcome) else (end.outcome, end)


def _call(body: Callable[[Token, Report], E], job: Job, report: Report) -> E | Outcome:
    """Run a body on the worker, and turn every exception into an outcome."""
    try:
        return body(job.token, report)
    except Stopped:
        return Outcome(job.token.reason, f"skill {job.skill!r} was stopped")
    except Exception as error:  # broad on purpose: plug-in code
        log.exception("skill %s failed unexpectedly", job.skill)
        return Outcome(Code.INTERNAL, f"skill {job.skill!r} raised {error!r}; see the skill server's log")


def _end(handle: Any, outcome: Outcome) -> None:
    """Make the transition of a goal that belongs to its outcome."""
    if outcome.code is Code.OK:
        handle.succeed()
    elif outcome.code is Code.CANCELED and handle.is_cancel_requested:
        handle.canceled()
    else:
        handle.abort()


def _note(job: Job, progress: Progress) -> None:
    """Publish the start of a stage; the lease's timer repeats it. Nothing is published once the goal is answered."""
    if not job.answered.done():
        job.progress = progress
        job.publish(progress)


def _ended_from_outside(job: Job) -> Outcome:
    why = f": {job.token.detail}" if job.token.detail else ""
    return Outcome(job.token.reason, f"skill {job.skill!r} was ended before it started; nothing moved{why}")
