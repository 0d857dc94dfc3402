"""The contract of every skill's action server, with a toy skill, under both busy policies."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import itertools
import math
import random
import threading
import time

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from handiwork_msgs.action import Pick
from rclpy.action import ActionClient
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock as ClockMsg

from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_ros.actions import arm_lease
from handiwork_ros.actions.admission import AdmissionQueue
from handiwork_ros.actions.arm_lease import QUEUE_LENGTH, ArmLease, Policy
from handiwork_ros.actions.multi_arm_lease import MultiArmLease
from handiwork_ros.actions.skill_action_server import SkillActionServer
from handiwork_ros.actions.skill_binding import GoalRejected, Report, SkillBinding
from handiwork_ros.rclpy_support.destroy import destroy_with_actions

NAMES = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
}
DONE = ("SUCCEEDED", Code.OK)


@dataclasses.dataclass
class ToyRun:
    """The return value of the toy's body."""

    outcome: Outcome


class Toy:
    """object "run <n>": n stages of 10 ms; "bug": raises; "deaf": ignores its token until freed; otherwise: refused."""

    def __init__(self) -> None:
        self.running, self.overlaps, self.started = 0, 0, 0
        self.tokens: list[Token] = []
        self.freed = threading.Event()

    def admit(self, goal: Pick.Goal):
        word, _, count = goal.object.partition(" ")
        if word not in ("run", "bug", "deaf"):
            raise GoalRejected(
                Outcome(Code.UNKNOWN_OBJECT, f"object {goal.object!r} is not known", field_name="object")
            )
        return lambda token, report: self.body(word, int(count or 0), token, report)

    def body(self, word: str, count: int, token: Token, report: Report) -> ToyRun:
        self.started += 1
        self.tokens.append(token)
        self.running += 1
        self.overlaps += self.running > 1
        try:
            if word == "bug":
                raise ZeroDivisionError("planted")
            if word == "deaf":
                self.freed.wait(20.0)
            for i in range(count):
                report(Progress(f"s{i}", i, count, 0.0))
                if token.wait(0.01):
                    return ToyRun(Outcome(token.reason, "stopped"))
            return ToyRun(OK)
        finally:
            self.running -= 1


def encode(outcome: Outcome, run: ToyRun | None) -> Pick.Result:
    result = Pick.Result()
    result.result.outcome.code = int(outcome.code)
    result.result.outcome.message = outcome.message
    result.result.outcome.field = outcome.field_name
    return result


def feedback(progress: Progress) -> Pick.Feedback:
    message = Pick.Feedback()
    message.feedback.stage, message.feedback.index, message.feedback.count = (
        progress.stage,
        progress.index,
        progress.count,
    )
    return message


