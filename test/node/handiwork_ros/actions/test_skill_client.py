"""The client gives a terminal outcome for every fault of the server."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from handiwork_msgs.action import Pick
from handiwork_msgs.msg import NodeStatus
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import SingleThreadedExecutor

from handiwork_core.config.dataclass_loader import mapping_from_yaml
from handiwork_core.model.outcome import Code
from handiwork_ros.clients import goal_handle
from handiwork_ros.clients.skill_client import SkillClient
from handiwork_ros.clients.skill_goals import skill_goal
from handiwork_ros.liveness.bond_topic import StatusWriter
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.service_call import on_executor

STAGES = 30


class FakeServer:
    """Publishes its status and takes goals that end only when cancelled, while ``obeys`` is true."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("skill_server", context=self.context)
        self.signs_on, self.obeys, self.running, self.cancels = True, True, 0, 0
        self._status = StatusWriter(self.node, "skill_server")
        self.node.create_timer(0.1, self._beat)
        self._servers = [
            ActionServer(self.node, Pick, "pick", self._execute, cancel_callback=self._on_cancel),
        ]
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._ended = rclpy.task.Future(executor=self._executor)
        self.end_as = self._canceled
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        while not self._end.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def _beat(self) -> None:
        if self.signs_on:
            self._status.publish(NodeStatus(node="skill_server", state=NodeStatus.ACTIVE))

    def restart(self) -> None:
        """Continue with another writer, as a process that replaces one that has ended."""

        def replace() -> None:
            self.node.destroy_publisher(self._status._bond)
            self._status = StatusWriter(self.node, "skill_server")

        self._executor.create_task(replace)

    def _on_cancel(self, _handle: object) -> CancelResponse:
        self.cancels += 1
        if self.obeys:
            self._executor.create_task(self._ended.set_result, None)
        return CancelResponse.ACCEPT

    async def _execute(self, handle) -> Pick.Result:
        self.running += 1
        feedback = Pick.Feedback()
        feedback.feedback.stage = "long"
        handle.publish_feedback(feedback)
        await self._ended
        return self.end_as(handle)

    def _canceled(self, handle) -> Pick.Result:
        result = Pick.Result()
        result.result.outcome.code = int(Code.CANCELED)
        handle.canceled()
        return result

    def close(self) -> None:
        if not self._ended.done():
            self._executor.create_task(self._ended.set_result, None)
        self._end.set()
        self._thread.join()
        self._executor.shutdown()
        destroy_with_actions(self.node)
        rclpy.shutdown(context=self.context)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    made = FakeServer()
    yield made
    made.close()


@pytest.fixture
def client(server: FakeServer) -> Iterator[SkillClient]:
    with SkillClient() as made:
        until(lambda: made.signs.is_active("skill_server"))
        until(lambda: all(a.server_is_ready() for kind, a in made._actions.items() if kind is Pick.Goal))
        yield made


