"""Time until the end, the stop and the return of a node's process are found.

Run by ``python -m benchmarks.nodes.liveness``; starts small processes in a DDS domain of their own.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from handiwork_cli.processes.progress import progress
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.process.domain import DOMAIN, lease_domain

NAME = "skill_server"
STATUS_PERIOD_S = 0.4
LIMIT_S = 20.0
"""Longest wait for any event, s."""

FORGED_PERIOD_S = 0.1


@dataclass(frozen=True)
class Case:
    """One loss of a process.

    Attributes:
        name: Label of the row.
        number: The signal that is sent.
        is_remote: Treat the process as one of another machine.
        is_forged: Another process publishes a forged status.
    """

    name: str
    number: signal.Signals
    is_remote: bool = False
    is_forged: bool = False


CASES = (
    Case("SIGKILL, same machine", signal.SIGKILL),
    Case("SIGKILL, another machine", signal.SIGKILL, is_remote=True),
    Case("SIGKILL, same machine, forged status at 10 Hz", signal.SIGKILL, is_forged=True),
    Case("SIGKILL, another machine, forged status at 10 Hz", signal.SIGKILL, is_remote=True, is_forged=True),
    Case("SIGSTOP", signal.SIGSTOP),
    Case("SIGINT", signal.SIGINT),
)


def main() -> None:
    """Print the table, or run as one of its processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--be", choices=("node", "remote", "forger"), help="internal")
    options = parser.parse_args()
    if options.be:
        serve(options.be)
        return
    with lease_domain() as lease:
        os.environ.update(with_ros_defaults({**os.environ, DOMAIN: str(lease.domain_id)}))
        sys.stdout.write(f"{'found after [s]':<52}{'median':>8}{'longest':>9}\n")
        for case in progress(CASES, "liveness"):
            took_s = [trial(case) for _ in range(options.trials)]
            sys.stdout.write(f"{case.name:<52}{statistics.median(took_s):>8.2f}{max(took_s):>9.2f}\n")
            sys.stdout.flush()


def serve(kind: str) -> None:
    """Publish a status until the end: the true one, one from another machine, or a forged one.

    Args:
        kind: "node", "remote" or "forger".
    """
    import rclpy
    from handiwork_msgs.msg import NodeStatus

    from handiwork_ros.liveness import bond_topic
    from handiwork_ros.rclpy_support.qos import BOND

    if kind == "remote":
        setattr(bond_topic, "process_space", lambda: "another machine")  # noqa: B010 - stands in for its value
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
    if kind == "forger":
        node = rclpy.create_node("rogue")
        topic = bond_topic.bond_topic(NAME)
        publish = node.create_publisher(NodeStatus, topic, BOND).publish
        node.create_timer(FORGED_PERIOD_S, lambda: publish(NodeStatus(node=NAME, state=3, pid=1)))
    else:
        node = rclpy.create_node(NAME)
        writer = bond_topic.StatusWriter(node, NAME)
        node.create_timer(STATUS_PERIOD_S, lambda: writer.publish(NodeStatus(node=NAME, state=3)))
    while not stop.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_node()
    rclpy.shutdown()


def trial(case: Case) -> float:
    """Return the time until one loss was found, s.

    Args:
        case: The loss.

    Raises:
        RuntimeError: it was not found in time.
    """
    from handiwork_ros.clients.skill_client import SkillClient

    processes = [start("remote" if case.is_remote else "node")]
    try:
        with SkillClient() as client:
            lost = threading.Event()
            client.signs.on_loss(NAME, lambda _name: lost.set())
            until(lambda: client.signs.is_alive(NAME))
            if case.is_forged:
                processes.append(start("forger"))
                topic = client.node.resolve_topic_name(f"handiwork/bond/{NAME}")
                until(lambda: client.node.count_publishers(topic) == 2)
            # The result depends on the phase between messages and checks; the start of a process makes it random.
            begin_s = time.monotonic()
            processes[0].send_signal(case.number)
            if not lost.wait(LIMIT_S):
                raise RuntimeError(f"{case.name} was not found in {LIMIT_S:.0f} s")
            return time.monotonic() - begin_s
    finally:
        for process in processes:
            process.kill()
            process.wait()


def start(kind: str) -> subprocess.Popen[bytes]:
    """Start one of the processes.

    Args:
        kind: "node", "remote" or "forger".
    """
    return subprocess.Popen([sys.executable, "-m", "benchmarks.nodes.liveness", "--be", kind])


def until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds.

    Args:
        is_so: The condition.

    Raises:
        RuntimeError: it did not hold in time.
    """
    end_s, pause = time.monotonic() + LIMIT_S, threading.Event()
    while not is_so():
        if time.monotonic() > end_s:
            raise RuntimeError(f"nothing happened in {LIMIT_S:.0f} s")
        pause.wait(0.005)


if __name__ == "__main__":
    main()
