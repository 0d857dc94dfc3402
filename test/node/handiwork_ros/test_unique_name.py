"""Of two nodes of one full name in a domain the second does not start, and a restart is no second."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from handiwork_msgs.msg import NodeStatus
from rclpy.context import Context
from rclpy.node import Node

from handiwork_cli.chaos.ros.rogue import Rogue
from handiwork_cli.chaos.trials import Fault, FaultKind
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_ros.liveness.bond_topic import STATUS_TOPIC, bond_topic
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.node.managed_node import ManagedNode, destroyed_if_refused
from handiwork_ros.node.name_claim import DISCOVERY_S
from handiwork_ros.node.unique_name import NameTakenError, unique_names_required
from handiwork_ros.rclpy_support.qos import BOND_READER, STATUS
from handiwork_ros.rclpy_support.rclpy_internals import InvalidHandle
from support.nodes.named_node import NAME
from support.nodes.peer import Peer, record, until
from support.nodes.ros_stage import stage

REFUSED = 69
"""The exit code of a node whose name is taken."""


@pytest.fixture
def start(nothing_left_over: None) -> Iterator[Callable[..., Peer]]:
    """Yield a function that starts managed nodes, which end with the test."""
    peers: list[Peer] = []

    def begin(*options: str, **environment: str) -> Peer:
        peers.append(Peer("named_node.py", *options, **environment))
        return peers[-1]

    yield begin
    for peer in peers:
        peer.close()


@pytest.fixture
def elsewhere(tmp_path: Path) -> str:
    """Return the runtime folder of a user or machine that shares no leases."""
    (tmp_path / "run").mkdir(mode=0o700)
    return str(tmp_path / "run")


@pytest.fixture
def shown() -> Iterator[dict[int, NodeStatus]]:
    """Return the newest status of each process."""
    newest: dict[int, NodeStatus] = {}
    with stage() as on:
        node = Node("listener", context=on.context)
        node.create_subscription(NodeStatus, STATUS_TOPIC, lambda m: newest.__setitem__(m.pid, m), STATUS)
        on.add(node)
        yield newest


def test_the_second_is_refused_and_its_error_names_the_first(
    start: Callable[..., Peer], shown: dict[int, NodeStatus]
) -> None:
    first = start()
    first.wait("active")
    second = start()
    assert second.exit_code() == REFUSED
    assert not second.has("made"), "it offered its services"
    for part in (f"/{NAME}", f"pid {first.process.pid}", socket.gethostname(), "ROS_DOMAIN_ID"):
        assert part in second.errors
    assert "Traceback" not in second.errors
    until("the first one's status", lambda: first.process.pid in shown)
    assert shown[first.process.pid].state == NodeStatus.ACTIVE
    assert first.process.poll() is None


def test_a_refused_node_is_destroyed_before_its_process_shuts_down(nothing_left_over: None) -> None:
    made: list[ManagedNode] = []

    class Twice(ManagedNode):
        def __init__(self, context: Context) -> None:
            made.append(self)
            super().__init__("named_twice", context=context)

    with stage() as on, unique_names_required():
        on.add(Twice(on.context))
        with pytest.raises(NameTakenError), destroyed_if_refused():
            Twice(on.context)
        with pytest.raises(InvalidHandle):
            made[1].get_name()


def test_a_node_with_a_bad_parameter_and_its_extra_nodes_are_destroyed(nothing_left_over: None) -> None:
    made: list[Node] = []

    class Misconfigured(ManagedNode):
        def __init__(self, context: Context) -> None:
            super().__init__("misconfigured", context=context)
            self.extra_nodes.append(Node("extra", context=context))
            made.extend([self, *self.extra_nodes])
            raise ConfigError("node misconfigured", ["parameter color: is 'loud'; give a color"])

    with stage() as on:
        with pytest.raises(ConfigError), destroyed_if_refused():
            Misconfigured(on.context)
        assert len(made) == 2
        for node in made:
            with pytest.raises(InvalidHandle):
                node.get_name()


def test_the_second_is_refused_while_the_first_is_stopped(start: Callable[..., Peer]) -> None:
    first = start()
    first.wait("active")
    first.signal(signal.SIGSTOP)
    second = start()
    assert second.exit_code() == REFUSED
    assert f"pid {first.process.pid}" in second.errors
    first.signal(signal.SIGKILL)
    start().wait("active")


def test_a_second_one_of_another_user_is_refused(start: Callable[..., Peer], elsewhere: str) -> None:
    first = start()
    first.wait("active")
    second = start(XDG_RUNTIME_DIR=elsewhere)
    assert second.exit_code() == REFUSED
    for part in (f"/{NAME}", f"pid {first.process.pid}", socket.gethostname(), "ROS_DOMAIN_ID"):
        assert part in second.errors


def test_a_second_one_that_discovers_the_first_too_late_yields(
    start: Callable[..., Peer], elsewhere: str
) -> None:
    first = start()
    first.wait("active")
    first.signal(signal.SIGSTOP)
    second = start(XDG_RUNTIME_DIR=elsewhere)
    second.wait("active")
    first.signal(signal.SIGCONT)
    assert second.exit_code() == REFUSED
    assert f"pid {first.process.pid}" in second.errors
    assert first.process.poll() is None


def test_a_node_that_was_killed_is_restarted_at_once(start: Callable[..., Peer]) -> None:
    first = start()
    first.wait("active")
    first.signal(signal.SIGKILL)
    second = start()
    begun_s = second.wait("ready")
    second.wait("made")
    record("a restarted node was made", begun_s)
    second.wait("active")


def test_a_node_that_shuts_down_makes_room(start: Callable[..., Peer]) -> None:
    first = start()
    first.wait("active")
    first.signal(signal.SIGINT)
    assert first.exit_code() == 0
    start().wait("active")


@pytest.mark.parametrize("kind", [FaultKind.FORGED_BOND, FaultKind.COPIED_BOND])
def test_a_forged_bond_neither_ends_a_node_for_its_peers_nor_keeps_it_from_a_restart(
    start: Callable[..., Peer], kind: FaultKind
) -> None:
    first = start()
    first.wait("active")
    with stage() as on:
        node = Node("listener", context=on.context)
        received = list[NodeStatus]()
        node.create_subscription(NodeStatus, bond_topic(NAME), received.append, BOND_READER)
        signs, lost = Heartbeats(node), list[str]()
        signs.on_loss(NAME, lost.append)
        on.add(node)
        until("the node", lambda: signs.is_active(NAME))
        pid = signs.pid(NAME)
        rogue = Rogue(Fault(kind, NAME, 0.0, 60.0), (), on.context.get_domain_id())
        try:
            leaving = lambda: [one for one in received if one.state == NodeStatus.SHUTTING_DOWN]  # noqa: E731
            until("forged messages", lambda: len(leaving()) > 20)
            is_copied = bytes(leaving()[0].bond_gid) == signs.gid(NAME)
            assert is_copied == (kind is FaultKind.COPIED_BOND)
            assert signs.is_active(NAME) and signs.pid(NAME) == pid and not lost
            first.signal(signal.SIGKILL)
            until("its end", lambda: lost == [NAME])
            second = start()
            second.wait("active")
            until("its return", lambda: signs.is_active(NAME) and signs.pid(NAME) == second.process.pid)
        finally:
            rogue.stop()


def test_a_process_that_refuses_its_configuration_destroys_its_node_and_ends(
    start: Callable[..., Peer],
) -> None:
    peer = start("--refused")
    assert peer.exit_code() == ConfigError.exit_code
    assert peer.has("destroyed")
    assert "limit: is -1; give a positive number" in peer.errors and "Traceback" not in peer.errors


def test_of_two_that_start_together_one_stays(start: Callable[..., Peer], elsewhere: str) -> None:
    both = [start(), start(XDG_RUNTIME_DIR=elsewhere)]
    until("an end", lambda: any(peer.process.poll() is not None for peer in both))
    ended = next(peer for peer in both if peer.process.poll() is not None)
    stays = next(peer for peer in both if peer is not ended)
    assert ended.exit_code() == REFUSED
    stays.wait("active")
    assert stays.process.poll() is None


def test_equal_names_in_two_namespaces_are_two_nodes(start: Callable[..., Peer]) -> None:
    for space in ("/left", "/right"):
        start("--ros-args", "-r", f"__ns:={space}").wait("active")


def test_a_second_one_that_did_not_look_is_named_in_the_status(
    start: Callable[..., Peer], shown: dict[int, NodeStatus]
) -> None:
    first = start()
    first.wait("active")
    second = start("--unchecked")
    second.wait("made")
    pid, other = first.process.pid, second.process.pid
    until("its name in the status", lambda: pid in shown and f"pid {other}" in shown[pid].message)
    until("its name in the log", lambda: f"pid {other}" in first.errors)
    second.signal(signal.SIGKILL)
    until("a status without it", lambda: f"pid {other}" not in shown[pid].message)


def test_a_node_is_made_only_after_the_search(start: Callable[..., Peer]) -> None:
    took_s = []
    for options in ([], ["--unchecked"]):
        peer = start(*options, "--ros-args", "-r", f"__ns:=/n{len(took_s)}")
        begun_s = peer.wait("ready")
        took_s.append(peer.wait("made") - begun_s)
    assert took_s[0] >= DISCOVERY_S
    sys.stdout.write(f"made in {took_s[0]:.2f} s with, in {took_s[1]:.2f} s without the search\n")
