"""Finds processes that have fallen silent, by what they say over the sd_notify protocol. No ROS."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from handiwork_core.intake.silence import Silence, processor_wait_s
from handiwork_core.process.service_notify import LIMIT, PID, SOCKET

MARGIN = 1.2
"""A process that notices its own silence ends itself and says where it stands, so it gets this much longer."""

DEFAULT_LIMIT_S = 10.0
"""Of a process that sends WATCHDOG=1 without a limit."""

_CREDENTIALS = struct.Struct("3i")


@dataclass
class _Watched:
    limit_s: float = DEFAULT_LIMIT_S
    silence: Silence | None = field(default=None)


class ProcessWatch:
    """A socket that processes report to. One is watched from its first ``WATCHDOG=1`` on, so only who wants it is.

    The kernel adds the sender to each message; only processes of this user in a watched process group count.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.bind("")  # the kernel chooses a name that needs no file
        self._watched: dict[int, _Watched] = {}

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    def environment(self) -> dict[str, str]:
        """What a process needs to report here."""
        return {SOCKET: "@" + self._socket.getsockname()[1:].decode()}

    def add(self, pid: int) -> None:
        """Accept reports of a process that leads its own group."""
        self._watched[pid] = _Watched()

    def remove(self, pid: int) -> None:
        """Accept no more reports of a process."""
        self._watched.pop(pid, None)

    def receive(self) -> None:
        """Take all reports that have come."""
        for pid, text in self._messages():
            watched = self._watched.get(_group_of(pid))
            if watched is None:
                continue
            for line in text.splitlines():
                _take(watched, pid, line)

    def silence_s(self, pid: int) -> float | None:
        """How long a process has been silent [s], when that is more than it may be; else None. Ask often."""
        watched = self._watched.get(pid)
        if watched is None or watched.silence is None:
            return None
        silence_s = watched.silence.look()
        return silence_s if silence_s > MARGIN * watched.limit_s else None

    def close(self) -> None:
        """Free the socket."""
        self._socket.close()

    def _messages(self) -> Iterator[tuple[int, str]]:
        """Sender and text of each message of this user."""
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
    """The environment of children: what names the supervisor of this process is not for them."""
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
