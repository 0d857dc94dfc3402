"""One skill as one ROS action. For a SingleThreadedExecutor; every method runs on its thread, but for the bodies."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future

from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import Progress, Token

from .arm_lease import ArmLease, Job, Policy

log = logging.getLogger(__name__)


class Ended(Protocol):
    """What a body returns: anything that has an outcome."""

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        ...


E = TypeVar("E", bound=Ended)
Report = Callable[[Progress], None]


class Refused(Exception):
    """A goal that is answered at once, as it cannot be done, or moves nothing; ``ended`` is what ``encode`` gets.

    Raised by ``SkillDoor.admit``, caught by the action server only.
    """

    def __init__(self, outcome: Outcome, ended: Any = None) -> None:
        super().__init__(outcome.message)
        self.outcome, self.ended = outcome, ended


@dataclass(frozen=True)
class SkillDoor(Generic[E]):
    """What the action server needs of a skill.

    ``admit`` looks at a goal message, at once and moving nothing, and returns the body or raises ``Refused``; the
    body runs on the arm's worker and returns once the arm is at rest. ``encode`` makes the result message; its second
    argument is None where no body ended by itself. ``label`` names the holder of the arm; without it the name does.
    A goal's field ``when_busy``, where it has one and it is not empty, goes before the server's policy.
    """

    name: str
    action_type: Any
    admit: Callable[[Any], Callable[[Token, Report], E]]
    encode: Callable[[Outcome, E | None], Any]
    feedback: Callable[[Progress], Any]
    label: Callable[[Any], str] | None = None


class SkillActionServer(Generic[E]):
    """Every goal is accepted, so that a refusal can carry its cause: one that is bad or finds the arm busy is aborted.

    ``node`` hosts the action and must be spun by the lease's executor; it may differ from the lease's node.
    """

    def __init__(
        self,
        lease: ArmLease,
        door: SkillDoor[E],
        *,
        node: Node | None = None,
        policy: Policy = Policy.REJECT,
        result_timeout_s: int = 60,
    ) -> None:
        self._lease, self._door, self._policy = lease, door, policy
        self._bodies: dict[bytes, Callable[[Token, Report], E] | Refused] = {}
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
        """Runs in the same executor turn as the acceptance, so no second goal slips in between look and take."""
        key, goal = bytes(handle.goal_id.uuid), handle.request
        verdict = self._admit(goal)
        if not isinstance(verdict, Refused):
            label = self._door.label
            self._lease.take(key, label(goal) if label else self._door.name, self._policy_of(goal))
        elif not verdict.outcome.ok:
            text = f"{self._door.name}: goal refused: {verdict.outcome.code.name}: {verdict.outcome.message}"
            self._lease.node.get_logger().warning(text)
        self._bodies[key] = verdict
        handle.execute()

    def _policy_of(self, goal: Any) -> Policy:
        word = getattr(goal, "when_busy", "")
        return Policy.of(word) if word else self._policy

    def _admit(self, goal: Any) -> Callable[[Token, Report], E] | Refused:
        lease = self._lease
        if lease.closing:
            text = "the skill server is shutting down; send the goal again once it is back"
            return Refused(Outcome(Code.SHUTDOWN, text))
        try:
            policy = self._policy_of(goal)
        except ValueError as error:
            return Refused(Outcome(Code.BAD_GOAL, f"when_busy: {error}", "check", "when_busy"))
        try:
            body = self._door.admit(goal)
        except Refused as refusal:
            return refusal
        except Exception as error:  # broad on purpose: the border of plug-in code
            log.exception("%s: looking at a goal failed", self._door.name)
            text = f"looking at the goal raised {error!r}; see the skill server's log"
            return Refused(Outcome(Code.INTERNAL, text))
        if (policy is Policy.REJECT and lease.is_busy) or (policy is Policy.QUEUE and lease.is_full):
            return Refused(Outcome(Code.BUSY, self._busy(policy)))
        return body

    def _busy(self, policy: Policy) -> str:
        owner = self._lease.owner()
        if policy is Policy.QUEUE:
            waiting = len(self._lease.jobs) - 1
            return f"the arm is busy with {owner!r} and {waiting} goals wait for it; wait for their results"
        return f"the arm is busy with {owner!r}; cancel that goal, wait for its result, or send when_busy 'queue'"

    def _on_cancel(self, handle: Any) -> CancelResponse:
        self._lease.stop(bytes(handle.goal_id.uuid), Code.CANCELED)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        """First the result, then the transition, then return: nothing may come between the last two."""
        key = bytes(handle.goal_id.uuid)
        body = self._bodies.pop(key)
        if isinstance(body, Refused):
            outcome, run = body.outcome, body.ended
        else:
            outcome, run = await self._run(key, handle, body)
            self._lease.give_back(key)
        result = self._encode(outcome, run)
        if outcome.code is Code.OK:
            handle.succeed()
        elif outcome.code is Code.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    def _encode(self, outcome: Outcome, run: E | None) -> Any:
        try:
            return self._door.encode(outcome, run)
        except (
            Exception
        ) as error:  # broad on purpose: the client must get the outcome, whatever else is broken
            log.exception("%s: the result message could not be filled", self._door.name)
            text = f"{outcome.code.name}: {outcome.message}; filling the result raised {error!r}"
            return self._door.encode(Outcome(Code.INTERNAL, text), None)

    async def _run(
        self, key: bytes, handle: Any, body: Callable[[Token, Report], E]
    ) -> tuple[Outcome, E | None]:
        lease, job = self._lease, self._lease.jobs[key]
        job.publish = lambda progress: handle.publish_feedback(self._door.feedback(progress))
        if lease.is_waiting(key):
            _note(job, Progress("queued", 0, 1, 0.0))
        await lease.turn(key)
        if job.token.is_set():
            return _ended_from_outside(job), None
        job.progress = None
        executor = lease.node.executor
        idle = lease.idle = Future(executor=executor)
        lease.holder = job.skill

        def work() -> None:
            end = _call(body, job, lambda progress: executor.create_task(_note, job, progress))
            executor.create_task(functools.partial(finish, end))

        def finish(end: E | Outcome) -> None:
            lease.idle, lease.holder = None, ""
            idle.set_result(None)
            lease.note_change()
            if not job.answered.done():
                job.answered.set_result(end)

        lease.submit(work)
        end = await job.answered
        return (end, None) if isinstance(end, Outcome) else (end.outcome, end)


def _call(body: Callable[[Token, Report], E], job: Job, report: Report) -> E | Outcome:
    """Run on the worker; whatever happens becomes an answer."""
    try:
        return body(job.token, report)
    except Exception as error:  # broad on purpose: the border of plug-in code
        log.exception("skill %s failed unexpectedly", job.skill)
        return Outcome(Code.INTERNAL, f"skill {job.skill!r} raised {error!r}; see the skill server's log")


def _note(job: Job, progress: Progress) -> None:
    """Publish a stage's start; the lease's beat repeats it. Nothing goes out once the goal is answered."""
    if not job.answered.done():
        job.progress = progress
        job.publish(progress)


def _ended_from_outside(job: Job) -> Outcome:
    return Outcome(job.token.reason, f"skill {job.skill!r} was ended before it started; nothing moved")
