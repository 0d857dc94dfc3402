"""One skill as one ROS action. For a SingleThreadedExecutor; every method runs on its thread, but for the bodies."""

from __future__ import annotations

import functools
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import Progress, Token

from .arm_hold import ArmHold
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
class ForArms(Generic[E]):
    """A body with the arms that it needs, by name: all of them are held while it runs on the first one's worker."""

    arms: tuple[str, ...]
    body: Callable[[Token, Report], E]


@dataclass(frozen=True)
class SkillDoor(Generic[E]):
    """What the action server needs of a skill.

    ``admit`` looks at a goal message, at once and moving nothing, and returns the body or raises ``Refused``; the
    body runs on the arm's worker and returns once the arm is at rest. ``encode`` makes the result message; its second
    argument is None where no body ended by itself. ``label`` names the holder of the arm; without it the name does.
    A goal's field ``when_busy``, where it has one and it is not empty, goes before the server's policy.
    ``encode_for`` makes the result in place of ``encode`` where it depends on the goal as well.
    """

    name: str
    action_type: Any
    admit: Callable[[Any], Callable[[Token, Report], E] | ForArms[E]]
    encode: Callable[[Outcome, E | None], Any]
    feedback: Callable[[Progress], Any]
    label: Callable[[Any], str] | None = None
    encode_for: Callable[[Any, Outcome, E | None], Any] | None = None


@dataclass(frozen=True)
class _Admitted(Generic[E]):
    """A goal's verdict: its body with the arms that it holds, or its refusal."""

    hold: ArmHold
    body: Callable[[Token, Report], E] | Refused
    policy: Policy = field(default=Policy.REJECT)


class SkillActionServer(Generic[E]):
    """Every goal is accepted, so that a refusal can carry its cause: one that is bad or finds the arm busy is aborted.

    ``node`` hosts the action and must be spun by the lease's executor; it may differ from the lease's node. ``arms``
    are the leases by arm, for bodies that say which they need; ``lease`` is that of the others.
    """

    def __init__(
        self,
        lease: ArmLease,
        door: SkillDoor[E],
        *,
        node: Node | None = None,
        policy: Policy = Policy.REJECT,
        result_timeout_s: int = 60,
        arms: Mapping[str, ArmLease] | None = None,
    ) -> None:
        self._lease, self._door, self._policy = lease, door, policy
        self._arms = arms or {}
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
        """Runs in the same executor turn as the acceptance, so no second goal slips in between look and take."""
        key, goal = bytes(handle.goal_id.uuid), handle.request
        admitted = self._admit(goal)
        if not isinstance(admitted.body, Refused):
            label = self._door.label
            admitted.hold.take(key, label(goal) if label else self._door.name, admitted.policy)
        elif not admitted.body.outcome.ok:
            outcome = admitted.body.outcome
            text = f"{self._door.name}: goal refused: {outcome.code.name}: {outcome.message}"
            self._lease.node.get_logger().warning(text)
        self._goals[key] = admitted
        handle.execute()

    def _admit(self, goal: Any) -> _Admitted[E]:
        """Which arms a goal gets, or why none."""
        hold = ArmHold((self._lease,))
        try:
            policy = self._policy_of(goal)
            body = self._door.admit(goal)
            if isinstance(body, ForArms):
                hold, body = ArmHold(tuple(self._arms[arm] for arm in body.arms)), body.body
        except Refused as refusal:
            return _Admitted(hold, refusal)
        except Exception as error:  # broad on purpose: the border of plug-in code
            log.exception("%s: looking at a goal failed", self._door.name)
            text = f"looking at the goal raised {error!r}; see the skill server's log"
            return _Admitted(hold, Refused(Outcome(Code.INTERNAL, text)))
        if busy := hold.refusal(policy):
            return _Admitted(hold, Refused(Outcome(Code.BUSY, busy)))
        return _Admitted(hold, body, policy)

    def _policy_of(self, goal: Any) -> Policy:
        if self._lease.closing:
            text = "the skill server is shutting down; send the goal again once it is back"
            raise Refused(Outcome(Code.SHUTDOWN, text))
        word = getattr(goal, "when_busy", "")
        try:
            return Policy.of(word) if word else self._policy
        except ValueError as error:
            outcome = Outcome(Code.BAD_GOAL, f"when_busy: {error}", "check", "when_busy")
            raise Refused(outcome) from error

    def _on_cancel(self, handle: Any) -> CancelResponse:
        key = bytes(handle.goal_id.uuid)
        if key in self._goals:
            self._goals[key].hold.first.stop(key, Code.CANCELED)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        """First the result, then the transition, then return: nothing may come between the last two."""
        key = bytes(handle.goal_id.uuid)
        admitted = self._goals[key]
        if isinstance(admitted.body, Refused):
            outcome, run = admitted.body.outcome, admitted.body.ended
        else:
            outcome, run = await self._run(key, handle, admitted.hold, admitted.body)
            admitted.hold.give_back(key)
        del self._goals[key]
        result = self._encode(handle.request, outcome, run)
        if outcome.code is Code.OK:
            handle.succeed()
        elif outcome.code is Code.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    def _encode(self, goal: Any, outcome: Outcome, run: E | None) -> Any:
        door = self._door

        def encode(outcome: Outcome, run: E | None) -> Any:
            return door.encode_for(goal, outcome, run) if door.encode_for else door.encode(outcome, run)

        try:
            return encode(outcome, run)
        except (
            Exception
        ) as error:  # broad on purpose: the client must get the outcome, whatever else is broken
            log.exception("%s: the result message could not be filled", door.name)
            text = f"{outcome.code.name}: {outcome.message}; filling the result raised {error!r}"
            return encode(Outcome(Code.INTERNAL, text), None)

    async def _run(
        self, key: bytes, handle: Any, hold: ArmHold, body: Callable[[Token, Report], E]
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
            hold.vacate()
            if not job.answered.done():
                job.answered.set_result(end)

        hold.run(job.skill, work)
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
