"""A goal to the skill server from any thread: sent once more when it gets lost, given up when the server does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from rclpy.action import ActionClient
from rclpy.node import Node

from handiwork_core.outcome import Code, Outcome

from .action_call import ActionCall
from .liveness import SILENCE_S, LifeSigns

SERVER = "skill_server"
ANSWER_S = 3.0
"""Longest wait for a goal's acceptance; then it is sent once more."""
STOP_S = 5.0
"""Longest wait for the end of a goal that was cancelled."""
R = TypeVar("R")


class FeedbackCall(ActionCall):
    """An action goal with feedback."""

    def __init__(
        self, node: Node, action: ActionClient, goal: Any, on_feedback: Callable[[Any], None] | None
    ) -> None:
        super().__init__(node, action, goal)
        self._on_feedback = on_feedback

    def _send(self) -> None:
        sent = self._client.send_goal_async(self._goal, feedback_callback=self._note)
        sent.add_done_callback(lambda f: self._guarded(lambda: self._on_response(f))())

    def _note(self, message: Any) -> None:
        if self._on_feedback is not None:
            try:
                self._on_feedback(message.feedback)
            except Exception as error:  # noqa: BLE001 - the user's callback must not end the goal
                self._node.get_logger().error(f"on_feedback raised {error!r}")


class GoalRun(Generic[R]):
    """A goal on its way. ``decode`` makes the report of a result message, ``lost`` that of a goal without one.

    Its methods may be called from any thread but the feedback callback's.
    """

    def __init__(
        self,
        signs: LifeSigns,
        make: Callable[[], ActionCall],
        decode: Callable[[Any], R],
        lost: Callable[[Outcome], R],
    ) -> None:
        self._signs, self._make, self._decode, self._lost = signs, make, decode, lost
        self._pid = signs.pid(SERVER)
        self._sent_s, self._again = time.monotonic(), False
        self._call = make()
        self._call.send()

    @property
    def done(self) -> bool:
        """True at its end."""
        return self._call.done.is_set()

    def cancel(self) -> None:
        """Ask for the end; ``result`` tells when the arm is at rest."""
        self._call.cancel()

    def wait_end(self, timeout_s: float) -> bool:
        """Wait for the end even of a server that is silent, where ``result`` gives up; False: it did not come."""
        return self._call.done.wait(timeout_s)

    def result(self, timeout_s: float = 120.0) -> R:
        """Wait for the end; after ``timeout_s`` the goal is cancelled. Failures are outcomes, not exceptions."""
        end_s = time.monotonic() + timeout_s
        late = False
        while not self._call.done.wait(0.02):
            now_s = time.monotonic()
            if loss := self._loss():
                return self._lost(Outcome(Code.UNRESPONSIVE, loss))
            if not self._call.answered.is_set() and now_s - self._sent_s > ANSWER_S:
                if self._again:
                    text = f"{SERVER} did not answer a goal in {2 * ANSWER_S:.0f} s; see its log"
                    self._call.cancel()
                    return self._lost(Outcome(Code.UNRESPONSIVE, text))
                # Should the first one be answered late, the wish to cancel is sent at once.
                self._call.cancel()
                self._call, self._again, self._sent_s = self._make(), True, now_s
                self._call.send()
            if now_s > end_s + (STOP_S if late else 0.0):
                if late:
                    text = f"no result {STOP_S:.0f} s after the cancel; check that the arm is at rest"
                    return self._lost(Outcome(Code.UNRESPONSIVE, text))
                late = True
                self._call.cancel()
        return self._report()

    def _loss(self) -> str:
        """Why no result can come any more. A server that says good-bye still sends results, until it falls silent."""
        signs = self._signs
        sign = signs.sign(SERVER)
        if signs.silence_s(SERVER, self._sent_s + ANSWER_S - SILENCE_S) > SILENCE_S:
            return f"{SERVER} is silent on handiwork/status; start it, then send the goal again"
        if sign is not None and self._pid is None:
            self._pid = sign.pid
        elif sign is not None and sign.pid != self._pid:
            return f"{SERVER} was restarted while the goal ran; send the goal again"
        return ""

    def _report(self) -> R:
        answer = self._call.result
        if answer is None:
            return self._lost(Outcome(Code.INTERNAL, f"{SERVER} did not take the goal; see its log"))
        return self._decode(answer.result)
