"""What the ends of the faulty network tell its relay, over a Unix socket that they inherit."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import signal
import socket
from typing import TYPE_CHECKING

from .namespaces import enter

if TYPE_CHECKING:
    from .link import LinkCondition  # numpy starts threads, and ``join`` must come before them

RELAY_FD = "HANDIWORK_CHAOS_RELAY"
"""The environment variable with the number of the inherited socket."""
MOST_BYTES = 4096
PR_SET_PDEATHSIG = 1


def join(side: int) -> socket.socket:
    """Enter the namespace of a side and hand its device to the relay.

    Args:
        side: 0 for the stack, which comes first, 1 for the client, which it starts.

    Returns:
        The socket to the relay, which later children inherit, too.

    Raises:
        NamespaceError: See ``enter``.
    """
    relay = socket.socket(fileno=int(os.environ[RELAY_FD]))
    os.set_inheritable(relay.fileno(), True)
    device = enter(side, is_first=side == 0)
    socket.send_fds(relay, [json.dumps({"side": side}).encode()], [device])
    os.close(device)
    # The change of namespaces clears it, hence last: the end of the parent is the end of this process.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return relay


def order(
    relay: socket.socket, *, condition: LinkCondition | None = None, cut_s: float | None = None
) -> None:
    """Send an order.

    Args:
        relay: The socket of ``join``.
        condition: The faults of the link from now on; None: they stay.
        cut_s: Duration of an outage that begins now, s; None: none begins.
    """
    words: dict[str, object] = {} if condition is None else {"condition": dataclasses.asdict(condition)}
    if cut_s is not None:
        words["cut_s"] = cut_s
    relay.send(json.dumps(words).encode())
