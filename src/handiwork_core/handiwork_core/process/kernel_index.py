"""Compiled kernels on disk that are replaced when any file changes whose kernels or classes they use. No ROS."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, cast

from numba.core.caching import IndexDataCacheFile


def _sources(module: str, found: dict[str, str]) -> dict[str, str]:
    """Add the file of ``module``, and of all modules whose kernels and classes it uses, to ``found``.

    Kernels are built for the fields of the tuples that they take, in their order.
    """
    if module in found:
        return found
    found[module] = str(sys.modules[module].__file__)
    for value in vars(sys.modules[module]).values():
        owner = getattr(getattr(value, "py_func", value), "__module__", None)
        if isinstance(owner, str) and owner.split(".")[0] == module.split(".")[0] and owner in sys.modules:
            found = found if isinstance(value, FunctionType) else _sources(owner, found)
    return found


class _Index(IndexDataCacheFile):  # type: ignore[misc] # a class without types
    """The files of one kernel on disk. Files that cannot be read count as missing, and are written again.

    Numba reads the types in them before it checks whether they are of today's sources, and raises what that raises:
    AttributeError if a class is elsewhere by now, EOFError if a file is cut off.
    """

    def _load_index(self) -> dict[object, str]:
        try:
            return cast("dict[object, str]", super()._load_index())
        except Exception:  # noqa: BLE001 - unpickling raises anything
            return {}

    def _load_data(self, name: str) -> object:
        try:
            return super()._load_data(name)
        except Exception as error:
            raise FileNotFoundError(name) from error


@cache
def _stamp(module: str) -> tuple[tuple[int, int], ...]:
    """Return a value that changes with any file whose kernels are part of those of ``module``."""
    states = [Path(file).stat() for file in sorted(_sources(module, {}).values())]
    return tuple((state.st_mtime_ns, state.st_size) for state in states)


def follow_sources(compiled: Any) -> None:  # noqa: ANN401 - Numba's dispatcher has no type
    """Make a kernel that Numba keeps on disk depend on the files of all kernels that it calls.

    Numba builds kernels into those that call them, but would look for changes in the caller's file only, and go on
    with the old versions of the others.

    Args:
        compiled: The kernel. Everything that it uses is imported above it.
    """
    on_disk = compiled._cache
    stamp = _stamp(compiled.py_func.__module__)
    on_disk._cache_file = _Index(on_disk.cache_path, on_disk._impl.filename_base, stamp)
