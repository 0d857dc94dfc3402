"""The one decorator of all kernels: compiled once, cached on disk, run without the GIL."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba  # type: ignore[import-untyped]
from numba.core.caching import IndexDataCacheFile  # type: ignore[import-untyped]

from handiwork_core.process.kernel_cache import prepare

F = TypeVar("F", bound=Callable[..., Any])

_FAST = {"nsz", "arcp", "contract", "reassoc"}
"""Floating-point freedoms taken: all but the ones that assume away nan and inf."""


def _postpone_blas() -> None:
    """Replace Numba's test for linear algebra while it is imported: the test loads scipy.linalg, which takes 0.15 s."""
    from numba.np import linalg  # type: ignore[import-untyped]

    ask, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # type: ignore[import-untyped]  # noqa: F401 - it tests when it is imported
    finally:
        linalg.ensure_blas = ask


CACHED = prepare(Path(__file__).parent, numba.config)
_postpone_blas()


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


def kernel(function: F) -> F:
    """Compile ``function`` with Numba on its first call; NUMBA_CACHE_DIR moves the cache.

    Import everything that it uses above it: Numba builds kernels into those that call them, but would look for changes
    in the caller's file only, and go on with the old versions of the others.

    Args:
        function: The function.
    """
    compiled = numba.njit(function, cache=CACHED, nogil=True, fastmath=_FAST, error_model="numpy")
    if not CACHED:
        return cast(F, compiled)
    on_disk = compiled._cache
    stamp = _stamp(function.__module__)
    on_disk._cache_file = _Index(on_disk.cache_path, on_disk._impl.filename_base, stamp)
    return cast(F, compiled)


def inlined(function: F) -> F:
    """Do the same for small functions that take many arrays: passing these would cost more than the function does.

    Args:
        function: The function; it is compiled into each caller.
    """
    options = {"nogil": True, "fastmath": _FAST, "error_model": "numpy", "forceinline": True}
    return cast(F, numba.njit(function, **options))
