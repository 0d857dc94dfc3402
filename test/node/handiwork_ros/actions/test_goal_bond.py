"""A goal ends as UNRESPONSIVE only when its server is gone or answers no cancel; no writer can forge or hide that."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator

import pytest
from handiwork_msgs.action import Pick
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from handiwork_core.model.outcome import Code
from handiwork_ros.actions.arm_motion import fastest_joint, motion_sentence
from handiwork_ros.clients.skill_client import SERVER, SkillClient
from handiwork_ros.liveness.heartbeat import Loss
from support.nodes.peer import Peer, record, until


@pytest.fixture
def start(nothing_left_over: None) -> Iterator[Callable[..., Peer]]:
    """Yield a function that starts peers, which end with the test."""
    peers: list[Peer] = []

    def begin(script: str, *options: str) -> Peer:
        peers.append(Peer(script, *options))
        peers[-1].wait("ready")
        return peers[-1]

    yield begin
    for peer in peers:
        peer.close()


@pytest.fixture
def client() -> Iterator[SkillClient]:
    with SkillClient() as made:
        yield made


def ready(client: SkillClient) -> None:
    until("an active server", lambda: client.signs.is_active(SERVER))
    until("its action", client._actions[Pick.Goal].server_is_ready)


def pause(seconds: float) -> None:
    """Stop a process for the time under test."""
    threading.Event().wait(seconds)


@pytest.mark.parametrize("stopped_s", [1.5, 3.0])
def test_a_server_that_is_stopped_for_a_while_ends_its_goal_itself(
    client: SkillClient, start: Callable[..., Peer], stopped_s: float
) -> None:
    server = start("goal_server.py", "--goal-s", "1")
    ready(client)
    run = client.send(Pick.Goal(object="cube"))
    server.wait("running")
    server.signal(signal.SIGSTOP)
    waiting = threading.Timer(stopped_s, lambda: server.signal(signal.SIGCONT))
    waiting.start()
    report = run.result()
    waiting.join()
    assert report.outcome.code is Code.OK, report.outcome
    server.wait("succeeded")


def test_a_goal_that_is_sent_to_a_stopped_server_is_not_sent_twice(
    client: SkillClient, start: Callable[..., Peer]
) -> None:
    server = start("goal_server.py", "--goal-s", "0.5")
    ready(client)
    server.signal(signal.SIGSTOP)
    waiting = threading.Timer(3.5, lambda: server.signal(signal.SIGCONT))
    waiting.start()
    report = client.send(Pick.Goal(object="cube")).result()
    waiting.join()
    assert report.outcome.code is Code.OK, report.outcome


def test_a_server_whose_executor_is_held_up_ends_its_goal_itself(
    client: SkillClient, start: Callable[..., Peer]
) -> None:
    server = start("goal_server.py", "--goal-s", "1", "--block-s", "2")
    ready(client)
    run = client.send(Pick.Goal(object="cube"))
    server.wait("blocked")
    report = run.result()
    assert report.outcome.code is Code.OK, report.outcome


def test_a_client_that_is_held_up_itself_reports_no_loss(
    client: SkillClient, start: Callable[..., Peer]
) -> None:
    server = start("goal_server.py", "--goal-s", "4")
    ready(client)
    run = client.send(Pick.Goal(object="cube"))
    server.wait("running")
    executor = client.node.executor
    assert executor is not None
    executor.create_task(lambda: pause(5.0))
    report = run.result()
    assert report.outcome.code is Code.OK, report.outcome


def stopped_until_given_up(client: SkillClient, start: Callable[..., Peer]) -> Peer:
    """Stop a server in the middle of a goal until the client gives the goal up."""
    server = start("goal_server.py")
    ready(client)
    run = client.send(Pick.Goal(object="cube"))
    server.wait("running")
    server.signal(signal.SIGSTOP)
    outcome = run.result().outcome
    assert outcome.code is Code.UNRESPONSIVE
    assert "did not answer a cancel" in outcome.message
    assert "arm" in outcome.message
    return server


def test_a_client_that_gives_up_a_server_has_asked_it_to_cancel(
    client: SkillClient, start: Callable[..., Peer]
) -> None:
    stopped_until_given_up(client, start)


def test_a_server_that_returns_is_asked_to_cancel(client: SkillClient, start: Callable[..., Peer]) -> None:
    server = stopped_until_given_up(client, start)
    server.signal(signal.SIGCONT)
    server.wait("canceled")


def test_a_server_that_was_killed_ends_the_goal_and_its_restart_is_used(
    client: SkillClient, start: Callable[..., Peer]
) -> None:
    server = start("goal_server.py")
    ready(client)
    run = client.send(Pick.Goal(object="cube"))
    server.wait("running")
    killed_s = server.signal(signal.SIGKILL)
    until("the loss", lambda: client.signs.loss(SERVER)[0] is Loss.GONE)
    record("SIGKILL was found", killed_s)
    outcome = run.result().outcome
    assert outcome.code is Code.UNRESPONSIVE
    assert f"pid {server.process.pid}) has ended" in outcome.message
    assert "whether the arm moves is not known" in outcome.message
    start("goal_server.py", "--goal-s", "0.2")
    ready(client)
    assert client.pick("cube").ok


@pytest.mark.parametrize(("velocity", "sentence"), [(0.0, "the arm is at rest"), (0.3, "joint b at 0.30/s")])
def test_the_outcome_says_what_the_arm_does(
    client: SkillClient, start: Callable[..., Peer], velocity: float, sentence: str
) -> None:
    server = start("goal_server.py")
    ready(client)
    executor = client.node.executor
    assert executor is not None
    message = JointState(name=["a", "b"], position=[0.0, 0.0], velocity=[0.0, -velocity])

    def publish() -> None:
        joints = client.node.create_publisher(JointState, "joint_states", QoSProfile(depth=1))
        client.node.create_timer(0.02, lambda: joints.publish(message))

    executor.create_task(publish)
    run = client.send(Pick.Goal(object="cube"))
    server.wait("running")
    server.signal(signal.SIGKILL)
    assert sentence in run.result().outcome.message


@pytest.mark.parametrize("like", ["nobody", "true"])
@pytest.mark.parametrize("node_name", ["rogue", SERVER])
def test_a_forged_status_ends_no_goal_and_hides_no_end(
    client: SkillClient, start: Callable[..., Peer], like: str, node_name: str
) -> None:
    server = start("goal_server.py")
    ready(client)
    run = client.send(Pick.Goal(object="cube"))
    server.wait("running")
    losses: list[str] = []
    client.signs.on_loss(SERVER, losses.append)
    start("forged_status.py", "--like", like, "--node-name", node_name)
    topic = client.node.resolve_topic_name(f"handiwork/bond/{SERVER}")
    until("the forged writer", lambda: client.node.count_publishers(topic) == 2)
    pause(2.0)
    assert not run.done
    assert not losses
    assert client.signs.pid(SERVER) == server.process.pid
    killed_s = server.signal(signal.SIGKILL)
    until("the loss", lambda: bool(losses))
    record(f"SIGKILL beside a forged status ({like}, {node_name}) was found", killed_s)
    assert run.result().outcome.code is Code.UNRESPONSIVE


def test_what_is_known_of_the_motion_is_said_in_words() -> None:
    assert fastest_joint([], []) is None
    assert fastest_joint(["a"], []) is None
    assert fastest_joint(["a"], [float("nan")]) is None
    assert fastest_joint(["a", "b"], [0.1, -0.2]) == ("b", 0.2)
    assert "not known" in motion_sentence(None)