def until(true, limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "nothing happened"
        threading.Event().wait(0.005)


def test_a_goal_whose_answer_is_lost_runs_once_and_its_result_arrives(server, client, monkeypatch):
    action, ids = client._actions[Pick.Goal], []
    send = action.send_goal_async

    def send_and_lose_the_first_answer(*args, **options):
        ids.append(bytes(options["goal_uuid"].uuid))
        answer = send(*args, **options)
        return answer if len(ids) > 1 else rclpy.task.Future()

    def refuse(handle) -> Pick.Result:
        handle.abort()
        result = Pick.Result()
        result.result.outcome.code = int(Code.NOTHING_GRASPED)
        return result

    server.end_as = refuse
    monkeypatch.setattr(action, "send_goal_async", send_and_lose_the_first_answer)
    run, reports = client.send(Pick.Goal(object="cube")), []
    waiting = threading.Thread(target=lambda: reports.append(run.result(60.0)))
    waiting.start()
    until(lambda: len(ids) == 2 and run._call.answered.is_set())
    assert ids[0] == ids[1], "a second goal would be refused as BUSY, or run after the first"
    server._executor.create_task(server._ended.set_result, None)
    waiting.join()
    assert (server.running, server.cancels) == (1, 0)
    assert reports[0].outcome.code is Code.NOTHING_GRASPED


def test_a_client_that_was_held_up_has_all_feedback_before_the_result(server, client):
    stages, held, go_on = list[str](), threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        go_on.wait(60.0)

    def ended(handle) -> Pick.Result:
        for i in range(STAGES):
            feedback = Pick.Feedback()
            feedback.feedback.stage = f"stage {i}"
            handle.publish_feedback(feedback)
        handle.abort()
        result = Pick.Result()
        result.result.outcome.code = int(Code.NOTHING_GRASPED)
        return result

    server.end_as = ended
    run = client.send(Pick.Goal(object="cube"), lambda progress: stages.append(progress.stage))
    until(lambda: server.running == 1 and stages)
    on_executor(client.node, hold)
    assert held.wait(60.0)
    server._executor.create_task(server._ended.set_result, None)
    threading.Event().wait(0.3)  # the server's messages are under way
    go_on.set()
    assert run.result(60.0).outcome.code is Code.NOTHING_GRASPED
    assert stages[1:] == [f"stage {i}" for i in range(STAGES)]


def test_a_goal_that_never_arrives_is_unresponsive_though_the_server_answers_the_cancel(
    server, client, monkeypatch
):
    monkeypatch.setattr(goal_handle, "ANSWERS", 2)
    monkeypatch.setattr(client._actions[Pick.Goal], "send_goal_async", lambda *_, **__: rclpy.task.Future())
    run = client.send(Pick.Goal(object="cube"))
    monkeypatch.setattr(run, "_motion", lambda: _after_the_answer(run))
    outcome = run.result(60.0).outcome
    assert (outcome.code, server.running) == (Code.UNRESPONSIVE, 0)
    assert "did not answer a goal that was sent 2 times" in outcome.message


def test_a_server_without_the_action_is_named_before_all_repetitions(server, client, monkeypatch):
    monkeypatch.setattr(goal_handle, "ANSWER_S", 0.5)
    outcome = client.send(skill_goal("home", {})).result(60.0).outcome
    assert outcome.code is Code.UNRESPONSIVE
    assert "its actions are not found; wait until it is active" in outcome.message


@pytest.mark.parametrize("ends_by", ["cancel", "timeout"])
def test_a_goal_that_nobody_wants_any_more_is_not_sent_again(server, client, monkeypatch, ends_by):
    action, sent = client._actions[Pick.Goal], []
    send = action.send_goal_async

    def send_and_lose_the_first(*args, **options):
        sent.append(bytes(options["goal_uuid"].uuid))
        return send(*args, **options) if len(sent) > 1 else rclpy.task.Future()

    monkeypatch.setattr(goal_handle, "ANSWER_S", 0.5)
    monkeypatch.setattr(action, "send_goal_async", send_and_lose_the_first)
    run = client.send(Pick.Goal(object="cube"))
    if ends_by == "cancel":
        run.cancel()
    outcome = run.result(60.0 if ends_by == "cancel" else 0.1).outcome
    assert outcome.code is (Code.CANCELED if ends_by == "cancel" else Code.TIMED_OUT), outcome
    assert "skill_server does not have the goal" in outcome.message
    assert (len(sent), server.running) == (1, 0), "the arm would move after the cancel"


def _after_the_answer(run) -> str:
    """Wait until the server has said that it does not know the goal."""
    while not run.done:
        run._call.cancel()
        threading.Event().wait(0.1)
    return ""


def test_cancel_ends_the_goal_with_feedback_before(server, client):
    seen = []
    run = client.send(Pick.Goal(object="cube"), seen.append)
    until(lambda: bool(seen))
    run.cancel()
    assert run.result(60.0).outcome.code is Code.CANCELED
    assert run.done
    assert seen[0].stage == "long"


def test_a_cancel_before_the_acceptance_is_not_lost(server, client):
    run = client.send(Pick.Goal(object="cube"))
    run.cancel()
    assert run.result(60.0).outcome.code is Code.CANCELED


def never_filled(handle) -> Pick.Result:
    raise RuntimeError("planted")  # rclpy aborts the goal and sends an empty result


def empty_success(handle) -> Pick.Result:
    handle.succeed()
    return Pick.Result()


def aborted_ok(handle) -> Pick.Result:
    handle.abort()
    result = Pick.Result()
    result.result.outcome.code = int(Code.OK)
    return result


def malformed(handle) -> Pick.Result:
    handle.succeed()
    result = Pick.Result()
    result.result.outcome.code = int(Code.OK)
    result.result.stopped_at.name = ["more names than positions"]
    return result


@pytest.mark.parametrize(
    ("end_as", "words"),
    [
        (never_filled, ("ABORTED", "UNSET")),
        (empty_success, ("SUCCEEDED", "UNSET")),
        (aborted_ok, ("ABORTED", "OK")),
        (malformed, ("malformed",)),
    ],
)
def test_ok_needs_the_status_succeeded_and_a_filled_result(server, client, end_as, words):
    server.end_as = end_as
    run = client.send(Pick.Goal(object="cube"))
    run.cancel()
    report = run.result(60.0)
    assert report.outcome.code is Code.INTERNAL and not report.ok
    assert all(word in report.message for word in words), report.message


def test_a_silent_server_is_asked_to_cancel_and_its_answer_counts(server, client):
    run = client.send(Pick.Goal(object="cube"))
    until(lambda: server.running == 1)
    server.signs_on = False
    assert run.result(60.0).outcome.code is Code.CANCELED
    assert server.cancels >= 1


def test_a_silent_server_that_answers_no_cancel_ends_the_wait(server, client):
    server.obeys = False
    run = client.send(Pick.Goal(object="cube"))
    until(lambda: server.running == 1)
    server.signs_on = False
    report = run.result(60.0)
    assert report.outcome.code is Code.UNRESPONSIVE
    assert "silent" in report.outcome.message
    assert "arm" in report.outcome.message
    assert server.cancels >= 1


def test_a_restarted_server_ends_the_wait(server, client):
    server.obeys = False  # otherwise the goal, which this fake keeps, is canceled, and its result counts
    run = client.send(Pick.Goal(object="cube"))
    until(lambda: server.running == 1)
    server.restart()
    report = run.result(60.0)
    assert report.outcome.code is Code.UNRESPONSIVE
    assert "restarted" in report.outcome.message


def test_the_time_limit_cancels_the_goal(server, client):
    run = client.send(Pick.Goal(object="cube"))
    until(lambda: server.running == 1)
    outcome = run.result(0.1).outcome
    assert outcome.code is Code.TIMED_OUT
    assert outcome.message.startswith("the client's timeout of 0.1 s is over")
    assert server.cancels >= 1


def test_a_goal_that_was_cancelled_before_its_time_limit_is_canceled(server, client):
    run = client.send(Pick.Goal(object="cube"))
    until(lambda: server.running == 1)
    run.cancel()
    assert run.result(0.0).outcome.code is Code.CANCELED


def test_a_failing_feedback_callback_does_not_end_the_goal(server, client):
    def broken(_progress) -> None:
        raise ValueError("planted")

    run = client.send(Pick.Goal(object="cube"), broken)
    until(lambda: server.running == 1)
    run.cancel()
    assert run.result(60.0).outcome.code is Code.CANCELED


def sockets() -> int:
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.append(str(entry.readlink()))
    return sum(link.startswith("socket:") for link in links)


def test_a_closed_client_leaves_no_socket_to_the_garbage_collector():
    SkillClient().close()  # rclpy opens some files once and keeps them
    before = sockets()
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            SkillClient().close()
        until(lambda: sockets() <= before)  # threads of the middleware close some of them later
    finally:
        gc.enable()


def test_a_closed_client_leaves_the_graph_without_a_garbage_collection(server):
    gc.collect()
    gc.disable()
    try:
        client = SkillClient(node_name="short_lived")
        assert client.send(Pick.Goal(object="cube")).result(0.0).outcome.code in (
            Code.TIMED_OUT,
            Code.CANCELED,
        )
        until(lambda: "short_lived" in server.node.get_node_names())
        client.close()
        until(lambda: "short_lived" not in server.node.get_node_names())
    finally:
        gc.enable()


def test_the_end_of_the_client_ends_the_wait_and_leaves_the_goal_alone(server, client):
    run, reports = client.send(Pick.Goal(object="cube")), []
    until(lambda: server.running == 1)
    waiting = threading.Thread(target=lambda: reports.append(run.result()))
    waiting.start()
    client.close()
    waiting.join(60.0)
    assert [report.outcome.code for report in reports] == [Code.UNRESPONSIVE]
    assert "the client was closed before the goal had ended" in reports[0].outcome.message
    assert run.result().outcome == reports[0].outcome  # also afterwards
    assert not run.wait_end(60.0)
    assert not client.wait_ready(60.0)
    assert server.cancels == 0


def test_a_list_that_occurs_twice_is_written_out_as_servers_take_no_aliases():
    down = [0.0, 1.0, 0.0, 0.0]
    parameters = {"quaternion": down, "waypoints": [{"position": [0.4, 0.0, 0.3], "quaternion": down}]}
    goal = skill_goal("goto_pose", parameters)
    assert mapping_from_yaml(goal.parameters, "parameters") == parameters
