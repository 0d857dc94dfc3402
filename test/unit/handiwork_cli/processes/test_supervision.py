"""A process whose reports cease is ended and started again, for any reason of the silence; others are not touched."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from dataclasses import replace

import pytest

from handiwork_cli.launch_files.model import ProcessSpec
from handiwork_cli.processes.process_runner import ProcessRunner

REPORTS = """
import time
from handiwork_core.process.service_notify import ServiceNotifier
notifier = ServiceNotifier()
notifier.send('READY=1', 'WATCHDOG_USEC=500000')
print('up', flush=True)
while True:
    notifier.send('WATCHDOG=1')
    time.sleep(0.05)
"""
FREEZES = REPORTS.replace("while True:", "for _ in range(3):") + "time.sleep(600)"
LIMIT_S = 60.0


class Run:
    """A runner in a thread, and its output."""

    def __init__(self, spec: ProcessSpec) -> None:
        self.lines: list[str] = []
        self.runner = ProcessRunner([spec], write=self.lines.append)
        self._thread = threading.Thread(target=lambda: self.codes.append(self.runner.run()))
        self.codes: list[int] = []

    def __enter__(self) -> Run:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.request_stop()
        self._thread.join(LIMIT_S)

    def count(self, text: str) -> int:
        """Return the number of lines with a text.

        Args:
            text: The text.
        """
        return sum(text in line for line in self.lines)

    def wait_for(self, text: str, count: int = 1) -> None:
        """Wait until lines with a text were printed.

        Args:
            text: The text.
            count: Number of lines.
        """
        end_s = time.monotonic() + LIMIT_S
        while self.count(text) < count:
            assert time.monotonic() < end_s, f"{text!r} did not come {count} times: {self.lines}"
            threading.Event().wait(0.01)


def python(code: str) -> ProcessSpec:
    """Return a respawned process that runs Python code.

    Args:
        code: The code.
    """
    return ProcessSpec("a", (sys.executable, "-u", "-c", code), respawn=True)


@pytest.mark.usefixtures("nothing_left_over")
def test_a_process_that_freezes_is_ended_and_started_again() -> None:
    with Run(python(FREEZES)) as run:
        run.wait_for("] up", 3)
        assert run.count("has been silent for") >= 2
        assert run.count("killed by SIGTERM") >= 2


@pytest.mark.usefixtures("nothing_left_over")
def test_a_process_that_ignores_sigterm_while_it_is_silent_is_killed() -> None:
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + FREEZES
    with Run(python(deaf)) as run:
        run.wait_for("killed by SIGKILL")
        run.wait_for("] up", 2)


@pytest.mark.usefixtures("nothing_left_over")
def test_a_stopped_process_is_ended_and_started_again() -> None:
    with Run(python(REPORTS)) as run:
        run.wait_for("] up")
        pid = run.runner.pid("a")
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        run.wait_for("] up", 2)
        assert run.count("has been silent for") == 1


@pytest.mark.usefixtures("nothing_left_over")
def test_a_silent_process_that_is_required_ends_all() -> None:
    with Run(replace(python(FREEZES), respawn=False, required=True)) as run:
        run.wait_for("it is required, stopping all")
    assert run.codes == [1]


@pytest.mark.usefixtures("nothing_left_over")
def test_a_process_that_never_reported_may_be_silent_and_reports_of_strangers_do_not_count() -> None:
    silent = "import os, time; print(os.environ['NOTIFY_SOCKET'], flush=True); time.sleep(600)"
    with Run(python(silent)) as run:
        run.wait_for("@")
        address = run.lines[0].split("@")[1]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(b"WATCHDOG_USEC=100000\nWATCHDOG=1", "\0" + address)
        threading.Event().wait(1.5)  # far more than the limit that the stranger has set
        assert run.count("silent") == 0
        assert run.count("@") == 1


def test_the_supervisor_of_the_runner_hears_the_runner_and_not_its_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind("")
        systemd.settimeout(LIMIT_S)
        address = "@" + systemd.getsockname()[1:].decode()
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        monkeypatch.setenv("WATCHDOG_USEC", "1000000")
        show = "import os, time; print(sorted(os.environ.items()), flush=True); time.sleep(600)"
        with Run(python(show)) as run:
            run.wait_for("NOTIFY_SOCKET")
            assert address not in run.lines[0]
            assert "WATCHDOG_USEC" not in run.lines[0]
            received = [systemd.recv(100) for _ in range(4)]
        assert received == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1", b"WATCHDOG=1"]
