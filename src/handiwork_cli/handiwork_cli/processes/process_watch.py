"""Finds processes whose reports over the sd_notify protocol have ceased. No ROS."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from handiwork_core.intake.silence import Silence, processor_wait_s
from handiwork_core.process.service_notify import LIMIT, PID, SOCKET

MARGIN = 1.2
"""The factor of the limit: a process that detects its own silence ends itself and reports its state first."""

DEFAULT_LIMIT_S = 10.0
"""The limit for a process that sends WATCHDOG=1 without one."""

_CREDENTIALS = struct.Struct("3i")


@dataclass
class _Watched:
    limit_s: float = DEFAULT_LIMIT_S
    silence: Silence | None = field(default=None)


class ProcessWatch:
    """A socket for the reports of processes. A process is watched from its first ``WATCHDOG=1`` on.

    The kernel adds the sender to each message; only processes of this user in a watched process group count.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.bind("")  # the kernel chooses a name that needs no file
        self._watched: dict[int, _Watched] = {}

    def fileno(self) -> int:
        """Return the descriptor of the socket, for selectors."""
        return self._socket.fileno()

    def environment(self) -> dict[str, str]:
        """Return the environment variables by which a process reports here."""
        return {SOCKET: "@" + self._socket.getsockname()[1:].decode()}

    def add(self, pid: int) -> None:
        """Accept reports of a process that leads its own group.

        Args:
            pid: Its process id.
        """
        self._watched[pid] = _Watched()

    def remove(self, pid: int) -> None:
        """Accept no more reports of a process.

        Args:
            pid: Its process id.
        """
        self._watched.pop(pid, None)

    def receive(self) -> None:
        """Read all reports that have arrived."""
        for pid, text in self._messages():
            watched = self._watched.get(_group_of(pid))
            if watched is None:
                continue
            for line in text.splitlines():
                _take(watched, pid, line)

    def silence_s(self, pid: int) -> float | None:
        """Return the time since a process's last report when it exceeds the limit. Call this often.

        Args:
            pid: Its process id.

        Returns:
            Time in s; None while the process reports in time or is not watched.
        """
        watched = self._watched.get(pid)
        if watched is None or watched.silence is None:
            return None
        silence_s = watched.silence.look()
        return silence_s if silence_s > MARGIN * watched.limit_s else None

    def close(self) -> None:
        """Free the socket."""
        self._socket.close()

    def _messages(self) -> Iterator[tuple[int, str]]:
        """Yield sender and text of each message of this user."""
        while True:
            try:
                data, extra, _flags, _address = self._socket.recvmsg(
                    4096, socket.CMSG_SPACE(_CREDENTIALS.size)
                )
            except BlockingIOError:
                return
            for level, kind, value in extra:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                    pid, user, _group = _CREDENTIALS.unpack(value[: _CREDENTIALS.size])
                    if user == os.getuid():
                        yield pid, data.decode(errors="replace")


def without_supervisor(environment: dict[str, str]) -> dict[str, str]:
    """Return an environment for children, without the variables that name the supervisor of this process.

    Args:
        environment: The environment of this process.
    """
    return {name: value for name, value in environment.items() if name not in (SOCKET, LIMIT, PID)}


def _take(watched: _Watched, pid: int, line: str) -> None:
    name, _, value = line.partition("=")
    if name == LIMIT and value.isdigit() and int(value) > 0:
        watched.limit_s = 1e-6 * int(value)
    elif line == "WATCHDOG=1":
        if watched.silence is None:
            watched.silence = Silence(lambda: processor_wait_s(pid))
        watched.silence.beat()


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return -1
