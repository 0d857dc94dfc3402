"""Runs a command in a namespace of its own, and relays the packets between it and its child with faults."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Sequence

from .link import FaultyLink, LinkCondition
from .orders import MOST_BYTES, RELAY_FD

POLL_S = 0.05
MTU = 65536
IPV4 = 4
BATCH = 64
"""The most packets that are read from one side before the other has its turn."""
STOP_S = 120.0
"""The longest time that the command may take to end its stack after Ctrl-C, s; a busy machine needs half a minute."""


def run_behind_relay(command: Sequence[str], seed: int) -> tuple[int, str]:
    """Run a command that calls ``join`` and starts a child that does so, too, until it ends.

    Args:
        command: The command.
        seed: Seed of the losses and delays.

    Returns:
        Its exit code, and a line on the packets.

    Raises:
        KeyboardInterrupt: This process was interrupted. The command got the same signal once, and has ended.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        environment = {**os.environ, RELAY_FD: str(theirs.fileno())}
        # A session of its own: a terminal would interrupt all processes at once, and the signal that is passed on
        # below would be the second one, in the middle of the stack's end.
        process = subprocess.Popen(
            command, env=environment, pass_fds=(theirs.fileno(),), start_new_session=True
        )
        theirs.close()
        link = FaultyLink(seed)
        try:
            _relay(process, ours, link)
            process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_S)
            raise
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    share = link.lost / link.taken if link.taken else 0.0
    return process.returncode, f"network: {link.taken} packets relayed, {share:.1%} lost"


def _relay(process: subprocess.Popen[bytes], orders: socket.socket, link: FaultyLink) -> None:
    devices: dict[int, int] = {}
    try:
        while process.poll() is None:
            wait_s = link.wait_s(time.monotonic(), POLL_S)
            ready, _, _ = select.select([orders.fileno(), *devices.values()], [], [], wait_s)
            for side, device in devices.items():
                if device in ready:
                    _read(link, side, device)
            for side, packet in link.due(time.monotonic()):
                # A full queue of the device loses the packet, as any router does.
                # Before the client has joined there is no device.
                with contextlib.suppress(OSError, KeyError):
                    os.write(devices[side], packet)
            if orders.fileno() in ready and not _obey(orders, link, devices):
                return
    finally:
        for device in devices.values():
            os.close(device)


def _read(link: FaultyLink, side: int, device: int) -> None:
    for _ in range(BATCH):
        try:
            packet = os.read(device, MTU)
        except OSError:  # nothing more to read
            return
        if packet and packet[0] >> 4 == IPV4:
            link.take(side, packet, time.monotonic())


def _obey(orders: socket.socket, link: FaultyLink, devices: dict[int, int]) -> bool:
    """Take one order; return False when the command has closed its end."""
    text, files, _, _ = socket.recv_fds(orders, MOST_BYTES, 1)
    if not text:
        return False
    order = json.loads(text)
    if files:
        os.set_blocking(files[0], False)
        devices[int(order["side"])] = files[0]
    if "condition" in order:
        link.set(LinkCondition(**order["condition"]))
    if "cut_s" in order:
        link.cut(time.monotonic() + float(order["cut_s"]))
    return True
