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
    """A goal that cannot be done as it is asked. Raised by ``SkillDoor.admit``, caught by the action server only."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


@dataclass(frozen=True)
class SkillDoor(Generic[E]):
    """What the action server needs of a skill.

    ``admit`` looks at a goal message, at once and moving nothing, and returns the body or raises ``Refused``; the
    body runs on the arm's worker and returns once the arm is at rest. ``encode`` makes the result message; its second
    argument is None where no body ended by itself.
    """

    name: str
    action_type: Any
    admit: Callable[[Any], Callable[[Token, Report], E]]
    encode: Callable[[Outcome, E | None], Any]
    feedback: Callable[[Progress], Any]


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
        self._bodies: dict[bytes, Callable[[Token, Report], E] | Outcome] = {}
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
        key = bytes(handle.goal_id.uuid)
        verdict = self._admit(handle.request)
        if isinstance(verdict, Outcome):
            text = f"{self._door.name}: goal refused: {verdict.code.name}: {verdict.message}"
            self._lease.node.get_logger().warning(text)
        else:
            self._lease.take(key, self._door.name)
        self._bodies[key] = verdict
        handle.execute()

    def _admit(self, goal: Any) -> Callable[[Token, Report], E] | Outcome:
        lease = self._lease
        if lease.closing:
            return Outcome(
                Code.SHUTDOWN, "the skill server is shutting down; send the goal again once it is back"
            )
        try:
            body = self._door.admit(goal)
        except Refused as refusal:
            return refusal.outcome
        except Exception as error:  # broad on purpose: the border of plug-in code
            log.exception("%s: looking at a goal failed", self._door.name)
            return Outcome(Code.INTERNAL, f"looking at the goal raised {error!r}; see the skill server's log")
        if self._policy is Policy.REJECT and lease.is_busy:
            holder = lease.holder or next(iter(lease.jobs.values())).skill
            return Outcome(
                Code.BUSY, f"the arm is busy with {holder!r}; cancel that goal or wait for its result"
            )
        return body

    def _on_cancel(self, handle: Any) -> CancelResponse:
        self._lease.stop(bytes(handle.goal_id.uuid), Code.CANCELED)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        """First the result, then the transition, then return: nothing may come between the last two."""
        key = bytes(handle.goal_id.uuid)
        body = self._bodies.pop(key)
        if isinstance(body, Outcome):
            outcome, run = body, None
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
        while lease.idle is not None:
            await lease.idle
        if job.token.is_set():
            return _ended_from_outside(job), None
        executor = lease.node.executor
        idle = lease.idle = Future(executor=executor)
        lease.holder = job.skill
        job.publish = lambda progress: handle.publish_feedback(self._door.feedback(progress))

        def work() -> None:
            end = _call(body, job, lambda progress: executor.create_task(_note, job, progress))
            executor.create_task(functools.partial(finish, end))

        def finish(end: E | Outcome) -> None:
            lease.idle, lease.holder = None, ""
            idle.set_result(None)
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
