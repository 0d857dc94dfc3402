"""Nodes that are started without network settings receive from this machine only, and let many messages wait."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.process.dds_profiles import profile_file, profile_variable

VARIABLE = profile_variable(os.environ)
WISHES = ("ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", VARIABLE)
RTPS_BASE, PORTS_OF_A_DOMAIN = 7400, 250
"""Receiving ports of DDS domain d begin at 7400 + 250 d."""

LOOPBACK = "127.0.0.1"
MULTICAST = "239.255.0.1"
"""A socket that is bound to a group receives on the interfaces that joined it: here, only on loopback."""

PROFILES = Path(__file__).parents[3] / "config" / "dds"
WAITING_BYTES = 4_194_304
"""The bytes of messages that may wait for a process, where the system allows it. Linux counts twice as many."""

NODE = """
import sys, rclpy
rclpy.init()
node = rclpy.create_node("reachable")
print("up", flush=True)
sys.stdin.read()
"""
BUFFERS = """
import os, socket, rclpy
rclpy.init()
node = rclpy.create_node("reachable")
for number in map(int, os.listdir("/proc/self/fd")):
    try:
        one = socket.socket(fileno=os.dup(number))
    except OSError:  # it is no socket
        continue
    if one.family == socket.AF_INET and one.type == socket.SOCK_DGRAM:
        print(one.getsockname()[1], one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF))
"""


def bound_addresses(pid: int, domain_id: int) -> set[str]:
    """Return the IPv4 addresses to which a process has bound the receiving UDP ports of a domain."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        target = str(link.readlink())
        if target.startswith("socket:["):
            inodes.add(target[len("socket:[") : -1])
    ports = range(RTPS_BASE + PORTS_OF_A_DOMAIN * domain_id, RTPS_BASE + PORTS_OF_A_DOMAIN * (domain_id + 1))
    found = set()
    for row in Path(f"/proc/{pid}/net/udp").read_text().splitlines()[1:]:
        columns = row.split()
        address, port = columns[1].split(":")
        if columns[9] in inodes and int(port, 16) in ports:
            found.add(".".join(str(byte) for byte in reversed(bytes.fromhex(address))))
    return found


def addresses_of_a_node(wishes: dict[str, str]) -> set[str]:
    plain = {name: value for name, value in os.environ.items() if name not in WISHES}
    environment = with_ros_defaults({**plain, **wishes})
    command = [sys.executable, "-c", NODE]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "up\n"
        found = bound_addresses(process.pid, int(environment["ROS_DOMAIN_ID"]))
        process.stdin.close()
    return found


@pytest.mark.usefixtures("nothing_left_over")
def test_receiving_sockets_are_bound_to_the_loopback_address() -> None:
    assert addresses_of_a_node({}) - {MULTICAST} == {LOOPBACK}


@pytest.mark.usefixtures("nothing_left_over")
def test_a_node_that_is_asked_to_be_on_the_network_is() -> None:
    assert addresses_of_a_node({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}) - {LOOPBACK, MULTICAST}


@pytest.mark.usefixtures("nothing_left_over")
@pytest.mark.parametrize(
    "wishes",
    [
        {},
        {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"},
        {
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
            VARIABLE: str(PROFILES / profile_file("lossy", os.environ)),
        },
    ],
)
def test_messages_wait_for_a_process_that_gets_no_processor_time(wishes: dict[str, str]) -> None:
    """With the buffers of Linux a recorder lost messages on a busy machine: 0.2 s of a thousand a second."""
    plain = {name: value for name, value in os.environ.items() if name not in WISHES}
    environment = with_ros_defaults({**plain, **wishes})
    done = subprocess.run(
        [sys.executable, "-c", BUFFERS], env=environment, capture_output=True, text=True, check=True
    )
    first = RTPS_BASE + PORTS_OF_A_DOMAIN * int(environment["ROS_DOMAIN_ID"])
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines() if line[:1].isdigit()]
    sizes = [size for port, size in rows if first <= port < first + PORTS_OF_A_DOMAIN]
    allowed = int(Path("/proc/sys/net/core/rmem_max").read_text())
    assert sizes, done.stderr
    assert min(sizes) >= 2 * min(WAITING_BYTES, allowed)
