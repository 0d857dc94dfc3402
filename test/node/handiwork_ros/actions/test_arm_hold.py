"""Goals for one arm of two, and for both at once: parallel goals, goals that wait, and the effect of a stop."""

from __future__ import annotations

import threading

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from handiwork_msgs.action import Pick
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.outcome import OK, Code
from handiwork_ros.actions.admission import AdmissionQueue
from handiwork_ros.actions.arm_lease import ArmLease, Policy
from handiwork_ros.actions.skill_action_server import SkillActionServer
from handiwork_ros.actions.skill_binding import ArmRequest, SkillBinding
from handiwork_ros.rclpy_support.destroy import destroy_with_actions

from .test_skill_action_server import Toy, ToyRun, encode, feedback, until

ARMS = {"left": ("left",), "right": ("right",), "both": ("left", "right")}


class Pair:
    """One action server over two leases; ``arm`` of a goal is left, right or both."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("pair", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.toys = {name: Toy() for name in ARMS}
        self.stopped: list[str] = []
        self.indices: list[int] = []
        self.leases = {name: self.lease(name) for name in ("left", "right")}
        door = SkillBinding("pick", Pick, self.admit, encode, feedback, lambda goal: f"toy of {goal.arm}")
        self.admission = AdmissionQueue(self.node)
        self.server = SkillActionServer(self.leases["left"], door, self.admission, arms=self.leases)
        self.client_node = rclpy.create_node("pair_client", context=self.context)
        self.client = ActionClient(self.client_node, Pick, "pick")
        self.executor.add_node(self.client_node)
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self.spin)
        self.thread.start()
        assert self.client.wait_for_server(60.0)

    def lease(self, name: str) -> ArmLease:
        def stop():
            self.stopped.append(name)
            return OK

        return ArmLease(self.node, stop_arm=stop, watchdog_s=0.3, arm=f"{name}_arm")

    def admit(self, goal):
        if goal.object == "burst":
            return ArmRequest(ARMS[goal.arm], self.burst)
        return ArmRequest(ARMS[goal.arm], self.toys[goal.arm].admit(goal))

    def burst(self, token, report):
        for i in range(50):
            report(Progress(f"s{i}", i, 50, 0.0))
        until(lambda: bool(self.indices) and self.indices[-1] == 49)
        return ToyRun(OK)

    def spin(self) -> None:
        while not self.closing.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def send(self, arm: str, what: str, policy: Policy = Policy.REJECT):
        goal, sent = Pick.Goal(arm=arm, object=what, when_busy=policy.value), []

        def note(message) -> None:
            self.indices.append(message.feedback.feedback.index)

        self.executor.create_task(lambda: sent.append(self.client.send_goal_async(goal, note)))
        until(lambda: bool(sent) and sent[0].done())
        return sent[0].result()

    def end(self, handle) -> tuple[Code, str]:
        asked: list = []
        self.executor.create_task(lambda: asked.append(handle.get_result_async()))
        until(lambda: bool(asked) and asked[0].done())
        answer = asked[0].result()
        assert (answer.status == GoalStatus.STATUS_SUCCEEDED) == (
            answer.result.result.outcome.code == Code.OK
        )
        return Code(answer.result.result.outcome.code), answer.result.result.outcome.message

    def cancel(self, handle) -> None:
        self.executor.create_task(handle.cancel_goal_async)

    def close(self) -> None:
        for lease in self.leases.values():
            self.executor.create_task(lease.begin_close)
        until(lambda: not any(lease.is_busy for lease in self.leases.values()))
        self.closing.set()
        self.thread.join()
        assert all(lease.end_close() for lease in self.leases.values())
        self.admission.close()
        self.executor.shutdown()
        for node in (self.client_node, self.node):
            destroy_with_actions(node)
        rclpy.shutdown(context=self.context)


@pytest.fixture
def pair():
    made = Pair()
    yield made
    made.close()


def test_both_arms_run_at_once_and_a_cancel_of_one_leaves_the_other(pair: Pair) -> None:
    left, right = pair.send("left", "run 60"), pair.send("right", "run 30")
    until(lambda: pair.toys["left"].running == pair.toys["right"].running == 1)
    pair.cancel(left)
    assert pair.end(left)[0] is Code.CANCELED
    assert pair.end(right)[0] is Code.OK


def test_a_busy_arm_is_named_with_its_holder_and_the_other_is_free(pair: Pair) -> None:
    left = pair.send("left", "run 60")
    code, text = pair.end(pair.send("left", "run 1"))
    assert code is Code.BUSY and "left_arm" in text and "toy of left" in text
    assert pair.end(pair.send("both", "run 1"))[0] is Code.BUSY
    assert pair.end(pair.send("right", "run 1"))[0] is Code.OK
    assert pair.end(left)[0] is Code.OK


def test_a_goal_for_both_waits_for_both_and_holds_both(pair: Pair) -> None:
    left, right = pair.send("left", "run 10"), pair.send("right", "run 100")
    both = pair.send("both", "run 30", Policy.QUEUE)
    later = pair.send("left", "run 1", Policy.QUEUE)
    assert pair.end(left)[0] is Code.OK
    assert pair.toys["both"].started == 0
    until(lambda: pair.toys["right"].running == 1)
    assert pair.end(right)[0] is Code.OK
    until(lambda: pair.toys["both"].running == 1)
    assert pair.end(pair.send("right", "run 1"))[1].startswith("right_arm is busy with 'toy of both'")
    assert pair.toys["left"].started == 1
    assert pair.end(both)[0] is Code.OK and pair.end(later)[0] is Code.OK


def test_a_waiting_goal_for_both_is_cancelled_at_once(pair: Pair) -> None:
    right = pair.send("right", "run 60")
    both = pair.send("both", "run 1", Policy.QUEUE)
    pair.cancel(both)
    code, text = pair.end(both)
    assert code is Code.CANCELED and "nothing moved" in text
    until(lambda: pair.toys["right"].running == 1)
    assert pair.end(right)[0] is Code.OK


def test_a_goal_that_preempts_one_arm_ends_the_goal_that_holds_both(pair: Pair) -> None:
    both = pair.send("both", "run 500")
    until(lambda: pair.toys["both"].running == 1)
    right = pair.send("right", "run 1", Policy.LATEST_WINS)
    assert pair.end(both)[0] is Code.PREEMPTED
    assert pair.end(right)[0] is Code.OK
    assert not pair.stopped


def test_a_deaf_body_on_both_arms_is_answered_for_and_both_are_stopped(pair: Pair) -> None:
    both = pair.send("both", "deaf")
    until(lambda: pair.toys["both"].running == 1)
    pair.cancel(both)
    assert pair.end(both)[0] is Code.UNRESPONSIVE
    until(lambda: sorted(pair.stopped) == ["left", "right"])
    pair.toys["both"].freed.set()
    until(lambda: not any(lease.is_busy for lease in pair.leases.values()))
    assert pair.end(pair.send("right", "run 1"))[0] is Code.OK


def test_a_late_beat_of_one_arm_does_not_keep_it_from_its_stop(pair: Pair) -> None:
    both = pair.send("both", "deaf")
    until(lambda: pair.toys["both"].running == 1)
    pair.executor.create_task(pair.leases["right"]._timer.cancel)
    pair.cancel(both)
    assert pair.end(both)[0] is Code.UNRESPONSIVE
    until(lambda: sorted(pair.stopped) == ["left", "right"])
    pair.toys["both"].freed.set()
    until(lambda: not any(lease.is_busy for lease in pair.leases.values()))


def test_feedback_comes_in_order(pair: Pair) -> None:
    assert pair.end(pair.send("left", "burst"))[0] is Code.OK
    assert pair.indices == sorted(pair.indices)
