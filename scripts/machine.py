"""Find what this machine lacks for the wheels of ROS 2, before anything is downloaded."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

OLDEST_PYTHON, NEWEST_PYTHON = (3, 10), (3, 13)
OLDEST_GLIBC = (2, 28)
FREE_DISK_BYTES = 3_000_000_000


class Missing(Exception):
    """Something that the set-up needs is not there; the message names it and the remedy."""


def check_python() -> None:
    """Check that ROS wheels exist for this Python.

    Raises:
        Missing: They do not, or there is no venv module.
    """
    if not OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        raise Missing(
            f"Python {platform.python_version()} has no ROS 2 wheels: "
            "install Python 3.10, 3.11, 3.12 or 3.13 and name it, as in `make setup PYTHON=python3.12`."
        )
    if find_spec("ensurepip") is None:
        raise Missing("Python's venv module is not installed: install it, as in `apt install python3-venv`.")


def check_platform() -> None:
    """Check that ROS wheels exist for this system and processor.

    Raises:
        Missing: They do not.
    """
    if sys.platform != "linux":
        raise Missing(f"ROS 2 wheels exist for Linux only, and this is {sys.platform}.")
    if platform.machine() != "x86_64":
        raise Missing(
            f"ROS 2 wheels exist for x86_64 only, and this processor is {platform.machine()}: "
            "install ROS 2 Jazzy and build with colcon, see docs."
        )
    if read_glibc() < OLDEST_GLIBC:
        raise Missing("ROS 2 wheels need glibc 2.28 or newer (Debian 10, Ubuntu 20.04 or later).")


def read_glibc() -> tuple[int, ...]:
    """Return the version of the C library, or (0,) if it is not glibc."""
    try:
        name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
    except ValueError:
        return (0,)
    return tuple(int(part) for part in version.split(".")[:2]) if name == "glibc" else (0,)


def check_tools() -> None:
    """Check that the compilers are installed; cmake and ninja come as wheels.

    Raises:
        Missing: One is not.
    """
    for tool, package in (("g++", "g++"), ("make", "make")):
        if shutil.which(tool) is None:
            raise Missing(f"{tool} is not installed: install it, as in `apt install {package}`.")


def check_disk(folder: Path) -> None:
    """Check that the environment fits on the disk.

    Args:
        folder: A folder on that disk.

    Raises:
        Missing: There is too little space.
    """
    free = shutil.disk_usage(folder).free
    if free < FREE_DISK_BYTES:
        raise Missing(
            f"{folder} has {free / 1e9:.1f} GB free and the set-up needs {FREE_DISK_BYTES / 1e9:.0f} GB: "
            "free some disk."
        )


def check_machine(folder: Path) -> None:
    """Check Python, platform, tools and disk.

    Args:
        folder: The folder on whose disk the environment will be.

    Raises:
        Missing: The first thing that is missing.
    """
    check_platform()
    check_python()
    check_tools()
    check_disk(folder)
