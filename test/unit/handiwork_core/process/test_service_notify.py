"""The sd_notify protocol for its users: a datagram socket that the environment names."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from handiwork_core.process.service_notify import ServiceNotifier


@pytest.fixture
def supervisor() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
        made.settimeout(5.0)
        yield made


def test_states_reach_a_socket_with_a_path(tmp_path: Path, supervisor: socket.socket) -> None:
    supervisor.bind(str(tmp_path / "notify"))
    notifier = ServiceNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    assert notifier.send("READY=1", "STATUS=loading")
    assert supervisor.recv(100) == b"READY=1\nSTATUS=loading"
    notifier.close()
    assert not notifier.send("WATCHDOG=1")


def test_states_reach_an_abstract_socket(supervisor: socket.socket) -> None:
    supervisor.bind("")
    notifier = ServiceNotifier({"NOTIFY_SOCKET": "@" + supervisor.getsockname()[1:].decode()})
    assert notifier.send("WATCHDOG=1")
    assert supervisor.recv(100) == b"WATCHDOG=1"
    notifier.close()


def test_a_supervisor_that_is_gone_disturbs_nobody(tmp_path: Path) -> None:
    notifier = ServiceNotifier({"NOTIFY_SOCKET": str(tmp_path / "gone")})
    assert notifier.send("READY=1")
    notifier.close()
    assert not ServiceNotifier({}).send("READY=1")


def test_the_limit_is_that_of_this_process() -> None:
    assert ServiceNotifier({"WATCHDOG_USEC": "2500000"}).limit_s == pytest.approx(2.5)
    mine, other = str(os.getpid()), str(os.getpid() + 1)
    assert ServiceNotifier({"WATCHDOG_USEC": "2500000", "WATCHDOG_PID": mine}).limit_s == pytest.approx(2.5)
    assert ServiceNotifier({"WATCHDOG_USEC": "2500000", "WATCHDOG_PID": other}).limit_s is None
    for bad in ({}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "0"}):
        assert ServiceNotifier(bad).limit_s is None