class Rig:
    """Server node and client node, each with its own executor and thread."""

    def __init__(self, policy: Policy, *, sim_time: bool = False, result_timeout_s: int = 60) -> None:
        self.policy = policy
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        time_parameter = [rclpy.parameter.Parameter("use_sim_time", value=sim_time)]
        self.node = rclpy.create_node("toy_server", context=self.context, parameter_overrides=time_parameter)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.toy, self.stops = Toy(), 0
        self.changes: list[str] = []
        self.lease = ArmLease(self.node, stop_arm=self.stop_arm, watchdog_s=0.3)
        host = rclpy.create_node("toy_host", context=self.context)
        self.executor.add_node(host)
        self.admission = AdmissionQueue(
            self.node, limit_s=0.5, most_abandoned=2, on_change=self.changes.append
        )
        self.servers = [
            SkillActionServer(
                self.lease,
                SkillBinding(name, Pick, lambda goal: self.toy.admit(goal), encode, feedback),
                self.admission,
                node=host,
                policy=policy,
                result_timeout_s=result_timeout_s,
            )
            for name in ("pick", "place")
        ]
        self.client_node = rclpy.create_node("toy_client", context=self.context)
        self.client_executor = SingleThreadedExecutor(context=self.context)
        self.client_executor.add_node(self.client_node)
        self.clients = {n: ActionClient(self.client_node, Pick, n) for n in ("pick", "place")}
        self.nodes = [self.node, host, self.client_node]
        self.feedback: list[tuple[float, int]] = []
        self.spinning: list[tuple[threading.Event, threading.Thread]] = []
        self.server_spin, self.client_spin = self.spin(self.executor), self.spin(self.client_executor)
        for client in self.clients.values():
            assert client.wait_for_server(60.0)

    def stop_arm(self) -> Outcome:
        self.stops += 1
        return OK

    def spin(self, executor: SingleThreadedExecutor):
        end = threading.Event()

        def turn() -> None:
            while not end.is_set():
                executor.spin_once(timeout_sec=0.05)

        thread = threading.Thread(target=turn)
        thread.start()

        def stop() -> None:
            end.set()
            thread.join()

        return stop

    def on_client(self, call):
        """Call a client on the thread that spins it."""
        done: list = []
        self.client_executor.create_task(lambda: done.append(call()))
        until(lambda: bool(done))
        return done[0]

    def wait(self, future):
        until(future.done)
        return future.result()

    def send(self, what: str, name: str = "pick", allowance_s: float = 0.0):
        def note(message) -> None:
            self.feedback.append((time.monotonic(), message.feedback.feedback.index))

        goal = Pick.Goal(object=what, time_allowance=allowance_s)
        send = self.clients[name].send_goal_async
        handle = self.wait(self.on_client(lambda: send(goal, feedback_callback=note)))
        assert handle.accepted
        return handle

    def end(self, handle) -> tuple[str, Code]:
        answer = self.wait(self.on_client(handle.get_result_async))
        self.last = answer.result.result.outcome
        return NAMES[answer.status], Code(self.last.code)

    def run(self, what: str, name: str = "pick") -> tuple[str, Code]:
        return self.end(self.send(what, name))

    def close_lease(self) -> bool:
        self.lease.begin_close()
        self.admission.refuse_all(Outcome(Code.SHUTDOWN, "the server stops"))
        end = time.monotonic() + 10.0
        while (self.lease.is_busy or self.admission.is_busy) and time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)
        return self.lease.end_close()

    def close(self) -> bool:
        self.toy.freed.set()
        self.server_spin()
        returned = self.close_lease()
        self.admission.close()
        self.client_spin()
        for executor in (self.executor, self.client_executor):
            executor.shutdown()
        for node in self.nodes:
            destroy_with_actions(node)
        rclpy.shutdown(context=self.context)
        return returned


