"""The folder of Numba's compiled kernels if neither the sources' folder nor the user's cache is writable. No ROS."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from .writable_folders import cache_folder, is_writable


def chosen_folder(sources: Path, environment: Mapping[str, str]) -> tuple[str | None, str]:
    """Choose the folder of the compiled kernels.

    Args:
        sources: Folder of the kernels' sources.
        environment: Environment variables.

    Returns:
        The folder, empty if Numba's own choice works, None if nothing is writable; and a sentence for the log.
    """
    if environment.get("NUMBA_CACHE_DIR") or _is_open(sources) or is_writable(_user_folder(environment)):
        return "", ""
    folder = cache_folder(environment)
    if folder is None:
        text = "no folder is writable: kernels are compiled again at each start; set HANDIWORK_CACHE_DIR to one that is"
        return None, text
    return str(
        folder / "numba"
    ), f"{sources} and HOME are read-only: compiled kernels are kept in {folder / 'numba'}"


class NumbaConfig(Protocol):
    """The part of ``numba.config`` that this module sets."""

    CACHE_DIR: str


@cache
def prepare(sources: Path, config: NumbaConfig) -> bool:
    """Set Numba's cache folder, before it compiles a kernel.

    A folder that is not Numba's own choice is reported once to stderr.

    Args:
        sources: Folder of the kernels' sources.
        config: ``numba.config``.

    Returns:
        True if kernels can be kept on disk.
    """
    folder, text = chosen_folder(sources, os.environ)
    if text:
        sys.stderr.write(f"{text}\n")
    if folder:
        config.CACHE_DIR = folder
    return folder is not None


def _is_open(sources: Path) -> bool:
    beside = sources / "__pycache__"
    return is_writable(beside) if beside.exists() or os.access(sources, os.W_OK) else False


def _user_folder(environment: Mapping[str, str]) -> Path:
    """Return Numba's own folder, as ``appdirs`` names it."""
    home = Path(environment.get("HOME") or "~").expanduser()
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "numba"
