"""A goal to the skill server from any thread: sent again when it is lost, given up when the server is lost."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from rclpy.action import ActionClient
from rclpy.node import Node

from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.actions.arm_motion import UNKNOWN
from handiwork_ros.actions.skill_report import SkillReport
from handiwork_ros.actions.task_report import TaskReport
from handiwork_ros.liveness.bond_topic import bond_topic
from handiwork_ros.liveness.heartbeat import Heartbeats, Loss
from handiwork_ros.rclpy_support.action_call import CANCEL_AGAIN_S, ActionCall
from handiwork_ros.rclpy_support.rclpy_internals import take_feedback
from handiwork_ros.rclpy_support.silence_limits import GIVE_UP_SILENCE_S, GREATEST_GROWTH

from .goal_waits import GoalWaits

SERVER = "skill_server"
ANSWER_S = 3.0
"""The longest wait for a goal's acceptance, s; then the goal is sent once more, with its id."""
ANSWERS = 10
"""The waits for a goal's acceptance by a server that is alive; then the goal is given up."""
UNSERVED_ANSWERS = 2
"""The waits for the acceptance of a goal whose action is not found; no repetition would arrive."""
STOP_S = 5.0
"""The longest wait for the end of a goal that was cancelled, s."""
CANCEL_ANSWER_S = 2.0
"""The longest wait for a silent server's answer to a cancel, s."""
LATE_RESULT_S = 0.1
"""The longest wait for a result that was under way when its server ended, s."""
CANCEL_AGAIN_FOR_S = 20.0
"""The time for which a server that returns is asked to cancel, until the goal has ended, s."""
CLOSED = "the client was closed before the goal had ended; the goal was not cancelled and may still run"
POLL_S = 0.02
R = TypeVar("R", bound=SkillReport | TaskReport)


class FeedbackCall(ActionCall):
    """An action goal with feedback, all of which is noted before the goal's end.

    Args:
        node: Another thread spins it.
        action: Client of the action.
        goal: The goal message.
        on_feedback: Called with the action's feedback envelope on the executor's thread; None: feedback is ignored.
    """

    def __init__(
        self, node: Node, action: ActionClient, goal: Any, on_feedback: Callable[[Any], None] | None
    ) -> None:
        super().__init__(node, action, goal)
        self._on_feedback = on_feedback

    def _send(self) -> None:
        self._await(
            self._client.send_goal_async(self._goal, feedback_callback=self._note, goal_uuid=self._id)
        )

    def _on_result(self, future: Any) -> None:
        take_feedback(self._client, {bytes(self._id.uuid): self._note})
        super()._on_result(future)

    def _note(self, message: Any) -> None:
        if self._on_feedback is not None:
            try:
                self._on_feedback(message.feedback)
            except Exception as error:  # noqa: BLE001 - the user's callback must not end the goal
                self._node.get_logger().error(f"on_feedback raised {error!r}")


