"""The run of one goal's body: it waits for its arms, runs on the worker, and ends by itself or from outside."""

from __future__ import annotations

import functools
import logging
from collections import deque
from collections.abc import Callable

from rclpy.executors import Executor

from handiwork_core.contracts.skill import Progress, Stopped, Token
from handiwork_core.model.outcome import Code, Outcome

from .arm_lease import Job
from .multi_arm_lease import MultiArmLease
from .skill_binding import E, Report

log = logging.getLogger(__name__)


async def run_body(
    key: bytes,
    hold: MultiArmLease,
    body: Callable[[Token, Report], E],
    publish: Report,
    executor: Executor,
) -> tuple[Outcome, E | None]:
    """Run the body of a goal on its arms once they are free, and publish its progress.

    Args:
        key: Id of the goal.
        hold: The arms, which the goal has taken.
        body: The body.
        publish: Sends progress to the client as feedback; called on the executor's thread.
        executor: The executor of the lease's node.

    Returns:
        The outcome of the goal, and the value of the body; None if the body did not end by itself.
    """
    job = hold.first.jobs[key]
    job.publish = publish
    if hold.is_waiting(key):
        _note(job, Progress("queued", 0, 1, 0.0))
    await hold.turn(key)
    if job.token.is_set():
        return _ended_from_outside(job), None
    job.progress = None
    pending = deque[Progress]()

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
            hold.first.note_return(job, end)
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


def _note(job: Job, progress: Progress) -> None:
    """Publish the start of a stage; the lease's timer repeats it. Nothing is published once the goal is answered."""
    if not job.answered.done():
        job.progress = progress
        job.publish(progress)


def _ended_from_outside(job: Job) -> Outcome:
    why = f": {job.token.detail}" if job.token.detail else ""
    return Outcome(job.token.reason, f"skill {job.skill!r} was ended before it started; nothing moved{why}")
