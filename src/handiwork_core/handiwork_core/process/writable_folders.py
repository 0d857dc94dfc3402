"""Folders for logs and compiled kernels, also if HOME or the installation is read-only. No ROS."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

CACHE = "HANDIWORK_CACHE_DIR"
"""Environment variable that names the cache folder; it takes precedence over all others."""

STATE = "HANDIWORK_STATE_DIR"
"""Environment variable that names the folder for recordings and bundles; it takes precedence over all others."""

SHARED = (Path("/var/tmp"), Path("/dev/shm"))
"""Folders of all users; the first one survives a restart of the machine."""


def is_writable(folder: Path) -> bool:
    """Check by a trial whether files can be made in a folder; root and read-only mounts need the trial.

    Args:
        folder: The folder; it is made if it is missing.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder(environment: Mapping[str, str], shared: tuple[Path, ...] = SHARED) -> Path | None:
    """Return the first writable folder of this user, which stays the same from run to run.

    Args:
        environment: HANDIWORK_CACHE_DIR, XDG_CACHE_HOME, HOME and XDG_RUNTIME_DIR are tried, in this order.
        shared: Folders that are tried last; there the folder must belong to this user alone.

    Returns:
        The folder, or None if nothing is writable.
    """
    for folder in _own_folders(environment):
        if is_writable(folder):
            return folder
    for place in shared:
        folder = place / f"handiwork-{os.getuid()}"
        if _is_private(folder) and is_writable(folder):
            return folder
    return None


def state_folder(environment: Mapping[str, str], shared: tuple[Path, ...] = SHARED) -> Path | None:
    """Return the first writable folder of this user for what is to be kept: recordings and bundles.

    Args:
        environment: HANDIWORK_STATE_DIR, XDG_STATE_HOME and HOME are tried, then what ``cache_folder`` tries.
        shared: See ``cache_folder``.

    Returns:
        The folder, or None if nothing is writable.
    """
    own = [Path(environment[STATE])] if environment.get(STATE) else []
    if environment.get("XDG_STATE_HOME"):
        own.append(Path(environment["XDG_STATE_HOME"]) / "handiwork")
    if environment.get("HOME"):
        own.append(Path(environment["HOME"]) / ".local" / "state" / "handiwork")
    return next((folder for folder in own if is_writable(folder)), None) or cache_folder(environment, shared)


def ros_log_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder to which ROS 2 writes its logs.

    Args:
        environment: Environment variables; ROS_LOG_DIR, ROS_HOME and HOME are used.
    """
    if environment.get("ROS_LOG_DIR"):
        return Path(environment["ROS_LOG_DIR"]).expanduser()
    home = environment.get("ROS_HOME") or Path(environment.get("HOME") or "~").expanduser() / ".ros"
    return Path(home).expanduser() / "log"


def _own_folders(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get(CACHE):
        yield Path(environment[CACHE]) / "handiwork"
    if environment.get("XDG_CACHE_HOME"):
        yield Path(environment["XDG_CACHE_HOME"]) / "handiwork"
    if environment.get("HOME"):
        yield Path(environment["HOME"]) / ".cache" / "handiwork"
    if environment.get("XDG_RUNTIME_DIR"):
        yield Path(environment["XDG_RUNTIME_DIR"]) / "handiwork"


def _is_private(folder: Path) -> bool:
    """Make a folder in a shared place; return True if it is a real folder that only this user may change."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def choose_log_folder(environment: Mapping[str, str]) -> tuple[Path | None, str]:
    """Choose a folder to which ROS 2 can write its logs, in place of a read-only one.

    Args:
        environment: Environment variables.

    Returns:
        The folder, None if nothing is writable; and a sentence if it is not the one that ROS 2 would take.
    """
    usual = ros_log_folder(environment)
    if is_writable(usual):
        return usual, ""
    folder = cache_folder(environment)
    if folder is None:
        return None, f"{usual} is read-only, and so is every other folder: no log files; set ROS_LOG_DIR"
    return (
        folder / "log",
        f"{usual} is read-only: logs are written to {folder / 'log'}; ROS_LOG_DIR names another",
    )
