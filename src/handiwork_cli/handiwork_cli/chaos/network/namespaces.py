"""Network namespaces of a process without rights of its own, each with one TUN device as its only network. Linux only.

A process enters a namespace before it has threads, so it must do so before it imports numpy or rclpy.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8913, 0x8914, 0x8916, 0x891C
IFF_UP, IFF_RUNNING, IFF_MULTICAST = 0x1, 0x40, 0x1000
TUN = "/dev/net/tun"
DEVICE = "chaos0"
ADDRESSES = ("10.213.47.1", "10.213.47.2")
"""The addresses of the two sides. No other network can be reached from the namespaces."""
NETMASK = "255.255.255.0"


class NamespaceError(RuntimeError):
    """This machine permits no namespaces or no TUN devices; the message says which."""


def enter(side: int, *, is_first: bool) -> int:
    """Move this process into a network namespace of its own with a TUN device.

    Args:
        side: 0 or 1, the index of its address.
        is_first: Whether it also gets a user namespace, in which its children may make further network namespaces.

    Returns:
        The file descriptor of the device: IP packets that are sent there are read from it, and the reverse.

    Raises:
        NamespaceError: The kernel or its administrator permits none.
        RuntimeError: This process has threads, which is a fault of the caller.
    """
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError(
            "a process with threads can enter no user namespace; enter before importing numpy or rclpy"
        )
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET | (CLONE_NEWUSER if is_first else 0)) != 0:
        why = os.strerror(ctypes.get_errno())
        raise NamespaceError(f"network namespaces of users without rights are not permitted here ({why})")
    try:
        if is_first:
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
        return _device(ADDRESSES[side])
    except OSError as error:
        raise NamespaceError(
            f"a TUN device in a namespace is not permitted here ({error.strerror or error})"
        ) from error


def _device(address: str) -> int:
    """Make the TUN device, and set it and the loopback device up."""
    file = os.open(TUN, os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, value in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, NETMASK)):
            body = struct.pack("16sHH4s16x", DEVICE.encode(), socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(control, request, body)
        for name in (DEVICE, "lo"):
            found = fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack("16sH22x", name.encode(), 0))
            (_, flags) = struct.unpack("16sH22x", found)
            flags |= IFF_UP | IFF_RUNNING | (IFF_MULTICAST if name == DEVICE else 0)
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", name.encode(), flags))
    return file
