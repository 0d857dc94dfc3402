"""Offers one skill as one ROS action. For a SingleThreadedExecutor: only the bodies run on another thread."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome

from .action_events import ActionEvents
from .admission import Admission, AdmissionQueue
from .arm_lease import ArmLease, Policy
from .body_run import run_body
from .goal_log import GoalLog
from .multi_arm_lease import MultiArmLease
from .result_message import Encode, bare_result, end_goal, filled_result, status_of
from .skill_binding import ArmRequest, E, GoalRejected, Report, SkillBinding
from .time_allowance import TimeAllowance, allowance_fault, allowance_s

log = logging.getLogger(__name__)

REMEMBERED = 256
"""The newest goals of a skill whose ids are remembered, so that none of them runs a second time."""


@dataclass(frozen=True)
class _Admitted(Generic[E]):
    """A goal's verdict: its body with the arms that it holds, or its refusal."""

    hold: MultiArmLease
    body: Callable[[Token, Report], E] | GoalRejected
    policy: Policy = field(default=Policy.REJECT)


class SkillActionServer(Generic[E]):
    """Action server of one skill. It accepts every goal, so that a refusal can carry its cause.

    A goal that is malformed or finds the arm busy is aborted, and so is one whose id has run before.

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
        self._log = GoalLog(lease.node, binding.name)
        self._checked: dict[bytes, Admission] = {}
        self._goals: dict[bytes, _Admitted[E]] = {}
        self._allowances: dict[bytes, TimeAllowance] = {}
        self._seen: deque[bytes] = deque(maxlen=REMEMBERED)
        self._events = ActionEvents(node or lease.node, binding.action_type, binding.name)
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
        self._events.goal(handle)
        if key in self._seen:
            # rclpy refuses an id as long as it keeps the result, on a clock that may be set forward meanwhile.
            text = "this goal was sent again after its result was forgotten; it is not run a second time"
            self._goals[key] = _Admitted(
                MultiArmLease((self._lease,)), GoalRejected(Outcome(Code.UNRESPONSIVE, text))
            )
            handle.execute()
            return
        self._seen.append(key)
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
            self._log.taken(key, holder, [lease.arm for lease in admitted.hold.leases])
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
            body = self._binding.admit(goal)
        except GoalRejected as refusal:
            return _with_fault(refusal, allowance_fault(goal))
        except Exception as error:  # broad on purpose: plug-in code
            log.exception("%s: the check of a goal failed", self._binding.name)
            text = f"the check of the goal raised {error!r}; see the skill server's log"
            return GoalRejected(Outcome(Code.INTERNAL, text))
        fault = allowance_fault(goal)
        return body if fault is None else GoalRejected(fault)

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
        self._log.ended(bytes(handle.goal_id.uuid), sent, time.monotonic() - begun_s)
        self._events.result(handle, status_of(handle, sent), result)
        try:
            end_goal(handle, sent)
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
                return await run_body(
                    key,
                    admitted.hold,
                    admitted.body,
                    lambda progress: handle.publish_feedback(self._binding.feedback(progress)),
                    self._lease.node.executor,
                )
            finally:
                admitted.hold.give_back(key)
        finally:
            del self._goals[key]
            if allowance := self._allowances.pop(key, None):
                allowance.close()

    def _encode(self, goal: Any, outcome: Outcome, run: E | None) -> tuple[Outcome, Any]:
        """Return the outcome that is sent and the result message with it."""
        binding, make = self._binding, self._binding.encode_for
        whole: Encode = (
            (lambda one: binding.encode(one, run)) if make is None else lambda one: make(goal, one, run)
        )
        plain: Encode = lambda one: binding.encode(one, None)  # noqa: E731 - parallel to ``whole``
        return filled_result(binding.name, binding.action_type, outcome, (whole, plain))


def _with_fault(refusal: GoalRejected, fault: Outcome | None) -> GoalRejected:
    """Return the refusal of a skill together with a fault that the server found."""
    if fault is None:
        return refusal
    if refusal.outcome.ok:
        return GoalRejected(fault, refusal.ended)
    text = f"{refusal.outcome.message} | {fault.message}"
    return GoalRejected(replace(refusal.outcome, message=text), refusal.ended)
