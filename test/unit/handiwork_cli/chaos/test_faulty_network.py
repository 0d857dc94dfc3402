"""The faulty link loses, delays and cuts by its seed; the relay carries packets between two real namespaces."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_cli.chaos.network.link import FaultyLink, LinkCondition
from handiwork_cli.chaos.network.relay import run_behind_relay
from handiwork_cli.chaos.network.ros.stack_end import SKIPPED


def arrivals(link: FaultyLink, count: int, until_s: float = 9.0) -> list[int]:
    """Send numbered packets from side 0, 1 ms apart, and return those that reach side 1, in their order.

    Args:
        link: The link.
        count: Number of packets.
        until_s: End of the wait, s.
    """
    for i in range(count):
        link.take(0, i.to_bytes(2, "big"), 1e-3 * i)
    return [int.from_bytes(packet, "big") for side, packet in link.due(until_s) if side == 1]


def test_a_whole_link_keeps_all_packets_and_their_order() -> None:
    assert arrivals(FaultyLink(0), 500) == list(range(500))


def test_the_share_of_losses_is_that_of_the_condition_and_repeats_by_the_seed() -> None:
    links = [FaultyLink(seed) for seed in (3, 3, 4)]
    for link in links:
        link.set(LinkCondition(loss=0.2))
    first, again, other = (arrivals(link, 2000) for link in links)
    assert first == again != other
    assert links[0].lost == 2000 - len(first)
    assert 0.17 < links[0].lost / links[0].taken < 0.23


def test_delays_have_their_bounds_and_reorder_packets() -> None:
    link = FaultyLink(0)
    link.set(LinkCondition(delay_s=0.1, jitter_s=0.05))
    for i in range(200):
        link.take(1, bytes([i]), 0.0)
    assert link.due(0.049) == []
    early = link.due(0.1)
    assert 50 < len(early) < 150
    assert {side for side, _ in early} == {0}
    numbers = [packet[0] for _, packet in early + link.due(0.151)]
    assert sorted(numbers) == list(range(200)) != numbers


def test_nothing_passes_during_an_outage_and_everything_after_it() -> None:
    link = FaultyLink(0)
    link.cut(0.1)
    assert arrivals(link, 200) == list(range(100, 200))


def test_the_wait_ends_at_the_next_arrival() -> None:
    link = FaultyLink(0)
    assert link.wait_s(0.0, 0.5) == 0.5
    link.set(LinkCondition(delay_s=0.2))
    link.take(0, b"x", 1.0)
    assert link.wait_s(1.0, 0.5) == pytest.approx(0.2)
    assert link.wait_s(2.0, 0.5) == 0.0


ENDS = """
import itertools, socket, subprocess, sys, time
from handiwork_cli.chaos.network.namespaces import ADDRESSES, NamespaceError
from handiwork_cli.chaos.network.orders import RELAY_FD, join, order

CLIENT = '''
import socket
from handiwork_cli.chaos.network.namespaces import ADDRESSES
from handiwork_cli.chaos.network.orders import join
join(1)
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind(("", 5000))
group = socket.inet_aton("239.255.0.1") + socket.inet_aton(ADDRESSES[1])
here.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
print("ready", flush=True)
while True:
    data, peer = here.recvfrom(100)
    here.sendto(data, peer)
'''

try:
    relay = join(0)
except NamespaceError as error:
    print(error, file=sys.stderr)
    raise SystemExit(77)
from handiwork_cli.chaos.network.link import LinkCondition  # numpy starts threads
command = [sys.executable, "-c", CLIENT]
client = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=(relay.fileno(),))
client.stdout.readline()
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(ADDRESSES[0]))
numbers = itertools.count()
LONG_S, SHORT_S = 30.0, 0.5

def is_answered(address, wait_s):
    number = str(next(numbers)).encode()
    here.sendto(number, (address, 5000))
    here.settimeout(wait_s)
    try:
        while here.recv(100) != number:  # the late answer of an earlier one
            pass
    except TimeoutError:
        return False
    return True

while not is_answered(ADDRESSES[1], SHORT_S):  # the relay takes the client's device a little later
    pass
assert all(is_answered(ADDRESSES[1], LONG_S) for _ in range(20))
assert all(is_answered("239.255.0.1", LONG_S) for _ in range(5)), "DDS discovers by this address"
order(relay, cut_s=60.0)
silent = 0
while silent < 3:  # the relay reads the order a little later
    silent = 0 if is_answered(ADDRESSES[1], SHORT_S) else silent + 1
order(relay, cut_s=0.0, condition=LinkCondition(delay_s=0.1))
while not is_answered(ADDRESSES[1], SHORT_S):
    pass
begin_s = time.monotonic()
assert all(is_answered(ADDRESSES[1], LONG_S) for _ in range(3))
assert time.monotonic() - begin_s > 0.6
try:
    socket.create_connection(("192.0.2.1", 80), 1.0)
except OSError:
    pass
else:
    raise SystemExit("another network was reached")
client.kill()
"""
"""The two ends: side 1 sends back what it gets, side 0 counts what comes back."""


def test_two_namespaces_meet_through_the_relay_alone(capfd: pytest.CaptureFixture[str]) -> None:
    code, packets = run_behind_relay([sys.executable, "-c", ENDS], seed=0)
    if code == SKIPPED:
        pytest.skip(capfd.readouterr().err.strip())
    assert code == 0, capfd.readouterr().err
    assert "packets relayed" in packets


def test_without_namespaces_the_run_is_skipped_with_one_sentence() -> None:
    command = str(Path(sys.executable).parent / "handiwork")
    script = f"echo 0 > /proc/sys/user/max_net_namespaces && exec {command} chaos --network"
    try:
        ended = subprocess.run(
            ["unshare", "--user", "--map-root-user", "sh", "-c", script],
            capture_output=True,
            text=True,
            timeout=120.0,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("unshare of util-linux is missing")
    if "unshare failed" in ended.stderr or "max_net_namespaces" in ended.stderr:
        pytest.skip(f"not even a user namespace is permitted here: {ended.stderr.strip()}")
    assert ended.returncode == SKIPPED, ended.stderr
    assert ended.stdout.startswith("the network was not made faulty: network namespaces")
    assert len(ended.stdout.splitlines()) == 1