def until(true, limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "nothing happened"
        threading.Event().wait(0.001)


@pytest.fixture(params=list(Policy), ids=lambda policy: policy.name)
def rig(request):
    with lend(Rig(request.param)) as made:
        yield made


@contextlib.contextmanager
def lend(made: Rig):
    """Check that nothing is left: no overlap on the arm, no thread."""
    others = {thread for thread in threading.enumerate()}
    yield made
    mine = [
        t for t in threading.enumerate() if t not in others and t.name.startswith(("skill", "goal-check"))
    ]
    assert made.close()
    assert made.toy.overlaps == 0
    for thread in mine:
        thread.join(60.0)
    # A thread that has returned is in the list for a moment more.
    left = [t for t in threading.enumerate() if t not in others]
    for thread in left:
        thread.join(5.0)
    assert not any(t.is_alive() for t in left), left
    assert not any(t.is_alive() for t in mine)


def test_a_goal_runs_with_rising_feedback(rig):
    assert rig.run("run 5") == DONE
    stages = [index for _, index in rig.feedback]
    assert stages == sorted(stages) and set(stages) == set(range(5))


def test_a_goal_that_comes_again_after_its_result_is_forgotten_does_not_run_again():
    with lend(Rig(Policy.REJECT, result_timeout_s=0)) as rig:
        handle, client = rig.send("run 1"), rig.clients["pick"]
        until(lambda: not rig.servers[0].server._goal_handles and not client._goal_handles)
        again = rig.wait(
            rig.on_client(lambda: client.send_goal_async(Pick.Goal(object="run 1"), goal_uuid=handle.goal_id))
        )
        rig.wait(rig.on_client(again.get_result_async))
        until(lambda: not rig.servers[0].server._goal_handles)
        assert (again.accepted, rig.toy.started) == (True, 1)


def test_feedback_repeats_in_a_long_stage(rig):
    handle = rig.send("deaf")
    until(lambda: rig.toy.running == 1)
    rig.on_client(handle.cancel_goal_async)  # no stage yet, so nothing is sent
    rig.end(handle)
    assert rig.feedback == []
    rig.toy.freed.set()
    # On a busy machine the body was abandoned before, which frees the arm while it still runs.
    until(lambda: rig.toy.running == 0 and not rig.lease.is_busy)
    job_ended = rig.send("run 1")
    rig.end(job_ended)
    assert len(rig.feedback) >= 1


def test_a_long_stage_sends_feedback_five_times_a_second(rig):
    hold = threading.Event()
    body = rig.toy.body

    def long_stage(word, count, token, report):
        report(Progress("long", 0, 1, 0.0))
        hold.wait(10.0)
        return body(word, count, token, report)

    rig.toy.body = long_stage
    handle = rig.send("run 0")
    until(lambda: len(rig.feedback) >= 8)
    stamps = [stamp for stamp, _ in rig.feedback]
    gaps = sorted(b - a for a, b in itertools.pairwise(stamps))
    assert gaps[len(gaps) // 2] <= 0.2
    hold.set()
    assert rig.end(handle) == DONE


def test_a_bad_goal_is_aborted_with_its_cause_and_nothing_starts(rig):
    assert rig.run("unicorn") == ("ABORTED", Code.UNKNOWN_OBJECT)
    assert (rig.last.field, "unicorn" in rig.last.message) == ("object", True)
    assert rig.toy.started == 0 and not rig.lease.is_busy
    assert rig.run("run 1") == DONE


def test_a_bad_goal_disturbs_no_running_goal(rig):
    first = rig.send("run 20")
    assert rig.run("unicorn") == ("ABORTED", Code.UNKNOWN_OBJECT)
    assert rig.end(first) == DONE


def test_second_goal_for_the_other_skill_of_the_same_arm(rig):
    first = rig.send("run 100", "pick")
    second = rig.send("run 2", "place")
    if rig.policy is Policy.REJECT:
        assert rig.end(second) == ("ABORTED", Code.BUSY)
        assert "'pick'" in rig.last.message
        assert rig.end(first) == DONE
    elif rig.policy is Policy.LATEST_WINS:
        assert rig.end(first) == ("ABORTED", Code.PREEMPTED)
        assert rig.end(second) == DONE
    else:
        assert rig.end(second) == DONE
        assert rig.end(first) == DONE


def test_four_goals_fast(rig):
    handles = [rig.send("run 60", name) for name in ("pick", "place", "pick", "place")]
    ends = [rig.end(handle) for handle in handles]
    if rig.policy is Policy.REJECT:
        assert ends == [DONE, *[("ABORTED", Code.BUSY)] * 3]
    elif rig.policy is Policy.LATEST_WINS:
        assert ends == [*[("ABORTED", Code.PREEMPTED)] * 3, DONE]
    else:
        assert ends == [DONE] * 4


def test_a_goal_ends_when_its_time_allowance_is_over_and_the_next_one_is_free(rig):
    assert rig.end(rig.send("run 2000", allowance_s=0.2)) == ("ABORTED", Code.TIMED_OUT)
    assert rig.toy.tokens[0].detail == "the time_allowance of 0.2 s is over"
    assert rig.run("run 1") == DONE
    assert rig.end(rig.send("run 1", allowance_s=60.0)) == DONE
    assert not rig.servers[0]._allowances


def test_a_goal_that_waits_for_its_turn_ends_when_its_time_allowance_is_over():
    with lend(Rig(Policy.QUEUE)) as rig:
        first = rig.send("run 100")
        assert rig.end(rig.send("run 1", allowance_s=0.1)) == ("ABORTED", Code.TIMED_OUT)
        assert "nothing moved: the time_allowance of 0.1 s is over" in rig.last.message
        assert rig.end(first) == DONE


@pytest.mark.parametrize("allowance_s", [-1.0, math.nan, math.inf])
def test_a_bad_time_allowance_is_refused(rig, allowance_s):
    assert rig.end(rig.send("run 1", allowance_s=allowance_s)) == ("ABORTED", Code.BAD_NUMBER)
    assert rig.last.field == "time_allowance" and rig.toy.started == 0


def test_queued_goals_run_in_order_and_a_cancelled_one_leaves_at_once():
    with lend(Rig(Policy.QUEUE)) as rig:
        first = rig.send("run 150")
        waiting = [rig.send("run 1", name) for name in ("place", "pick", "place")]
        rig.on_client(waiting[1].cancel_goal_async)
        assert rig.end(waiting[1]) == ("CANCELED", Code.CANCELED)
        assert "nothing moved" in rig.last.message
        until(lambda: rig.toy.started == 1)
        ended = [rig.end(handle) for handle in (first, waiting[0], waiting[2])]
        assert ended == [DONE] * 3 and rig.toy.started == 3


def test_a_queue_has_an_end():
    with lend(Rig(Policy.QUEUE)) as rig:
        handles = [rig.send("run 60")] + [rig.send("run 0") for _ in range(QUEUE_LENGTH + 1)]
        assert rig.end(handles[-1]) == ("ABORTED", Code.BUSY)
        assert "'pick'" in rig.last.message
        assert [rig.end(handle) for handle in handles[:-1]] == [DONE] * (QUEUE_LENGTH + 1)


@pytest.mark.parametrize("delay_s", [0.0, 0.002, 0.05, 0.15])
def test_cancel_at_any_time(rig, delay_s):
    handle = rig.send("run 1000")
    threading.Event().wait(delay_s)
    rig.on_client(handle.cancel_goal_async)
    assert rig.end(handle) == ("CANCELED", Code.CANCELED)
    assert rig.toy.running == 0
    assert rig.run("run 1") == DONE


def test_cancel_after_the_end_is_harmless(rig):
    handle = rig.send("run 1")
    assert rig.end(handle) == DONE
    assert not rig.wait(rig.on_client(handle.cancel_goal_async)).goals_canceling
    assert rig.run("run 1") == DONE


def test_a_bug_in_a_skill_becomes_internal(rig):
    assert rig.run("bug") == ("ABORTED", Code.INTERNAL)
    assert "planted" in rig.last.message
    assert rig.run("run 1") == DONE


def test_a_failing_encoder_still_tells_the_outcome(rig):
    def broken(outcome, run):
        if run is not None:
            raise ValueError("planted")
        return encode(outcome, run)

    server = rig.servers[0]
    server._binding = dataclasses.replace(server._binding, encode=broken)
    handle = rig.send("run 1")
    assert rig.end(handle)[1] is Code.INTERNAL
    assert "planted" in rig.last.message


def raising(*_arguments):
    raise ValueError("planted")


def with_surrogate(outcome, _run):
    result = encode(outcome, None)
    result.result.held_object = (
        "\udcff"  # no middleware can send it, so rclpy would raise after the transition
    )
    return result


def without_outcome(_outcome, _run):
    return Pick.Result()


@pytest.mark.parametrize("broken", [raising, with_surrogate, without_outcome])
@pytest.mark.parametrize(("goal", "code"), [("run 1", Code.INTERNAL), ("nonsense", Code.UNKNOWN_OBJECT)])
def test_the_last_fallback_needs_no_encoder(rig, broken, goal, code):
    server = rig.servers[0]
    server._binding = dataclasses.replace(server._binding, encode=broken, encode_for=raising)
    assert rig.run(goal) == ("ABORTED", code)
    assert "filling the result raised" in rig.last.message
    assert rig.last.name == code.name


def test_the_plain_encoder_is_asked_where_the_one_that_reads_the_world_fails(rig):
    server = rig.servers[0]
    server._binding = dataclasses.replace(server._binding, encode_for=raising)
    assert rig.run("nonsense") == ("ABORTED", Code.UNKNOWN_OBJECT)
    assert rig.last.field == "object" and "planted" in rig.last.message


def test_a_transition_that_fails_aborts_with_a_filled_outcome(rig, monkeypatch):
    monkeypatch.setattr(ServerGoalHandle, "succeed", raising)
    assert rig.run("run 1") == ("ABORTED", Code.INTERNAL)
    assert "planted" in rig.last.message


def test_an_error_of_the_server_itself_aborts_with_a_filled_outcome(rig, monkeypatch):
    monkeypatch.setattr(MultiArmLease, "turn", raising)
    assert rig.run("run 1") == ("ABORTED", Code.INTERNAL)
    assert "planted" in rig.last.message
    monkeypatch.undo()
    assert rig.run("run 1") == DONE


def test_a_body_that_sets_no_outcome_is_no_success(rig):
    server = rig.servers[0]
    body = lambda _token, _report: ToyRun(Outcome(Code.UNSET))  # noqa: E731 - a body
    server._binding = dataclasses.replace(server._binding, admit=lambda _goal: body)
    assert rig.run("anything") == ("ABORTED", Code.INTERNAL)


def test_a_deaf_skill_is_answered_for_and_abandoned_once_the_arm_rests(rig):
    handle = rig.send("deaf")
    until(lambda: rig.toy.running == 1)
    rig.on_client(handle.cancel_goal_async)
    assert rig.end(handle) == ("ABORTED", Code.UNRESPONSIVE)
    assert rig.stops == 1 and "the arm was stopped" in rig.last.message
    until(lambda: not rig.lease.is_busy)
    assert not rig.toy.freed.is_set() and rig.toy.running == 1, "the body has not returned"
    assert rig.toy.tokens[0].is_revoked
    rig.toy.running = 0
    assert rig.run("run 1") == DONE
    later = rig.send("run 1000")
    until(lambda: rig.toy.running == 1)
    rig.toy.freed.set()  # the abandoned body returns into the middle of another goal
    until(lambda: rig.toy.running == 0)
    assert rig.lease.is_busy and rig.lease.owner() == "pick"
    rig.toy.running = 1
    rig.on_client(later.cancel_goal_async)
    assert rig.end(later) == ("CANCELED", Code.CANCELED)
    until(lambda: not rig.lease.is_busy)


@pytest.mark.parametrize(
    ("word", "end"),
    [("deaf 1", ("CANCELED", Code.CANCELED)), ("deaf", ("ABORTED", Code.UNRESPONSIVE))],
    ids=["stopped", "a false OK"],
)
def test_a_skill_that_returns_late_but_soon_after_the_stop_of_its_arm_is_canceled(
    rig, monkeypatch, word, end
):
    """An OK is not believed, because the arm was stopped behind the back of the skill."""
    monkeypatch.setattr(arm_lease, "RETURN_S", 600.0)
    handle = rig.send(word)
    until(lambda: rig.toy.running == 1)
    rig.on_client(handle.cancel_goal_async)
    until(lambda: rig.stops == 1)
    rig.toy.freed.set()
    assert rig.end(handle) == end
    assert rig.toy.tokens[0].is_revoked
    until(lambda: not rig.lease.is_busy)
    assert rig.run("run 1") == DONE


def test_an_arm_whose_stop_fails_stays_busy_until_it_rests(rig):
    ends = [Outcome(Code.ROBOT_LOST, "planted"), OK]
    rig.lease.stop_arm = lambda: ends.pop(0)
    handle = rig.send("deaf")
    until(lambda: rig.toy.running == 1)
    rig.on_client(handle.cancel_goal_async)
    assert rig.end(handle) == ("ABORTED", Code.UNRESPONSIVE)
    assert "ROBOT_LOST" in rig.last.message
    assert rig.lease.is_busy
    until(lambda: not rig.lease.is_busy)
    assert ends == []
    rig.toy.running = 0
    assert rig.run("run 1") == DONE


def test_a_stop_that_hangs_too_is_answered_for(rig):
    hung = threading.Event()
    rig.lease.stop_arm = lambda: (hung.wait(20.0), OK)[1]
    handle = rig.send("deaf")
    until(lambda: rig.toy.running == 1)
    rig.on_client(handle.cancel_goal_async)
    assert rig.end(handle) == ("ABORTED", Code.UNRESPONSIVE)
    assert "emergency stop" in rig.last.message
    hung.set()
    rig.toy.freed.set()
    until(lambda: not rig.lease.is_busy)


def test_two_hundred_goals_leave_nothing(rig):
    def count() -> tuple[int, int, int, int]:
        gc.collect()
        tasks = sum(isinstance(o, rclpy.task.Task) for o in gc.get_objects())
        return tuple(
            sum(len(list(getattr(n, kind))) for n in rig.nodes) for kind in ("timers", "subscriptions")
        ) + (
            sum(len(list(n.waitables)) for n in rig.nodes),
            tasks,
        )

    rig.run("run 1")
    until(lambda: not rig.lease.is_busy)
    before, threads, chance = count(), threading.active_count(), random.Random(0)
    ends = []
    for _ in range(200):
        handle = rig.send(
            chance.choice(["run 1", "run 2", "run 4", "bug", "unicorn"]), chance.choice(["pick", "place"])
        )
        if chance.random() < 0.3:
            rig.on_client(handle.cancel_goal_async)
        if chance.random() < 0.7:
            ends.append(rig.end(handle)[1])
    until(lambda: not rig.lease.is_busy)
    always = {Code.OK, Code.CANCELED, Code.INTERNAL, Code.UNKNOWN_OBJECT}
    assert always <= set(ends) <= always | {Code.PREEMPTED if rig.policy is Policy.LATEST_WINS else Code.BUSY}
    until(lambda: count()[:3] == before[:3] and count()[3] <= before[3] + 2)
    assert threading.active_count() == threads


def test_shutdown_in_a_goal_answers_it(rig):
    handle = rig.send("run 3000")
    future = rig.on_client(handle.get_result_async)
    until(lambda: rig.toy.running == 1)
    rig.server_spin()
    assert rig.close_lease()
    rig.server_spin = rig.spin(rig.executor)
    answer = rig.wait(future)
    assert (NAMES[answer.status], answer.result.result.outcome.code) == ("ABORTED", Code.SHUTDOWN)
    assert rig.run("run 1") == ("ABORTED", Code.SHUTDOWN)


def test_a_client_that_goes_away_leaves_a_usable_server(rig):
    other = rclpy.create_node("short_lived", context=rig.context)
    rig.client_executor.add_node(other)
    client = ActionClient(other, Pick, "pick")
    assert client.wait_for_server(60.0)
    rig.wait(rig.on_client(lambda: client.send_goal_async(Pick.Goal(object="run 30"))))
    rig.client_spin()
    rig.client_executor.remove_node(other)
    client.destroy()
    other.destroy_node()
    rig.client_spin = rig.spin(rig.client_executor)
    until(lambda: rig.toy.started == 1 and not rig.lease.is_busy)
    assert rig.run("run 1") == DONE


def test_a_clock_that_jumps_back_ends_the_goal():
    with lend(Rig(Policy.REJECT, sim_time=True)) as rig:
        publisher = rig.client_node.create_publisher(ClockMsg, "/clock", 1)
        clock = rig.node.get_clock()

        def tick(second: int) -> None:
            message = ClockMsg()
            message.clock.sec = second
            end = time.monotonic() + 15.0
            while clock.now().nanoseconds != second * 10**9:
                assert time.monotonic() < end, "no clock"
                rig.on_client(lambda: publisher.publish(message))
                threading.Event().wait(0.01)

        tick(100)
        handle = rig.send("run 3000")
        until(lambda: rig.toy.running == 1)
        tick(101)
        assert rig.toy.running == 1
        tick(5)
        assert rig.end(handle) == ("ABORTED", Code.TIME_RESET)
        assert rig.run("run 1") == DONE
