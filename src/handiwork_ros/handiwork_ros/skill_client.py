"""Pick and place from any Python program: ``with SkillClient() as robot: robot.pick("cube")``."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import rclpy
from handiwork_msgs.action import Pick, Place
from handiwork_msgs.msg import SkillFeedback, SkillResult
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from handiwork_core.geometry import Pose
from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import Progress

from .action_call import ActionCall
from .conversions import code_from_msg, outcome_from_msg, pose_from_msg
from .destroy import destroy_with_actions
from .liveness import SILENCE_S, LifeSigns

SERVER = "skill_server"
ANSWER_S = 3.0
"""Longest wait for a goal's acceptance; then it is sent once more."""
STOP_S = 5.0
"""Longest wait for the end of a goal that was cancelled."""
OnFeedback = Callable[[Progress], None]


@dataclass(frozen=True)
class Stage:
    """One finished stage; ``duration_s`` in time of the robot's world, ``planning_time_s`` steady."""

    name: str
    duration_s: float
    planning_time_s: float
    code: Code


@dataclass(frozen=True)
class SkillReport:
    """How a goal ended. ``stopped_at``: joints by name [rad, m]; ``stopped_ee``: EE in ``world``, where known."""

    outcome: Outcome
    stages: tuple[Stage, ...] = ()
    duration_s: float = 0.0
    planning_time_s: float = 0.0
    stopped_at: Mapping[str, float] = field(default_factory=dict)
    stopped_ee: Pose | None = None
    held_object: str = ""
    seed: int = 0
    world_version: int = 0

    @property
    def ok(self) -> bool:
        """True when the skill succeeded."""
        return self.outcome.ok

    @property
    def message(self) -> str:
        """One sentence for a person."""
        return self.outcome.message


class _Call(ActionCall):
    def __init__(
        self, client: SkillClient, action: ActionClient, goal: Any, on_feedback: OnFeedback | None
    ) -> None:
        super().__init__(client.node, action, goal)
        self._on_feedback = on_feedback

    def _send(self) -> None:
        sent = self._client.send_goal_async(self._goal, feedback_callback=self._note)
        sent.add_done_callback(lambda f: self._guarded(lambda: self._on_response(f))())

    def _note(self, message: Any) -> None:
        if self._on_feedback is not None:
            callback, progress = self._on_feedback, _progress(message.feedback.feedback)
            try:
                callback(progress)
            except Exception as error:  # noqa: BLE001 - the user's callback must not end the goal
                self._node.get_logger().error(f"on_feedback raised {error!r}")


class GoalRun:
    """A goal on its way. Its methods may be called from any thread but the feedback callback's."""

    def __init__(self, client: SkillClient, make: Callable[[], _Call]) -> None:
        self._client, self._make = client, make
        self._pid = client.signs.pid(SERVER)
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

    def result(self, timeout_s: float = 120.0) -> SkillReport:
        """Wait for the end; after ``timeout_s`` the goal is cancelled. Failures are outcomes, not exceptions."""
        end_s = time.monotonic() + timeout_s
        late = False
        while not self._call.done.wait(0.02):
            now_s = time.monotonic()
            if loss := self._loss():
                return SkillReport(Outcome(Code.UNRESPONSIVE, loss))
            if not self._call.answered.is_set() and now_s - self._sent_s > ANSWER_S:
                if self._again:
                    text = f"{SERVER} did not answer a goal in {2 * ANSWER_S:.0f} s; see its log"
                    self._call.cancel()
                    return SkillReport(Outcome(Code.UNRESPONSIVE, text))
                # Should the first one be answered late, the wish to cancel is sent at once.
                self._call.cancel()
                self._call, self._again, self._sent_s = self._make(), True, now_s
                self._call.send()
            if now_s > end_s + (STOP_S if late else 0.0):
                if late:
                    text = f"no result {STOP_S:.0f} s after the cancel; check that the arm is at rest"
                    return SkillReport(Outcome(Code.UNRESPONSIVE, text))
                late = True
                self._call.cancel()
        return self._report()

    def _loss(self) -> str:
        """Why no result can come any more. A server that says good-bye still sends results, until it falls silent."""
        signs = self._client.signs
        sign = signs.sign(SERVER)
        if signs.silence_s(SERVER, self._sent_s + ANSWER_S - SILENCE_S) > SILENCE_S:
            return f"{SERVER} is silent on handiwork/status; start it, then send the goal again"
        if sign is not None and self._pid is None:
            self._pid = sign.pid
        elif sign is not None and sign.pid != self._pid:
            return f"{SERVER} was restarted while the goal ran; send the goal again"
        return ""

    def _report(self) -> SkillReport:
        answer = self._call.result
        if answer is None:
            return SkillReport(Outcome(Code.INTERNAL, f"{SERVER} did not take the goal; see its log"))
        return _report(answer.result.result)