class GoalHandle(Generic[R]):
    """A goal that was sent to the skill server.

    The wait for the result ends without one only after the goal was cancelled, and a result that comes meanwhile is
    taken: a goal ends as UNRESPONSIVE when the server's writer is gone, or when no result follows the cancel. If the
    server returns later, it is asked to cancel again. The end of the client ends the wait as well, as UNRESPONSIVE, and
    leaves the goal alone. Its methods may be called from any thread but the feedback callback's.
    """

    def __init__(
        self,
        signs: Heartbeats,
        waits: GoalWaits,
        make: Callable[[], ActionCall],
        decode: Callable[[int, Any], R],
        lost: Callable[[Outcome], R],
        motion: Callable[[], str] = lambda: UNKNOWN,
    ) -> None:
        """Send the goal.

        Args:
            signs: Bonds to the server.
            waits: Waits of the client.
            make: Makes the action call.
            decode: Converts the goal's status and result message to the report.
            lost: Converts the outcome of a goal without a result to the report.
            motion: Returns a sentence on the arm's motion; may take a second.
        """
        self._signs, self._decode, self._lost = signs, decode, lost
        self._waits, self._motion = waits, motion
        self._gid = signs.gid(SERVER)
        self._sent_s, self._sent = time.monotonic(), 1
        self._cancel_s = math.inf
        self._timeout_s = math.inf
        self._is_cancelled, self._is_late = False, False
        self._call = make()
        self._call.send()

    @property
    def goal_id(self) -> str:
        """See ``ActionCall.goal_id``."""
        return self._call.goal_id

    @property
    def done(self) -> bool:
        """True once the goal has ended."""
        return self._call.done.is_set()

    def cancel(self) -> None:
        """Cancel the goal; ``result`` returns when the arm is at rest."""
        self._is_cancelled = True
        self._call.cancel()

    def wait_end(self, timeout_s: float) -> bool:
        """Wait for the end, also if the server is silent, in which case ``result`` would give up.

        Args:
            timeout_s: Longest wait, s.

        Returns:
            False if the goal has not ended: the time is over, or the client was closed.
        """
        end_s = time.monotonic() + timeout_s
        while not self.done and not self._waits.closing.is_set() and time.monotonic() < end_s:
            self._call.done.wait(min(POLL_S, max(0.0, end_s - time.monotonic())))
        return self.done

    def result(self, timeout_s: float = 120.0) -> R:
        """Wait for the end of the goal.

        Args:
            timeout_s: Time after which the goal is cancelled, s of steady time; the outcome is then TIMED_OUT. The
                goal's own ``time_allowance`` is enforced by the server.

        Returns:
            The report. Failures are outcomes in it, not exceptions.
        """
        self._timeout_s, end_s = timeout_s, time.monotonic() + timeout_s
        with self._waits.entered():
            while not self._call.done.wait(POLL_S):
                if self._waits.closing.is_set():
                    return self._lost(Outcome(Code.UNRESPONSIVE, CLOSED))
                if why := self._why_no_result(time.monotonic(), end_s):
                    return self._give_up(why)
        return self._report()

    def _why_no_result(self, now_s: float, end_s: float) -> str:
        return self._gone() or self._silent(now_s) or self._unanswered(now_s) or self._late(now_s, end_s)

    def _gone(self) -> str:
        """Return why no result can come; empty if one can. A server that shuts down sends results until it is gone."""
        gid = self._signs.gid(SERVER)
        if gid is not None and self._gid is None:
            self._gid = gid
        if gid != self._gid:
            return f"{SERVER} was restarted while the goal ran; send the goal again"
        loss, reason = self._signs.loss(SERVER)
        return f"{reason}; start it, then send the goal again" if loss is Loss.GONE else ""

    def _silent(self, now_s: float) -> str:
        """Cancel the goal of a server that was silent for too long; return the reason once no answer followed."""
        never_s = self._sent_s + ANSWER_S - GIVE_UP_SILENCE_S
        silence_s = self._signs.silence_s(SERVER, never_s)
        if silence_s <= self._signs.limit_s(SERVER, GIVE_UP_SILENCE_S):
            return ""
        if self._gid is None:
            return f"{SERVER} is silent on {bond_topic(SERVER)}; start it, then send the goal again"
        self._cancel(now_s)
        if now_s - self._cancel_s < CANCEL_ANSWER_S:
            return ""
        text = f"{SERVER} (pid {self._signs.pid(SERVER)}) is silent for {silence_s:.1f} s and did not answer a cancel"
        return f"{text}; its process may be stopped or blocked: end it, or wait for it"

    def _unanswered(self, now_s: float) -> str:
        """Send a goal without an answer once more; return the reason when there is none for long.

        DDS repeats what the network loses, within seconds. The repetition is for what it cannot repeat: an answer to a
        client that the server had not matched yet.
        """
        if self._call.answered.is_set():
            return ""
        if not self._signs.is_alive(SERVER) and self._gid is not None:
            # A server that is held up has not read the goal yet.
            self._sent_s = now_s
            return ""
        if self._is_cancelled or self._is_late:
            return self._unwanted(now_s)
        if now_s - self._sent_s <= self._signs.limit_s(SERVER, ANSWER_S):
            return ""
        if self._sent >= UNSERVED_ANSWERS and not self._call.is_served:
            return f"{SERVER} runs, but its actions are not found; wait until it is active, then send the goal again"
        if self._sent >= ANSWERS:
            return f"{SERVER} did not answer a goal that was sent {self._sent} times; see its log"
        self._sent, self._sent_s = self._sent + 1, now_s
        self._call.send_again()
        return ""

    def _unwanted(self, now_s: float) -> str:
        """Cancel a goal without an answer again rather than send it, which would move the arm after its cancel."""
        self._cancel(now_s)
        if now_s - self._cancel_s <= self._signs.limit_s(SERVER, STOP_S):
            return ""
        return f"{SERVER} answered neither the goal nor its cancel within {STOP_S:.0f} s; see its log"

    def _late(self, now_s: float, end_s: float) -> str:
        """Cancel the goal when time is up; return the reason once no result follows."""
        if now_s <= end_s:
            return ""
        self._is_late = not self._is_cancelled
        self._cancel(now_s)
        # ``_silent`` ends the wait for a server that is not alive; the last bound is for a client that is not spun.
        limit_s = STOP_S if self._signs.is_alive(SERVER) else STOP_S + GREATEST_GROWTH * GIVE_UP_SILENCE_S
        has_time = now_s - max(self._cancel_s, end_s) <= limit_s
        return "" if has_time else f"no result {STOP_S:.0f} s after the cancel"

    def _cancel(self, now_s: float) -> None:
        self._cancel_s = min(self._cancel_s, now_s)
        self._call.cancel()

    def _give_up(self, why: str) -> R:
        """End without a result, unless one comes after all; cancel the goal again if the server returns."""
        self._call.cancel()
        self._signs.on_return(SERVER, self._cancel_again)
        motion = self._motion()
        if self._call.done.wait(LATE_RESULT_S) and self._call.result is not None:
            return self._report()
        return self._lost(Outcome(Code.UNRESPONSIVE, f"{why}; {motion}"))

    def _cancel_again(self) -> None:
        """Cancel repeatedly: DDS matches the services of a server that returns later than its bond."""
        threading.Thread(target=self._cancel_until_done, name="cancel-again", daemon=True).start()

    def _cancel_until_done(self) -> None:
        end_s = time.monotonic() + CANCEL_AGAIN_FOR_S
        while not self._call.done.wait(CANCEL_AGAIN_S) and time.monotonic() < end_s:
            with contextlib.suppress(RuntimeError):  # the client was closed meanwhile
                self._call.cancel()

    def _report(self) -> R:
        answer = self._call.result
        if answer is None and self._is_lost_and_unwanted():
            text = f"{SERVER} does not have the goal: it was lost on the way, and was not sent again after its cancel"
            never = self._lost(Outcome(Code.CANCELED, text))
            return self._timed_out(never) if self._is_late else never
        if answer is None:
            return self._lost(Outcome(Code.INTERNAL, f"{SERVER} did not take the goal; see its log"))
        try:
            report = self._decode(answer.status, answer.result)
        except ValueError as error:
            return self._lost(Outcome(Code.INTERNAL, f"the result of {SERVER} is malformed: {error}"))
        return self._timed_out(report) if self._is_late and report.outcome.code is Code.CANCELED else report

    def _is_lost_and_unwanted(self) -> bool:
        call = self._call
        return (self._is_cancelled or self._is_late) and call.is_unknown.is_set() and not call.accepted

    def _timed_out(self, report: R) -> R:
        """Return the report of a goal that this client cancelled because of its timeout."""
        why = f"the client's timeout of {self._timeout_s:g} s is over"
        outcome = replace(report.outcome, code=Code.TIMED_OUT, message=f"{why}: {report.outcome.message}")
        return replace(report, outcome=outcome)
