"""Where Numba keeps compiled kernels when it can write neither beside the sources nor to the user's cache. No ROS."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from .writable_folders import cache_folder, is_writable


def chosen_folder(sources: Path, environment: Mapping[str, str]) -> tuple[str | None, str]:
    """Choose the folder of the kernels whose sources lie in ``sources``.

    Returns:
        The folder, empty where Numba's own choice works, None where nothing is writable; and a sentence for the log.
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
    """The part of ``numba.config`` that is set here."""

    CACHE_DIR: str


@cache
def prepare(sources: Path, config: NumbaConfig) -> bool:
    """Point Numba, before it compiles a kernel of ``sources``, at a folder; say once to stderr when it is another.

    Returns:
        Whether kernels can be kept on disk.
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
    """Numba's own, as ``appdirs`` names it."""
    home = Path(environment.get("HOME") or "~").expanduser()
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "numba"
