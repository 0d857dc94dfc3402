"""Goals of an action from worker threads. The client itself is used on its executor's thread only."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from rclpy.action import ActionClient
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from .rclpy_internals import goal_handle
from .service_call import on_executor

POLL_S = 0.01
RESPONSE_S = 2.0
"""The longest wait for a goal's acceptance, s; then it is cancelled, and sent once more if it never arrived."""
ABSENCE_S = 1.0
"""The longest wait for a server's answer to that cancel, s."""

CANCEL_AGAIN_S = 0.3
"""The shortest pause between two requests to cancel, s."""
LOST_S = 3.0
"""The time after which a server that does not know a goal never received it, s."""


class ActionCall:
    """Sends one goal; ``done`` is set at its end. ``result`` has status and result, None when there was none.

    ``feedback_s`` is the steady time of the newest feedback, s; -inf before the first one, and without ``is_watched``.
    ``is_cancelled`` is set by ``cancel``, ``is_unknown`` once a server has answered one that it does not have the goal.

    Args:
        node: Owns the client; another thread spins it.
        client: Client of the action.
        goal: The goal message.
        generation: Generation of the sequence that the goal belongs to.
        is_watched: True: the arrival of feedback is noted.
    """

    def __init__(
        self,
        node: Node,
        client: ActionClient,
        goal: Any,
        generation: int = 0,
        *,
        is_watched: bool = False,
    ) -> None:
        self._node, self._client, self._goal, self.generation = node, client, goal, generation
        self._feedback_callback = self._note_feedback if is_watched else None
        self._id = UUID(uuid=list(uuid.uuid4().bytes))
        self.is_cancelled, self._is_repeated = False, False
        self._cancel_sent_s = float("-inf")
        self._handle: Any = None
        self._sent_s = float("inf")
        self.feedback_s = float("-inf")
        self.answered, self.is_unknown = threading.Event(), threading.Event()
        self.accepted = False
        self.done = threading.Event()
        self.result: Any = None

    @property
    def goal_id(self) -> str:
        """The goal's id in hexadecimal digits, by which any node can find the goal in the action's topics."""
        return bytes(self._id.uuid).hex()

    @property
    def is_served(self) -> bool:
        """True while a server of the action is found."""
        return bool(self._client.server_is_ready())

    def send(self) -> None:
        """Send the goal. From any thread."""
        on_executor(self._node, self._guarded(self._send))

    def send_again(self) -> None:
        """Send the goal once more with its id. From any thread.

        A server that has it refuses the repetition, so that it runs once, also when only the answer was lost or both
        arrive late. A goal that was cancelled is not sent again: it would begin to move after its cancel. Only for
        servers in Python: those of rclcpp end their process when an id comes a second time.
        """
        on_executor(self._node, self._guarded(self._repeat))

    def cancel(self) -> None:
        """Cancel the goal, also before its acceptance; each further call repeats the request until the end.

        A goal without an answer is cancelled by its id: the server may have accepted it and the answer may be lost.
        Requests are sent at least ``CANCEL_AGAIN_S`` apart. From any thread.
        """
        self.is_cancelled = True
        if time.monotonic() - self._cancel_sent_s > CANCEL_AGAIN_S and not self.done.is_set():
            self._cancel_sent_s = time.monotonic()
            on_executor(self._node, self._guarded(self._cancel))

    def _send(self) -> None:
        sent = self._client.send_goal_async(
            self._goal, feedback_callback=self._feedback_callback, goal_uuid=self._id
        )
        self._await(sent)

    def _note_feedback(self, _message: Any) -> None:
        self.feedback_s = time.monotonic()

    def _repeat(self) -> None:
        if not self.is_cancelled and not self.done.is_set():
            self._is_repeated = True
            self._send()

    def _await(self, sent: Any) -> None:
        self._sent_s = time.monotonic()
        sent.add_done_callback(lambda f: self._guarded(lambda: self._on_response(f))())

    def _on_response(self, future: Any) -> None:
        handle = future.result()
        if self._handle is not None:  # the answer to a cancel came first
            return
        if handle is None:
            self._end()
            return
        if not handle.accepted and not self._is_repeated:  # a server that has the goal refuses its repetition
            self._end()
            return
        if self.done.is_set():  # it counted as a goal that never arrived; it must not run unobserved
            self._node.get_logger().warning("a goal was accepted long after it was given up; it is cancelled")
            handle.cancel_goal_async()
            return
        self._follow(handle)

    def _follow(self, handle: Any) -> None:
        """Wait for the end of a goal that the server has."""
        if self._handle is None:
            self._handle, self.accepted = handle, True
            handle.get_result_async().add_done_callback(lambda f: self._guarded(lambda: self._on_result(f))())
            self.answered.set()
            if self.is_cancelled:
                self._cancel()

    def _on_result(self, future: Any) -> None:
        answer = future.result()
        is_unknown = answer is not None and answer.status == GoalStatus.STATUS_UNKNOWN
        self.result = None if self._is_repeated and is_unknown else answer
        self.done.set()

    def _cancel(self) -> None:
        if self.done.is_set():
            return
        handle = self._handle or goal_handle(self._client, self._id)
        handle.cancel_goal_async().add_done_callback(
            lambda f: self._guarded(lambda: self._on_cancel_response(handle, f.result()))()
        )

    def _on_cancel_response(self, handle: Any, response: Any) -> None:
        code = CancelGoal.Response.ERROR_REJECTED if response is None else response.return_code
        if code == CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID:
            self.is_unknown.set()
            if time.monotonic() - self._sent_s > LOST_S:
                self._end()
        elif code in (CancelGoal.Response.ERROR_NONE, CancelGoal.Response.ERROR_GOAL_TERMINATED):
            self._follow(handle)

    def _end(self) -> None:
        """Note that the server does not have the goal."""
        self.done.set()
        self.answered.set()

    def _guarded(self, action: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - an escaped exception would end spin()
                self._node.get_logger().error(f"action call failed: {error!r}")
                self._end()

        return run


class GoalSequence:
    """The goals of one action in the order of sending. Each is entered before it is sent, and stays until its end.

    A generation ends with each ``close``: goals that began in it are not sent any more, so that the caller of ``close``
    knows all goals that may still run.

    Args:
        node: Owns the client; another thread spins it.
        client: Client of the action.
        is_watched: True: the arrival of feedback is noted.
    """

    def __init__(self, node: Node, client: ActionClient, *, is_watched: bool = False) -> None:
        self._node, self._client, self._is_watched = node, client, is_watched
        self._lock = threading.Lock()
        self._generation = 0
        self._calls: list[ActionCall] = []

    @property
    def generation(self) -> int:
        """The generation of a goal that begins now."""
        return self._generation

    def close(self) -> int:
        """End the generation and return its number."""
        with self._lock:
            self._generation += 1
            return self._generation - 1

    def open(self, generation: int) -> list[ActionCall]:
        """Return the goals up to a generation that are not known to have ended. A server that is gone begins none.

        Args:
            generation: The last generation.
        """
        is_there = self._client.server_is_ready()
        with self._lock:
            self._calls = [
                call
                for call in self._calls
                if not call.done.is_set() and (is_there or call.answered.is_set())
            ]
            return [call for call in self._calls if call.generation <= generation]

    def send(self, goal: Any, generation: int, should_stop: Callable[[], bool]) -> ActionCall | None:
        """Enter and send a goal.

        Args:
            goal: The goal message.
            generation: Generation in which the caller began.
            should_stop: Returns True when the goal must not be sent.

        Returns:
            The goal; None when its generation has ended or ``should_stop`` is true.
        """
        with self._lock:
            if self._generation != generation or should_stop():
                return None
            call = ActionCall(self._node, self._client, goal, generation, is_watched=self._is_watched)
            self._calls.append(call)
        call.send()
        return call

    def start(self, goal: Any, generation: int, should_stop: Callable[[], bool]) -> ActionCall | None:
        """Send a goal, once more when it did not arrive, and wait for the answer.

        A goal without a response is cancelled, and sent again, with another id, only after the server has said that it
        does not have it: otherwise the path could begin a second time, from its middle.

        Args:
            goal: The goal message.
            generation: Generation in which the caller began.
            should_stop: Returns True when the wait must end.

        Returns:
            The goal that was sent last, which may be without an answer; None when none was sent.
        """
        call: ActionCall | None = None
        for _attempt in range(2):
            newer = self.send(goal, generation, should_stop)
            if newer is None or _is_answered(newer, should_stop):
                return newer or call
            call = newer
            call.cancel()
            if not _is_absent(call, should_stop):
                return call
        return call

    def settle(self, generation: int, limit_s: float, should_stop: Callable[[], bool]) -> bool:
        """Cancel the open goals up to a generation, and wait until all of them are answered.

        A newer goal replaces an older one at the controller, but must not arrive before an older one that is still
        under way.

        Args:
            generation: The last generation.
            limit_s: Longest wait, s of steady time.
            should_stop: Returns True when the wait must end.

        Returns:
            False if a goal was not answered.
        """
        end_s = time.monotonic() + limit_s
        while calls := self.open(generation):
            for call in calls:
                call.cancel()
            unanswered = [call for call in calls if not call.answered.is_set()]
            if not unanswered:
                return True
            if should_stop() or time.monotonic() > end_s:
                return False
            unanswered[0].answered.wait(POLL_S)
        return True


def _is_answered(call: ActionCall, should_stop: Callable[[], bool]) -> bool:
    end_s = time.monotonic() + RESPONSE_S
    while not call.answered.wait(POLL_S):
        if should_stop() or time.monotonic() > end_s:
            return False
    return True


def _is_absent(call: ActionCall, should_stop: Callable[[], bool]) -> bool:
    """Wait until the server says that it does not have a goal; return False if it has it or says nothing."""
    end_s = time.monotonic() + ABSENCE_S
    while not call.is_unknown.is_set():
        if call.answered.wait(POLL_S) or should_stop() or time.monotonic() > end_s:
            return False
        call.cancel()
    return not should_stop()