class SkillClient:
    """Own node, executor and thread, so it works in any program, also one that does not use ROS."""

    def __init__(self, *, domain_id: int | None = None, node_name: str = "handiwork_client") -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node(node_name, context=self._context)
        self.signs = LifeSigns(self.node)
        self._actions = {
            Pick.Goal: ActionClient(self.node, Pick, "pick"),
            Place.Goal: ActionClient(self.node, Place, "place"),
        }
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, name=node_name, daemon=True)
        self._thread.start()

    def wait_ready(self, timeout_s: float = 30.0) -> bool:
        """True once the skill server is active and its actions are there."""
        end_s = time.monotonic() + timeout_s
        while time.monotonic() < end_s:
            if self.signs.is_active(SERVER) and all(a.server_is_ready() for a in self._actions.values()):
                return True
            self._closing.wait(0.05)
        return False

    def send(self, goal: Pick.Goal | Place.Goal, on_feedback: OnFeedback | None = None) -> GoalRun:
        """Send a goal and return at once. ``on_feedback`` is called on the client's thread and must not wait."""
        action = self._actions[type(goal)]
        return GoalRun(self, lambda: _Call(self, action, goal, on_feedback))

    def pick(
        self, object: str, *, on_feedback: OnFeedback | None = None, timeout_s: float = 120.0
    ) -> SkillReport:
        """Grasp ``object`` and lift it, with the defaults of ``Pick.action``."""
        return self.send(Pick.Goal(object=object), on_feedback).result(timeout_s)

    def place(
        self, object: str, container: str, *, on_feedback: OnFeedback | None = None, timeout_s: float = 120.0
    ) -> SkillReport:
        """Put the held ``object`` (empty: whatever is held) into ``container``, else as ``Place.action`` says."""
        return self.send(Place.Goal(object=object, container=container), on_feedback).result(timeout_s)

    def close(self) -> None:
        """End the thread and leave the ROS graph; running goals go on."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._thread.join()
        self._executor.shutdown()
        destroy_with_actions(self.node)
        rclpy.shutdown(context=self._context)

    def __enter__(self) -> SkillClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _spin(self) -> None:
        while not self._closing.is_set():
            self._executor.spin_once(timeout_sec=0.1)


def _progress(message: SkillFeedback) -> Progress:
    return Progress(message.stage, message.index, message.count, message.planning_time)


def _report(message: SkillResult) -> SkillReport:
    stages = (Stage(s.stage, s.duration, s.planning_time, code_from_msg(s.code)) for s in message.stages)
    joints = message.stopped_at
    known = bool(message.stopped_ee.header.frame_id)
    return SkillReport(
        outcome_from_msg(message.outcome),
        tuple(stages),
        message.duration,
        message.planning_time,
        dict(zip(joints.name, joints.position, strict=True)),
        pose_from_msg(message.stopped_ee.pose, "stopped_ee") if known else None,
        message.held_object,
        message.seed,
        message.world_version,
    )
