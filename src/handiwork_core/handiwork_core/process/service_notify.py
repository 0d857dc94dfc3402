"""The sd_notify protocol: a process notifies its supervisor that it is ready, and that it still works. No ROS.

systemd and ``handiwork launch`` both receive it; see ``man sd_notify``. Without NOTIFY_SOCKET nothing is sent.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping

SOCKET, LIMIT, PID = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
"""Environment variables of the protocol."""


class ServiceNotifier:
    """Sends states such as ``READY=1`` to the supervisor named by the environment. It never waits and never raises.

    Args:
        environment: The variables with NOTIFY_SOCKET and WATCHDOG_USEC; None: those of the process.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        address = environment.get(SOCKET, "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket: socket.socket | None = None
        if address.startswith(("@", "/")):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._socket.setblocking(False)
        self.limit_s = _limit_s(environment)
        """The longest silence of this process that the supervisor accepts, s; None if it sets no limit."""

    def send(self, *states: str) -> bool:
        """Send states to the supervisor.

        Args:
            states: States such as ``WATCHDOG=1``.

        Returns:
            True if there is a supervisor.
        """
        if self._socket is None:
            return False
        with contextlib.suppress(OSError):  # a supervisor that is gone, or behind, must not disturb the work
            self._socket.sendto("\n".join(states).encode(), self._address)
        return True

    def close(self) -> None:
        """Free the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _limit_s(environment: Mapping[str, str]) -> float | None:
    """Return WATCHDOG_USEC in seconds, if it is meant for this process."""
    if environment.get(PID, str(os.getpid())) != str(os.getpid()):
        return None
    try:
        limit_us = int(environment.get(LIMIT, ""))
    except ValueError:
        return None
    return 1e-6 * limit_us if limit_us > 0 else None
